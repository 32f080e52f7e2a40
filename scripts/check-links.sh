#!/usr/bin/env bash
# Checks that every relative link of every Markdown page, and every page of docs/ named in any other file, leads to a
# file of this repository and, after a #, to one of its headings.
# Usage: scripts/check-links.sh
set -euo pipefail
cd "$(dirname "$0")/.."

files=$(mktemp) mentions=$(mktemp)
trap 'rm -f "$files" "$mentions"' EXIT
git ls-files -co --exclude-standard >"$files"
git grep --untracked -noIE '\bdocs/[A-Za-z0-9_/-]+\.(md|svg|png)(#[a-z0-9_-]+)?' -- ':!*.md' >"$mentions" || true
mapfile -t pages < <(grep '\.md$' "$files")

awk '
  # The anchor that GitHub makes from a heading.
  function slug(heading) {
    gsub(/\]\([^)]*\)/, "", heading)
    heading = tolower(heading)
    gsub(/[^a-z0-9_ \200-\377-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
  }
  function directory(path) { return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/)) : "" }
  # Removes "." and "..".
  function normal(path,   parts, count, kept, i, result) {
    count = split(path, parts, "/")
    kept = 0
    for (i = 1; i <= count; i++) {
      if (parts[i] == ".." && kept > 0) kept--
      else if (parts[i] != "." && parts[i] != "") parts[++kept] = parts[i]
    }
    for (i = 1; i <= kept; i++) result = result (i > 1 ? "/" : "") parts[i]
    return result
  }
  function link(where, from, target) {
    if (target ~ /^[a-z]+:/) return
    wheres[++links] = where
    targets[links] = target
    sub(/#.*/, "", target)
    paths[links] = target == "" ? from : normal(directory(from) target)
    anchors[links] = index(targets[links], "#") ? substr(targets[links], index(targets[links], "#") + 1) : ""
  }

  FILENAME == ARGV[1] {
    for (path = $0; path != ""; path = substr(path, 1, match(path, /\/[^\/]*$/) - 1)) known[path] = 1
    next
  }
  FILENAME == ARGV[2] {
    split($0, mention, ":")
    link(mention[1] ":" mention[2], "", mention[3])
    next
  }
  FNR == 1 { fenced = 0 }
  /^ *```/ { fenced = !fenced; next }
  fenced { next }
  /^#+ / {
    anchor = FILENAME "#" slug(substr($0, index($0, " ") + 1))
    headings[seen[anchor]++ ? anchor "-" (seen[anchor] - 1) : anchor] = 1
  }
  {
    rest = $0
    while (match(rest, /\]\([^) ]+\)/)) {
      target = substr(rest, RSTART + 2, RLENGTH - 3)
      rest = substr(rest, RSTART + RLENGTH)
      link(FILENAME ":" FNR, FILENAME, target)
    }
  }
  END {
    for (i = 1; i <= links; i++) {
      missing = !(paths[i] in known)
      if (missing || (anchors[i] != "" && !(paths[i] "#" anchors[i] in headings))) {
        printf "%s: %s leads to %s\n", wheres[i], targets[i], missing ? "no file" : "no heading of that page" > "/dev/stderr"
        bad = 1
      }
    }
    if (links == 0) { print "there is no link to check" > "/dev/stderr"; bad = 1 }
    exit bad
  }' "$files" "$mentions" "${pages[@]}"
