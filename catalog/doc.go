// Package catalog says what a tool is, which tools there are, and how a call of
// one is made.
//
// A [Source] lists [Tool] values; each carries a [Descriptor]. The [Broker]
// gathers the sources and is the one way to a tool, whoever asks:
//
//   - [Broker.Plan] resolves the id, checks the agent's scope, validates the
//     input against the schema and says whether a person must agree. It does
//     nothing outside.
//   - [Broker.Dispatch] checks all of that again, carries the call out, and
//     validates and bounds the output.
//
// Between the two lies whatever the plan asks for, such as a person's approval:
// a descriptor or input that changed meanwhile makes Dispatch refuse.
//
// Both go the same way, in check.go: resolve the id within the scope, read the
// tool's schemas, accept the input, see who must agree. Only Dispatch goes on, in
// run.go, to call the tool and judge its output. Whatever is refused or fails is
// an [Error] with a stable code, short enough for a model and a history.
//
// An input is taken exactly. Its canonical form, with sorted keys and the tool's
// defaults, is what a person is shown, what the digest covers and what the tool
// gets.
//
// The package knows nothing of Temporal, and imports nothing else of this
// module. The conformance suite for sources is in catalogtest.
package catalog
