// Command worker runs the worker of the support example: the tools of package
// support over a SQLite database, and the agent of heddle.yaml.
//
//	SUPPORT_DB=orders.db worker --config examples/support/heddle.yaml
//
// The database is the file that SUPPORT_DB names, orders.db without it; an empty
// one is filled with a few customers and orders.
package main
