// Package models is the shelf of model vendors. Each package under it is one
// vendor behind [activities.Model]; this package itself holds no code.
//
//   - models/openai speaks the chat completions API, that of OpenAI and that of
//     Ollama, vLLM and the many others that answer in the same words.
//   - models/scripted plays a YAML script instead of asking anybody. It is the
//     model of the demo and of tests, and needs neither key nor network.
//   - models/modeltest is the conformance suite that each of them passes.
//
// # What every model does
//
// A model is asked once and answers once. It keeps nothing between calls, so a
// thread can go on with another worker at any moment. It does not retry: it says
// with an [activities.ModelError] what a failure means, and Temporal retries.
// A reply without words and without calls is a failure, as is a malformed one.
//
// Tools and the calls of earlier messages carry the names under which the model
// knows the tools; the caller maps them to the ids of the catalog and back.
//
// # Adding a vendor
//
// Write a package with a New that takes a Config and refuses a wrong one, take
// an *http.Client in it rather than making requests of your own, classify each
// failure by what it means for the next attempt, keep credentials out of every
// error, and run [modeltest.Run] against a server that answers as the vendor
// does.
//
// [activities.Model]: https://pkg.go.dev/github.com/heddle-dev/heddle/activities#Model
// [activities.ModelError]: https://pkg.go.dev/github.com/heddle-dev/heddle/activities#ModelError
// [modeltest.Run]: https://pkg.go.dev/github.com/heddle-dev/heddle/models/modeltest#Run
package models
