#!/bin/sh
# Counters that begin just below where they come round change nothing: the same programs take the same steps to the same outcomes.
# Usage: late_counters_test.sh SIM_GSYNC OPTION...
set -eu

sim=$1
shift

outcomes() {
    "$sim" "$@" | grep -v '^fresh seeds' | sed 's/ steps in .*/ steps/'
}

usual=$(outcomes "$@" --late-counters 0)
late=$(outcomes "$@" --late-counters 1)
case $late in
*" 0 failed") ;;
*)
    printf '%s\n' "$late"
    exit 1
    ;;
esac
if [ "$usual" != "$late" ]; then
    printf 'with counters that begin at 0:\n%s\nand just below their ends:\n%s\n' "$usual" "$late"
    exit 1
fi
