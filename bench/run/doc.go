// Command run runs the benchmarks of the package bench, prints their results as
// a table and writes them to a JSON file:
//
//	go run ./bench/run -o bench/results.json
//	go run ./bench/run -only dispatch
package main
