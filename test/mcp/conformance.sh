#!/usr/bin/env bash
# Runs the client scenarios of the conformance suite of the Model Context Protocol, in
# each version of the protocol that has them, against providers/mcp. The last line says
# how many have passed and failed. A failure that expected-failures.txt names is no
# error; one that it does not name is, and so is a line of it that has come to pass.
#
# Usage: conformance.sh CLIENT [PATTERN]
set -euo pipefail
client=$(realpath "$1") pattern=${2:-.}
cd "$(dirname "$0")"

# The suite wants Node 22. Where there is an older one, npm has another.
if (($(node -p 'process.versions.node.split(".")[0]') < 22)); then
	package=node-$(node -p 'process.platform + "-" + process.arch')
	[[ -d node_modules/$package ]] || npm install --no-save --no-audit --no-fund "$package@22" >/dev/null
	PATH=$PWD/node_modules/$package/bin:$PATH
fi
suite=node_modules/@modelcontextprotocol/conformance/dist/index.js
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Each line of the listing is a scenario with its versions, those of extensions apart.
scenarios=$(node "$suite" list | sed -n '/^Client scenarios/,/^$/s/^ *- \(.*\) \[\(20[0-9,-]*\)\]$/\1 \2/p')
log=$results/log
# plays runs a scenario until it passes, so often at most, and says when that was not at
# once. Some look at the time that something takes, and fail where the machine is busy.
plays() {
	local try
	for ((try = 1; try <= $3; try++)); do
		if timeout 90 node "$suite" client --command "$client" --scenario "$1" --spec-version "$2" -o "$results/out" >"$log" 2>&1 </dev/null; then
			((try == 1)) || echo "passes at try $try: $2 $1"
			return
		fi
	done
	return 1
}

passed=0 failed=0 surprises=0
while read -r scenario versions; do
	for version in ${versions//,/ }; do
		[[ "$version $scenario" =~ $pattern ]] || continue
		expected=$(grep -E "^$version $scenario " expected-failures.txt || true)
		if plays "$scenario" "$version" "$([[ -n $expected ]] && echo 1 || echo 3)"; then
			passed=$((passed + 1))
			[[ -z $expected ]] || { echo "passes, and expected-failures.txt says that it does not: $version $scenario"; surprises=$((surprises + 1)); }
		else
			failed=$((failed + 1))
			if [[ -n $expected ]]; then
				echo "fails as expected: $expected"
			else
				echo "FAILS: $version $scenario"
				tail -n 25 "$log" | sed 's/^/    /'
				surprises=$((surprises + 1))
			fi
		fi
	done
done <<<"$scenarios"
echo "$passed passed, $failed failed"
((surprises == 0))
