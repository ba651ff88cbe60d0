// Package openai is the model behind the chat completions API: that of OpenAI,
// and that of every server that is compatible with it, such as Ollama, vLLM,
// llama.cpp and OpenRouter.
//
//	model, err := openai.New(openai.Config{
//		BaseURL: "http://127.0.0.1:11434/v1", // Ollama; empty: OpenAI itself
//		APIKey:  openai.Key(os.Getenv("OPENAI_API_KEY")),
//	})
//
// [Model.Generate] sends one request and reads one reply, streamed when the
// caller gives a callback. The official SDK builds the request, sends it and
// splits the event stream; its retries are off.
//
// # What a reply becomes
//
// Words, reasoning (reasoning_content or reasoning, as compatible servers send
// it), tool calls, the reason to stop and the usage. Of several choices the
// first counts. A refusal becomes the reply's words with the stop reason
// [activities.StopFilter]: it is an answer, and the person should read it.
// Servers take liberties, and some are allowed: arguments as an object, no
// arguments, a missing usage, the same index for several streamed calls, one
// JSON document where a stream was asked for.
//
// # What a failure becomes
//
// An [activities.ModelError], always:
//
//   - 401, 402, 403, 407 and an exhausted quota: unauthorized.
//   - 429: rate limited. Retry-After (seconds or a date) and retry-after-ms are
//     passed on, up to [MaxRetryAfter].
//   - 408, 409, 425, 5xx, a broken connection, a timeout, a reply that is
//     empty, malformed, cut off or too large: unavailable.
//   - Every other 4xx, and a redirect: invalid request. So is a reply that is
//     empty because the output limit was reached or because all of it was
//     withheld: the next attempt would end the same.
//
// When the caller's context ends, the error wraps its reason. An error that
// comes within a stream or in an answer with status 200 is read for its code.
//
// # What it never does
//
// It follows no redirect, reads no OPENAI_ variable from the environment, and
// keeps neither messages nor credentials. The key is asked for at each call and
// removed from whatever a server says in an error.
package openai
