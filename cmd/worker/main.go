// Command worker runs a Heddle worker from a configuration file alone. A worker
// with tools of its own is a program like this one that passes them to
// [heddle.Main].
package main

import "github.com/heddle-dev/heddle"

func main() { heddle.Main() }
