package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/schema/sqlite"
)

// ensureSchema creates the server's schema in an empty database and checks it in
// any other. It creates all of it in one transaction: a server that is killed
// during its very first start leaves an empty database, not half a schema that
// every later start would trip over.
func ensureSchema(db *sql.DB) error {
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after the commit
	have, err := columns(tx)
	if err != nil {
		return err
	}
	if len(have) > 0 {
		return checkSchema(have)
	}
	if err := sqlite.SetupSchemaOnDB(schemaTarget{tx: tx}); err != nil {
		return fmt.Errorf("create the schema: %w", err)
	}
	return tx.Commit()
}

// checkSchema compares what a database has with what this server needs. The
// server's SQLite support has no migrations and does not check by itself, so a
// file of another version would otherwise fail somewhere in the middle of a
// workflow.
func checkSchema(have []string) error {
	need, err := neededColumns()
	if err != nil {
		return err
	}
	var missing []string
	for _, column := range need {
		if !slices.Contains(have, column) {
			missing = append(missing, column)
		}
	}
	switch {
	case len(missing) == 0:
		return nil
	case len(missing) == len(need):
		return errors.New("it is a SQLite database of something else")
	default:
		return fmt.Errorf("it was made by another version of the Temporal server and cannot be used by this one: it lacks %s",
			strings.Join(missing[:min(len(missing), 3)], ", "))
	}
}

// neededColumns returns the columns of this server's schema.
func neededColumns() ([]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection to ":memory:" is a database of its own
	tx, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	if err := sqlite.SetupSchemaOnDB(schemaTarget{tx: tx}); err != nil {
		return nil, fmt.Errorf("create the schema in memory: %w", err)
	}
	return columns(tx)
}

// columns returns all columns of a database as "table.column".
func columns(tx *sql.Tx) ([]string, error) {
	rows, err := tx.Query(`SELECT t.name || '.' || c.name
		FROM sqlite_master AS t, pragma_table_xinfo(t.name) AS c
		WHERE t.type = 'table' ORDER BY 1`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// schemaTarget lets the server's schema setup run inside a transaction. Exec is
// all of the interface that it uses.
type schemaTarget struct {
	sqlplugin.AdminDB
	tx *sql.Tx
}

// Exec implements sqlplugin.AdminCRUD.
func (t schemaTarget) Exec(stmt string, args ...any) error {
	_, err := t.tx.Exec(stmt, args...)
	return err
}
