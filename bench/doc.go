// Package bench measures what Heddle costs, each figure beside a baseline that
// was measured in the same run: absolute times mean nothing on a shared machine,
// a ratio does.
//
// A [Benchmark] is a function that measures something and adds it to the
// [Report]; [All] lists them. Add one by writing the function and naming it
// there. `make bench` runs them through the command in run, prints the report as
// a table and writes it to bench/results.json.
package bench
