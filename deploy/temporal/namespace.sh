#!/bin/sh
# Creates the namespace TEMPORAL_NAMESPACE and the search attributes of threads in
# it. Doing so twice changes nothing. Where the server is, TEMPORAL_ADDRESS says.
set -eu

# retry runs a command until it succeeds, for two minutes at most.
retry() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 24 ] || return 1
		echo "not yet, trying again"
		sleep 5
	done
}

echo "== waiting for $TEMPORAL_ADDRESS"
retry temporal operator cluster health

echo "== namespace $TEMPORAL_NAMESPACE"
if ! temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
	temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
fi

# A new namespace takes some seconds until every service knows it.
echo "== search attributes"
retry temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
	--name HeddleTenant --type Keyword \
	--name HeddleAgent --type Keyword \
	--name HeddleStatus --type Keyword \
	--name HeddlePending --type KeywordList
