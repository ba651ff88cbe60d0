package main

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/common/searchattribute/sadefs"
	"go.temporal.io/server/schema/sqlite"
)

// registerNamespaces creates the namespaces that do not exist yet and gives all
// of them the search attributes. It works on the database, before the server
// runs: through the API, a server that is ready would still spend seconds until
// its caches have noticed its own namespaces.
func registerNamespaces(cfg *config.SQL, names []string, attributes map[string]enumspb.IndexedValueType) error {
	db, err := sql.NewSQLDB(sqlplugin.DbKindMain, cfg, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("open the database: %w", explainSQLite(err))
	}
	defer func() { _ = db.Close() }()
	for _, name := range names {
		if err := registerNamespace(context.Background(), db, name, attributes); err != nil {
			return fmt.Errorf("namespace %q: %w", name, explainSQLite(err))
		}
	}
	return nil
}

func registerNamespace(ctx context.Context, db sqlplugin.DB, name string, attributes map[string]enumspb.IndexedValueType) error {
	serializer := serialization.NewSerializer()
	row, detail, err := loadNamespace(ctx, db, serializer, name)
	if err != nil {
		return err
	}
	isNew := row == nil
	if isNew {
		created, err := sqlite.NewNamespaceConfig(clusterName, name, false, nil)
		if err != nil {
			return err
		}
		detail = created.Detail
		row = &sqlplugin.NamespaceRow{Name: name, ID: primitives.MustParseUUID(detail.Info.Id)}
	}
	changed, err := addSearchAttributes(detail, attributes)
	if err != nil || (!changed && !isNew) {
		return err
	}
	blob, err := serializer.NamespaceDetailToBlob(detail)
	if err != nil {
		return err
	}
	row.Data, row.DataEncoding = blob.Data, blob.EncodingType.String()
	if isNew {
		_, err = db.InsertIntoNamespace(ctx, row)
	} else {
		_, err = db.UpdateNamespace(ctx, row)
	}
	return err
}

// loadNamespace returns a nil row if there is no namespace of that name.
func loadNamespace(ctx context.Context, db sqlplugin.DB, serializer serialization.Serializer, name string) (*sqlplugin.NamespaceRow, *persistencespb.NamespaceDetail, error) {
	rows, err := db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{Name: &name})
	if errors.Is(err, stdsql.ErrNoRows) || (err == nil && len(rows) == 0) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	detail, err := serializer.NamespaceDetailFromBlob(persistence.NewDataBlob(rows[0].Data, rows[0].DataEncoding))
	if err != nil {
		return nil, nil, err
	}
	return &rows[0], detail, nil
}

// addSearchAttributes gives each attribute that the namespace lacks one of the
// columns that the visibility table has in reserve for its type, and reports
// whether it had to.
func addSearchAttributes(detail *persistencespb.NamespaceDetail, attributes map[string]enumspb.IndexedValueType) (changed bool, err error) {
	columnTypes := sadefs.GetDBIndexSearchAttributes(nil).CustomSearchAttributes
	if detail.Config.CustomSearchAttributeAliases == nil {
		detail.Config.CustomSearchAttributeAliases = make(map[string]string)
	}
	nameOf := detail.Config.CustomSearchAttributeAliases // column -> attribute
	existing := make(map[string]enumspb.IndexedValueType, len(nameOf))
	for column, name := range nameOf {
		existing[name] = columnTypes[column]
	}
	// In order, so that the same flags always lead to the same columns.
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		typ := attributes[name]
		if have, ok := existing[name]; ok {
			if have != typ {
				return false, fmt.Errorf("search attribute %q already exists as %s, not %s", name, have, typ)
			}
			continue
		}
		column, total := freeColumn(nameOf, columnTypes, typ)
		if column == "" {
			return false, fmt.Errorf("no room for search attribute %q: a namespace has at most %d of type %s", name, total, typ)
		}
		nameOf[column] = name
		changed = true
	}
	return changed, nil
}

// freeColumn returns the first column of a type that has no name yet, and how
// many columns the type has.
func freeColumn(nameOf map[string]string, columnTypes map[string]enumspb.IndexedValueType, typ enumspb.IndexedValueType) (column string, total int) {
	for _, c := range slices.Sorted(maps.Keys(columnTypes)) {
		if columnTypes[c] != typ {
			continue
		}
		total++
		if _, taken := nameOf[c]; !taken && column == "" {
			column = c
		}
	}
	return column, total
}
