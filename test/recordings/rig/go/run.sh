#!/usr/bin/env bash
# run.sh PROJECT AGENT SCENARIO: builds one Go agent outside the repository, once, and runs it. RIG_SCENARIO names the scenario's file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
project=$1
home=${RIG_GO_HOME:-$HOME/.cache/rig-go}/$project
mkdir -p "$home"
sum=$(cat "$here/$project"/* | sha256sum)
if [ "$(cat "$home/.made-from" 2>/dev/null)" != "$sum" ]; then
  cp "$here/$project"/* "$home"
  (cd "$home" && go mod tidy && go build -o shop .) >&2
  echo "$sum" > "$home/.made-from"
fi
exec "$home/shop"
