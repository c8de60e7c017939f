#!/bin/bash
# Jobs drawn from a seed that synchronise in all ways and mix them, whose results are known, with deaths at drawn moments; counts what
# became of them.
set -u

if [ $# -lt 2 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
    cat <<'END'
Usage: mixed_jobs.sh BUILD JOBS [SEED]

Runs so many jobs of mixed_random, from SEED on (1), each with the program, ranks, nodes, lanes, parities, logs, spares and deaths that its seed has.
Prints a line for each job that is not right and one of counts: those that are right, wrong, hung (no end in 50 s), and that left
something behind. Status 1 when not all are right.
END
    case ${1:-} in -h | --help) exit 0 ;; esac
    exit 2
fi
name=mixed_jobs keelrun=$1/contrib/keelrun/keelrun
build=$1 jobs=$2 first=${3:-1}
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"

# roll LIMIT: sets rolled to a number below it, by a sequence that the seed begins
roll()
{
    state=$(((state * 1103515245 + 12345) & 0x7fffffff))
    rolled=$(((state >> 8) % $1))
}

# draws what the program does not: sets ranks, nodes, lanes, parities, interval, deaths, spares, logs
draw()
{
    local all_lanes=(direct served auto)

    state=$1
    roll 2 # the first numbers of neighbours are alike
    roll 5
    ranks=$((rolled + 2))
    roll "$ranks"
    nodes=$((rolled + 1))
    roll 3
    lanes=${all_lanes[rolled]}
    [ "$lanes" != direct ] || nodes=1
    roll 2
    parities=$((ranks > 3 ? rolled + 1 : 1))
    roll 3
    interval=$((rolled + 1))gsyncs
    roll 4 # no more than may be away at once
    deaths=$((rolled < parities ? rolled : parities))
    roll 4
    spares=$((rolled == 0 ? deaths : 0))
    roll 4
    logs=$([ "$rolled" -eq 0 ] && echo 512k || echo 4m)
}

job()
{
    run_any -n "$ranks" --nodes "$nodes" --spares "$spares" -x KEEL_LANES="$lanes" -x KEEL_PARITIES="$parities" -x KEEL_CKPT_INTERVAL="$interval" \
        -x KEEL_OPLOG_SIZE="$logs" -x KEEL_GETLOG_SIZE="$logs" -x KEEL_VERBOSE=y --timeout 50 \
        "$build/tests/proc/mixed_random" "$1" "$ranks" 14 "$deaths" "$scratch/found"
    [ "$status" -ne 124 ] || exit 3
    [ "$status" -eq 0 ] && "$build/tests/proc/mixed_random" --judge "$scratch/found" >"$out" || exit 2
}

right=0 wrong=0 hung=0 left=0 locals=0 rollbacks=0
for ((seed = first; seed < first + jobs; seed++)); do
    draw "$seed"
    rm -f "$scratch/found"
    (job "$seed") 2>/dev/null
    case $? in
    0) right=$((right + 1)) what='' ;;
    2) wrong=$((wrong + 1)) what=wrong ;;
    3) hung=$((hung + 1)) what=hung ;;
    *) left=$((left + 1)) what='left something behind' ;;
    esac
    locals=$((locals + $(grep -q ' decided: local' "$err" && echo 1 || echo 0)))
    rollbacks=$((rollbacks + $(grep -q ' decided: roll back' "$err" && echo 1 || echo 0)))
    if [ -n "$what" ]; then
        echo "seed $seed ($ranks ranks, $nodes nodes, $lanes, $parities parities, $interval, $deaths deaths, $spares spares, logs of $logs): $what"
        tail -n 8 "$out" "$err"
    fi
    [ $((seed % 100)) -ne 0 ] || echo "$((seed - first + 1)) jobs, $right right"
done
echo "$jobs jobs from seed $first: $right right, $wrong wrong, $hung hung, $left left something behind; with a local recovery: $locals, with a rollback: $rollbacks"
[ "$right" -eq "$jobs" ]
