// Package leak tests on a real Temporal server that no secret leaves a worker, whatever
// tools do with it, and that tenants of one worker learn nothing of each other.
//
// Each kind of store holds a canary. Tools in Go, of an HTTP service and of a server of
// the Model Context Protocol are hostile: they give it back in many encodings, by every
// way out that they have. Afterwards all that is left behind is searched for it.
package leak
