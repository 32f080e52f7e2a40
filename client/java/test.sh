#!/usr/bin/env bash
# Checks and tests the libraries, and the packages that pack.sh has left in DIST, against build/bin/tenured. Compiling
# and packing also check that the Javadoc is complete. Usage: client/java/test.sh DIST
set -euo pipefail
dist=$(realpath "${1:?usage: client/java/test.sh DIST}")
cd "$(dirname "$0")"

format=$(sed --quiet 's/.*<google-java-format.version>\(.*\)<.*/\1/p' pom.xml)
jar=target/google-java-format-$format-all-deps.jar
if [ ! -f "$jar" ]; then
  mvn --quiet --batch-mode --non-recursive dependency:copy -Dmdep.useBaseVersion=true -DoutputDirectory=target \
    "-Dartifact=com.google.googlejavaformat:google-java-format:$format:jar:all-deps" >target/format.log ||
    { cat target/format.log >&2; exit 1; }
fi
exports=()
for package in api code file parser tree util; do
  exports+=(--add-exports "jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED")
done
git ls-files -co --exclude-standard '*.java' | xargs java "${exports[@]}" -jar "$jar" --dry-run --set-exit-if-changed

TENURE_DIST=$dist mvn --batch-mode test >target/test.log 2>&1 || { cat target/test.log >&2; exit 1; }
grep -E '^\[INFO\] Tests run: [^-]*$|^next leader' target/test.log
