// Command chaos shows that no write of a thread reaches its target twice and that
// none is lost, whatever dies meanwhile:
//
//	go run ./test/chaos -minutes 15 -threads 150 -seed 7
//
// It starts a Temporal server on a database file, a target, which is an HTTP
// service on SQLite that records each effect it is asked for and misbehaves, and
// three workers. Many threads read, write, ask for approvals and run snippets, all
// of it by the seed: a script plays the model, a program in here approves. Meanwhile
// workers are killed and paused, the Temporal server is killed and started again on
// its database, and so is the target.
//
// In the end it compares what each thread was told of each of its writes with what
// the target has, and replays the history of each run of each thread. The last line
// that it prints is JSON, see [verdict]; the exit code is 0 if all of it is well.
//
// Built with the tag naive, workers make writes as a plain activity would, retried
// and without a claim or an intent. The same bench then finds effects that were
// doubled, so it is known to be able to fail.
package main
