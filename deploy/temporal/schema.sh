#!/bin/sh
# Creates the databases of a Temporal server, or brings the schema of existing
# ones up to the version of this image. Doing so twice changes nothing.
# Where the database is, SQL_* in the environment says.
set -eu

for database in temporal visibility; do
	name=temporal
	[ "$database" = temporal ] || name=temporal_visibility
	echo "== $name"
	temporal-sql-tool --database "$name" create-database
	temporal-sql-tool --database "$name" setup-schema --version 0.0
	temporal-sql-tool --database "$name" update-schema --schema-name "postgresql/v12/$database"
done
