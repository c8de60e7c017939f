#!/bin/bash
# counted_test.sh DIRECTORY-OF-THE-BUILD CASE: instructions of calls on mapped memory with all logs, counted by callgrind.
# shellcheck disable=SC2154 # of the library
set -u

build=$1 name=$2 here=$(dirname "$0")
keelrun=$build/contrib/keelrun/keelrun
# shellcheck source=tests/proc/proc_lib.sh
. "$here/proc_lib.sh"
command -v valgrind >/dev/null || exit 77

# counted FUNCTION: instructions of one of its 64 accesses by rank 0, the median of the calls of it. The first calls make and
# announce what the later ones use; what a call does besides goes by time.
counted()
{
    # shellcheck disable=SC2016 # of the ranks
    run 0 -n 2 -x KEEL_LANES=direct -x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=4m sh -c '
        [ "$PMIX_RANK" = 0 ] || exec "$0"
        exec valgrind --tool=callgrind --fair-sched=try --separate-threads=yes --toggle-collect="$1" --dump-after="$1" \
            --callgrind-out-file="$2/calls" "$0"' "$build/tests/proc/counted_calls" "$1" "$scratch"
    has "$out" 1 '^counted_calls: 3840 added, success$'
    count=$(sed -n 's/^totals: \([1-9][0-9]*\)$/\1/p' "$scratch"/calls.*-01 | sort -n | awk '{ all[NR] = $1 } END { print int(all[int((NR + 1) / 2)] / 64) }')
    rm -f "$scratch"/calls*
}

# a bound is a tenth above what was counted when it was set, with gcc 12
calls_take_few_instructions()
{
    local call most above=''

    while read -r call most; do
        counted "$call"
        echo "$call: $count instructions, at most $most"
        [ "$count" -gt 0 ] && [ "$count" -le "$most" ] || above+=" $call"
    done <<END
put_and_flush 195
put 90
get 173
long_get 780
fetch_add 340
END
    [ -z "$above" ] || fail "more instructions than allowed:$above"
}

"$name"
