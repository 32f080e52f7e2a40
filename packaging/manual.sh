#!/usr/bin/env bash
# Makes the man pages and shell completions of the packages, laid out as in /usr/share, from the programs' help.
# Usage: packaging/manual.sh PROGRAMS OUTPUT VERSION   (PROGRAMS is where tenured and tenure are)
set -euo pipefail
programs=$(realpath "${1:?usage: packaging/manual.sh PROGRAMS OUTPUT VERSION}")
output=${2:?usage: packaging/manual.sh PROGRAMS OUTPUT VERSION}
version=${3:?usage: packaging/manual.sh PROGRAMS OUTPUT VERSION}

rm -rf "$output"
mkdir -p "$output"/server/man/man8 \
  "$output"/cli/{man/man1,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}
commands=$output/commands  # not in a temporary folder, because some machines mount those noexec
mkdir "$commands"
trap 'rm -rf "$commands"' EXIT

# page PROGRAM SECTION NAME FOLDER
page() {
  help2man --no-info --section="$2" --name="${3//\'/\\(aq}" --version-string="$version" "$1" |
    gzip -9 --no-name >"$4/man$2/${1##*/}.$2.gz"
}
page "$programs/tenured" 8 "leader election service" "$output/server/man"
page "$programs/tenure" 1 "elect leaders, and run elections" "$output/cli/man"

# A page for each subcommand, as git has: help2man treats it as a program.
fish=$output/cli/fish/vendor_completions.d/tenure.fish
"$programs/tenure" completion fish >"$fish"
"$programs/tenure" completion bash >"$output/cli/bash-completion/completions/tenure"
"$programs/tenure" completion zsh >"$output/cli/zsh/vendor-completions/_tenure"
while read -r command summary; do
  printf '#!/bin/sh\nexec "%s/tenure" %s "$@"\n' "$programs" "$command" >"$commands/tenure-$command"
  chmod +x "$commands/tenure-$command"
  page "$commands/tenure-$command" 1 "$summary" "$output/cli/man"
done < <(sed -nE "s/^.* -n __fish_use_subcommand -a ([a-z-]+) -d '(.*)'$/\1 \2/p" "$fish")
