#!/bin/bash
# Help is asked for alike of all programs: -h and --help print the same usage on standard output, with status 0.
# Arguments: the programs.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

complain() {
    echo "$*"
    bad=1
}

for program; do
    for option in -h --help; do
        "$program" $option > "$work/out$option" 2> "$work/err" < /dev/null || complain "$program $option: status $?"
        [ ! -s "$work/err" ] || complain "$program $option: $(cat "$work/err")"
    done
    cmp -s "$work/out-h" "$work/out--help" || complain "$program: -h and --help differ"
    grep -q '^Usage: ' "$work/out-h" || complain "$program: no line of usage"
    grep -qE '(^|[^a-z])-h, --help' "$work/out-h" || complain "$program: the help does not name -h, --help"
done
exit $bad
