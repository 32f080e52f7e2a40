#!/usr/bin/env bash
# Compiles the libraries and their tests, and writes to tenure-client/target/candidate.args how `java` starts the
# candidate of tests/polyglot/bad_days. Usage: client/java/prepare.sh
set -euo pipefail
cd "$(dirname "$0")"

mkdir -p target
mvn --quiet --batch-mode --projects tenure-client --also-make test-compile \
  dependency:build-classpath -Dmdep.outputFile=target/classpath >target/prepare.log 2>&1 || { cat target/prepare.log >&2; exit 1; }
cd tenure-client/target
cat >candidate.args <<EOF
-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m
-cp "$PWD/test-classes:$PWD/classes:$(cat classpath)"
io.tenure.testing.BadDaysCandidate
EOF
