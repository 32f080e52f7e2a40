#!/usr/bin/env bash
# Installs missing toolchains of the client libraries, or of some of them: from Debian, and Go with
# scripts/install-go.sh.
# Usage: scripts/install-clients.sh LANGUAGE...   (silent if nothing is missing)
set -euo pipefail
cd "$(dirname "$0")/.."

for language; do
  case "$language" in
    go)
      scripts/install-deps.sh mariadb client_go
      scripts/install-go.sh
      ;;
    java)
      scripts/install-deps.sh mariadb
      { command -v javac && command -v mvn; } >/dev/null || scripts/install-deps.sh client_java
      ;;
    # Debian's Python cannot make a virtual environment without python3-venv. The fence is tested on MariaDB.
    python)
      scripts/install-deps.sh mariadb
      python3 -c 'import ensurepip, venv' 2>/dev/null || scripts/install-deps.sh client_python
      ;;
    typescript)
      scripts/install-deps.sh mariadb client_typescript
      command -v npm >/dev/null || scripts/install-deps.sh proto
      ;;
    *) echo "There is no client library in client/$language." >&2 && exit 2 ;;
  esac
done
