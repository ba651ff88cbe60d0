// Command demo shows a support agent at work: it starts a Temporal server and a
// worker of its own, asks the agent for a refund, shows what it does, asks for
// the approval, and ends everything it started.
//
// With DEMO_YES=1 it approves by itself, and needs no terminal. With OPENAI_API_KEY, or OPENAI_BASE_URL
// for a server of one's own, the agent asks OPENAI_MODEL; without them it plays a
// script. HEDDLE_DEVSERVER names the Temporal server, else it is temporal on the
// PATH.
package main
