// Package activities holds what an agent thread does to the outside world: a
// model turn, a batch of reads, a write, the archiving of a run.
//
// [Activities] is a struct of dependencies whose methods are the Temporal
// activities. What it needs it declares as small interfaces ([Model], [Broker],
// [Threads], [Blobs]), so the package stays light and workflow code can name
// the activities through a nil pointer.
//
// Inputs are small: an activity is told which thread and which messages or
// calls, and reads them by querying its own workflow, so that no value stands
// in history twice.
package activities
