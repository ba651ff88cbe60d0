package secrets_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m, nil) }

// newDatabase returns the address of an empty database of a real PostgreSQL server,
// and skips the test where there is none.
func newDatabase(t *testing.T) string {
	t.Helper()
	address := testkit.Postgres(t)
	if address == "" {
		t.Skip("install PostgreSQL (initdb and postgres), to test the store on a real server")
	}
	return address
}

func TestPostgresKeepsNoValueInTheOpen(t *testing.T) {
	address := newDatabase(t)
	store := openPostgres(t, address, ring("k1"))
	put(t, store, aKey, item("long-secret-value"))
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var row string
	if err := db.QueryRowContext(t.Context(), `SELECT heddle_secrets::text FROM heddle_secrets`).Scan(&row); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(row, "long-secret") || strings.Contains(row, fmt.Sprintf("%x", "long-secret")) {
		t.Errorf("the value is in the table: %s", row)
	}
}
