#!/usr/bin/env bash
# Serves on the embedded store, and suggests commands to try. Arguments and TENURE_ variables are passed to tenured.
set -euo pipefail
cd "$(dirname "$0")/.."

cat <<'TEXT'

Tenure serves on 127.0.0.1:7070, and keeps its elections in tenure.db. Try, in other terminals:

  build/bin/tenure campaign orders --candidate alice
  build/bin/tenure campaign orders --candidate bob
  build/bin/tenure observe orders

Then stop alice with Ctrl-C, and see bob take over. Ctrl-C here ends the server.

TEXT
exec build/bin/tenured "$@"
