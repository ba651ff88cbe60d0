// Package child runs other programs as child processes that do not outlive this
// one: a worker, a Temporal development server.
//
// [Start] runs any program and [StartTemporal] a server on free ports of the
// loopback interface. Processes are ended by their id, and on Linux the kernel
// ends them when this process dies, however it dies.
package child
