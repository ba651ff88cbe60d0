package mcp

// callDepth is about what a call takes of a stack, in bytes, from here down to the network.
const callDepth = 12 << 10

// grow has the stack of the goroutine grow at once. A call is made in a goroutine of its
// own, and goes deep: into HTTP, TLS and JSON. A stack that grows on the way is copied
// each time, with all that is on it by then, which takes as long as the rest of a call.
//
//go:noinline
func grow(at uint) byte {
	var room [callDepth]byte
	return room[at%callDepth]
}
