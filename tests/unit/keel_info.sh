#!/bin/bash
# keel_info: each option, wrong options, unknown and wrong variables. Argument: the program.
set -u
info=${1:?usage: keel_info.sh PROGRAM}
for name in ${!KEEL_*}; do
    unset "$name"
done
output=$(mktemp) errors=$(mktemp)
trap 'rm -f "$output" "$errors"' EXIT
bad=0

# expect STATUS ARGUMENTS...: runs it
expect() {
    local expected=$1 rc
    shift
    "$info" "$@" > "$output" 2> "$errors"
    rc=$?
    [ $rc = "$expected" ] || { echo "keel_info $*: status $rc, expected $expected"; bad=1; }
}

# has FILE TEXT: the last run's output or errors have it
has() {
    grep -qF -- "$2" "$1" || { echo "'$2' is missing in:"; cat "$1"; bad=1; }
}

empty() {
    [ ! -s "$1" ] || { echo "not expected:"; cat "$1"; bad=1; }
}

expect 0 -v && has "$output" "# Keel 0." && has "$output" "libraries: UCX 1." && has "$output" "runs over: UCX 1." && empty "$errors"
expect 0 -c && has "$output" "KEEL_GROUP_SIZE=auto" && empty "$errors"
[ "$(grep -c '^KEEL_' "$output")" = "$(grep -c . "$output")" ] || { echo "-c prints more than variables"; bad=1; }
expect 0 -cf && has "$output" "KEEL_GROUP_SIZE=auto" && has "$output" "# Number of ranks that share parity" && empty "$errors"
grep -qE '^KEEL_(SPIN|DEVICE_EVENTS|REHEARSE)=' "$output" && { echo "-cf prints what no user sets"; bad=1; }
expect 0 -cfa && has "$output" "KEEL_SPIN=" && has "$output" "KEEL_DEVICE_EVENTS=y" && has "$output" "KEEL_REHEARSE=" && has "$output" "KEEL_GROUP_SIZE=auto" && empty "$errors"
expect 2 -fa && has "$errors" "Usage:"
expect 0 -d && has "$output" "transport:" && has "$output" "direct" && has "$output" "served" && has "$output" "device:" && empty "$errors"
expect 0 -h && has "$output" "Usage:" && empty "$errors"
expect 0 --help && has "$output" "Usage:" && empty "$errors"
expect 0 -v -c -d && has "$output" "# Keel" && has "$output" "KEEL_LANES" && has "$output" "transport"
expect 2 && has "$errors" "Usage:" && empty "$output"
expect 2 -f && has "$errors" "Usage:"
expect 2 -x && has "$errors" "invalid option" && empty "$output"
expect 0 --version && has "$output" "keel_info 0." && empty "$errors"
expect 2 --other && has "$errors" "Usage:" && empty "$output"
expect 2 -t -F gif && has "$errors" "-F needs" && empty "$output"
expect 2 -v extra && has "$errors" "extra" && empty "$output"
export KEEL_GROUP_SIZE=9
expect 0 -c && has "$output" "KEEL_GROUP_SIZE=9"
export KEEL_GROUP_SIZ=9
expect 0 -c && has "$errors" "unknown variables: KEEL_GROUP_SIZ "
export KEEL_GROUP_SIZE=many
expect 1 -c && has "$errors" "KEEL_GROUP_SIZE" && has "$output" "KEEL_GROUP_SIZE=auto"
expect 1 -v -cf && has "$output" "# Keel 0."
export KEEL_GROUP_SIZE=4 KEEL_MTBF=-1h
expect 1 -c && has "$errors" "KEEL_MTBF"
export KEEL_MTBF=12h
expect 0 -c && has "$output" "KEEL_MTBF=43200s"
exit $bad
