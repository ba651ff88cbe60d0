//go:build !unix

package testkit

import "testing"

// Postgres returns the URL of an empty database, or nothing: it needs Unix.
func Postgres(testing.TB) string { return "" }

func stopPostgres() {}
