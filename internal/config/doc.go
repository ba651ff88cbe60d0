// Package config reads heddle.yaml, the configuration of a worker.
//
// [Load] reads a file and [Parse] its content; both report everything that is
// wrong at once, as [Problems], each with its line, its column and the path of
// the field. Nothing is ignored: an unknown field, a value of another type, a
// duplicate and an anchor are problems.
//
//	temporal:                         # TEMPORAL_* variables and profiles win
//	  address: localhost:7233
//	  namespace: default
//	task_queue: heddle
//	stop_timeout: 30s
//	blobs: .heddle/blobs              # a folder, or a URL such as s3://bucket
//	secrets:                          # stores, asked in order; else the environment
//	  - env: HEDDLE_SECRET_
//	  - sqlite: .heddle/secrets.db
//	    key_env: HEDDLE_SECRETS_KEY   # the variable's name, never the key
//	connections:                      # services that people let this side into
//	  name: Support agents            # shown to who is asked for consent
//	  callback: {listen: "127.0.0.1:8790"}
//	models:
//	  large:
//	    provider: openai
//	    model: gpt-4.1
//	    api_key_env: OPENAI_API_KEY   # the variable's name, never the key
//	    price: {input_per_million_usd: 2.0, output_per_million_usd: 8.0}
//	agents:
//	  support:
//	    model: large
//	    instructions_file: support.md
//	    tools: ["orders.*"]
//	    limits: {steps: 20, cost_usd: 0.50, time: 10m, approval_expiry: 24h}
//	audit: .heddle/audit              # a folder
//	limits:                           # of calls, in each worker process
//	  call: {output_bytes: 1048576, time: 2m}
//	  tenants: {"*": {concurrent: 20, rate: 600/m}}
//	openapi:
//	  billing:
//	    spec: billing.yaml            # a file, or a URL
//	    auth: {"*": {token: billing.token}}   # a secret's name
//	mcp:                              # servers of the Model Context Protocol
//	  github:
//	    url: https://mcp.example.com/mcp
//	    headers: {Authorization: {secret: github.token, prefix: "Bearer "}}
//	    tools: {"*": hidden, "get_*": read, create_issue: ask}
//	  crm:
//	    url: https://crm.example.com/mcp
//	    connection: crm               # made with: starter connections add
//	  files:
//	    command: [files-server, /data]
//	web: true                         # false: no agent has web.search and web.fetch
//
// The environment is read in these fields alone, as ${NAME} or ${NAME:-default}:
// temporal.*, task_queue, blobs, audit, secrets but for env and key_env, the model of an agent, model, base_url and script
// of a model, spec, root, server, allow, username and client_id of a service, and
// url, headers, command, env and allow of a server, and all of connections but name. Relative paths start at the
// file's folder.
package config
