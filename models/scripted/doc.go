// Package scripted is a model that plays a script. It is the model of the demo
// and of tests: it needs neither key nor network, says the same each time, and
// says so when something happens that its script did not foresee.
//
//	model, err := scripted.Load("refund.yaml")
//
// # The script
//
// A script is YAML. It lists turns, and each turn lists steps. A turn is what
// follows from one message of the user; a step is one reply of the model.
//
//	turns:
//	  - when: {contains: refund}            # which message this turn answers
//	    steps:
//	      - text: Let me look at your orders.
//	        calls:
//	          - tool: orders.search
//	            input: {customer: ada@example.com}
//	      - expect:                         # what must have happened by now
//	          results:
//	            - {tool: orders.search, contains: A-1001}
//	        calls:
//	          - tool: orders.refund
//	            input: {order: "${orders.search#/orders/0/id}"}
//	        usage: {input: 900, output: 40}
//	      - when:                           # passed over unless this is so
//	          results:
//	            - {tool: orders.refund, failed: true}
//	        text: "The refund was not made: ${orders.refund#/error/message}."
//	      - text: Your refund is on its way.
//
// # Which step is played
//
// Nothing is remembered. Each request holds the whole conversation, and from it
// alone follows what comes next, so another worker can go on with a thread at
// any moment:
//
//   - The messages of the user divide the conversation into turns. A turn plays
//     the first entry of the script whose when matches its first message; if
//     none does, it plays the next of the entries without when that no earlier
//     turn has played. So an entry without when plays once in a thread, and one
//     with when as often as it matches.
//   - Within its turn, each reply of the model has played one step. The next one
//     is the next step whose when, if it has one, matches.
//
// An answer to all else, however often, is a last entry whose when matches
// anything. An empty regex asks for nothing and is refused; ^ matches any text:
//
//	turns:
//	  - when: {contains: refund}
//	    steps: [{text: Your refund is on its way.}]
//	  - when: {regex: "^"}
//	    steps: [{text: I know about refunds only.}]
//
// As it matches before any entry without when is looked at, a script that has it
// gives each of its other entries a when, and above it.
//
// # Fields of a step
//
//	when, expect   conditions. A step whose when does not hold is passed over; one
//	               whose expect does not hold fails the call and says why:
//	                 user:     {contains: ..., regex: ...}  the newest message of the user
//	                 results:  [{tool: ..., contains: ..., regex: ..., failed: true}]
//	                           the newest result of that tool, or of any if none is named
//	                 tools:    [orders.search]              these are offered
//	                 messages: 3                            so many are in the request
//	text           the words
//	reasoning      the thoughts
//	calls          [{tool: ..., input: {...}}]
//	usage          {input: 900, output: 40}, in tokens
//	delay          how long the reply takes, such as 1.5s; words arrive spread over it
//	error          in place of a reply: {kind: rate_limited, status: 429, retry_after: 2s,
//	               message: ...}. The kinds are rate_limited, unavailable, unauthorized
//	               and invalid_request. It fails each attempt in the same way.
//
// Tools are named by their id in the catalog or by the name that the model knows
// them under. Contains ignores case; regex is Go's, and (?i) makes it ignore
// case. Where both are given, both must match.
//
// # Values from results
//
// In text, reasoning and the strings of an input, ${tool#pointer} stands for a
// part of the newest result of the tool: the pointer is a JSON pointer (RFC
// 6901), and without #pointer it is the whole result. A string of an input that
// is one such reference and nothing else takes the value as it is, number or
// object; elsewhere it is put in as text. $${ stands for ${ itself.
package scripted
