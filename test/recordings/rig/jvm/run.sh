#!/usr/bin/env bash
# run.sh PROJECT MAIN-CLASS AGENT SCENARIO: builds one JVM agent outside the repository, once, and runs it. RIG_SCENARIO names the scenario's file.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
project=$1 main=$2
export RIG_JVM_HOME=${RIG_JVM_HOME:-$HOME/.cache/rig-jvm}
home=$RIG_JVM_HOME/$project
mkdir -p "$home"
sum=$(cat "$here/$project/pom.xml" "$here/$project"/src/* | sha256sum)
if [ "$(cat "$home/.made-from" 2>/dev/null)" != "$sum" ]; then
  mvn -q -B -f "$here/$project/pom.xml" "-Drig.home=$RIG_JVM_HOME" compile dependency:build-classpath "-Dmdep.outputFile=$home/classpath" >&2
  echo "$sum" > "$home/.made-from"
fi
exec java -cp "$home/classes:$(cat "$home/classpath")" "$main"
