package main

import "github.com/heddle-dev/heddle"

func main() { heddle.Main() }
