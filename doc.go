// Package heddle builds workers that run AI agents as Temporal workflows.
//
// Each conversation with an agent is a thread, and each thread is one workflow:
// the model's turns and every tool call are activities, approvals are signals,
// and a killed worker, a restarted server or a week of silence changes nothing.
//
// A worker is a program that says which tools there are:
//
//	func main() {
//		heddle.Main(
//			heddle.Tool("orders.get", "Returns one order.", getOrder),
//			heddle.Tool("orders.refund", "Refunds an order.", refund, heddle.Write()),
//		)
//	}
//
// and a configuration file, heddle.yaml, that says which agents there are, which
// model each asks and which tools it may use. [New] and [App.Run] do the same
// for a program that has its own main.
//
// Tools that are not Go functions come from a [Source]. A vendor's model comes
// from the configuration file, any other from [Model].
//
// A backend talks to threads with the package signals, which knows nothing of
// this one; people do with the starter command, or in the Temporal UI.
package heddle
