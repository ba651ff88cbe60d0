// Package testkit gives tests a real Temporal server and real worker processes.
//
// A package that uses it has one line of TestMain:
//
//	func TestMain(m *testing.M) { testkit.Main(m, func() { heddle.Main(tools...) }) }
//
// and a test then reads
//
//	server := testkit.DevServer(t)
//	worker := testkit.StartWorker(t, testkit.Worker{Server: server, Files: map[string]string{
//		"heddle.yaml": config, "script.yaml": script,
//	}})
//	...
//	worker.Kill()   // SIGKILL
//	worker.Start(t) // a new process with the same files
//
// The worker is the test binary itself, run again with the function given to
// [Main]; [Build] and Worker.Binary serve for any other. Everything that is
// started ends with the test, and what it printed is shown when the test fails.
//
// Without a Temporal server the tests skip, see [DevServer].
package testkit
