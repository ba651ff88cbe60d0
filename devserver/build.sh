#!/bin/sh
# Puts a Temporal development server at the given path:
#
#   devserver/build.sh [OUTPUT]      (default: bin/temporal-devserver)
#
# A `temporal` CLI on the PATH is as good a server, so if there is one OUTPUT
# becomes a link to it. HEDDLE_DEVSERVER_BUILD=1 builds this module nevertheless.
#
# The first build compiles the whole Temporal server, which takes some minutes;
# later ones take it from Go's build cache.
set -eu

dir=$(cd "$(dirname "$0")" && pwd)
out=${1:-$dir/../bin/temporal-devserver}
force=${HEDDLE_DEVSERVER_BUILD:-}

say() { printf '%s\n' "$*"; }
fail() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

mkdir -p "$(dirname "$out")"
out=$(cd "$(dirname "$out")" && pwd)/$(basename "$out")
[ ! -d "$out" ] || fail "$out is a directory"

if [ "$force" != 1 ] && cli=$(command -v temporal) && [ "$cli" != "$out" ]; then
	ln -sf "$cli" "$out"
	say "Found $cli, which serves as well: linked $out to it (HEDDLE_DEVSERVER_BUILD=1 builds instead)"
	exit 0
fi

# Tests are no part of the binary. A link is to a CLI that is no longer wanted.
sources() { find "$dir" -maxdepth 1 \( -name '*.go' ! -name '*_test.go' -o -name go.mod -o -name go.sum \) "$@"; }
if [ -x "$out" ] && [ ! -L "$out" ] && [ -z "$(sources -newer "$out")" ]; then
	say "$out is up to date"
	exit 0
fi

command -v go >/dev/null || fail "neither go nor temporal is on the PATH"

# Without cgo the binary runs on any system of its kind. The tests use the same
# setting: with another one Go would compile all packages once more.
export CGO_ENABLED=0

start=$(date +%s)
work=$(mktemp -d)
new=$out.new.$$
pid=
cleanup() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null || true
	rm -rf "$work" "$new"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -t 1 ]; then interval=1 tty=1; else interval=15 tty=; fi

# progress prints the line of one moment: on a terminal over the one before.
progress() {
	elapsed=$(($(date +%s) - start))
	if [ -n "$tty" ]; then printf '\r\033[K%s (%ss)' "$1" "$elapsed"; else say "$1 (${elapsed}s)"; fi
}

# wait_for waits for the command in the background and shows how far it is: how
# many lines of its log say that a part is done, and of how many.
wait_for() { # LABEL LOG PATTERN [TOTAL]
	next=0
	[ -n "$tty" ] || next=$(($(date +%s) + interval))
	while kill -0 "$pid" 2>/dev/null; do
		if [ "$(date +%s)" -ge "$next" ]; then
			count=$(grep -c "$3" "$2" || true)
			if [ "$count" = "${4:-}" ]; then progress "Linking"; else progress "$1 $count${4:+ of $4}"; fi
			next=$(($(date +%s) + interval))
		fi
		sleep 1
	done
	[ -z "$tty" ] || printf '\r\033[K'
	status=0
	wait "$pid" || status=$?
	pid=
	return "$status"
}

touch "$work/started"
cd "$dir"
say "Building the Temporal development server"

# Stale packages are those that the build cache does not have.
go list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' . >"$work/stale" 2>"$work/list" &
pid=$!
wait_for "Modules downloaded:" "$work/list" '^go: downloading' || { cat "$work/list" >&2; fail "go list failed"; }
total=$(grep -c . "$work/stale" || true)

# -v names each package as its turn comes. The linker, last of all, names none.
go build -v -ldflags='-s -w' -o "$new" . 2>"$work/build" &
pid=$!
if ! wait_for "Packages compiled:" "$work/build" '^[^ :#]*$' "$total"; then
	grep -v '^[^ :#]*$' "$work/build" >&2 || true
	fail "go build failed"
fi

touch -r "$work/started" "$new" # a source saved since then is newer
mv -f "$new" "$out"             # in one step: whoever runs the old one keeps it
say "Built $out ($(du -h "$out" | cut -f1), $(($(date +%s) - start))s)"
