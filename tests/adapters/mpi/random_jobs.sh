#!/bin/bash
# Jobs drawn from a seed, whose results are known, with deaths at places that are drawn, too; counts what became of them.
set -u

if [ $# -lt 2 ] || [ "$1" = -h ]; then
    cat <<'END'
Usage: random_jobs.sh BUILD JOBS [SEED [openmpi|mpich [n|y|waits]]]

Runs so many jobs of mpi_random, from SEED on (1), each with the MPI, KEEL_DETERMINISTIC, lanes, ranks, program and deaths that its seed has.
By turns nobody dies, one rank dies, two at once, rank 0, one before the restart point, replacements on their way there, one that holds a
lock, one between collectives, one in MPI_Finalize's stead, and one when keelrun kills it, at a random moment. Prints a line for each job that is
not right and one of counts: those that are right, wrong, hung (no end in 50 s), and that left something behind. Status 1 when not all are right.
END
    [ "${1:-}" = -h ] && exit 0
    exit 2
fi
name=random_jobs keelrun=$1/src/adapters/mpi/keel-mpirun
build=$1 jobs=$2 first=${3:-1} only_mpi=${4:-} only_mode=${5:-}
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/../../proc/proc_lib.sh"

kinds=(none one two zero start replacement lock collective finalize random)

# roll LIMIT: sets rolled to a number below it, by a sequence that the seed begins
roll()
{
    state=$(((state * 1103515245 + 12345) & 0x7fffffff))
    rolled=$(((state >> 8) % $1))
}
pick() # WORDS...: sets picked
{
    roll $#
    picked=${*:rolled + 1:1}
}

# draws the job of a seed: sets what is run
draw()
{
    local rank step place

    state=$1
    roll 2 # the first numbers of neighbours are alike
    kind=${kinds[$1 % ${#kinds[@]}]} steps=40 deaths=- kill=()
    pick openmpi mpich
    mpi=${only_mpi:-$picked}
    pick n y waits
    mode=${only_mode:-$picked}
    pick direct served auto
    lanes=$picked
    pick 2 3 4 5
    ranks=$picked
    [ "$kind" != two ] || [ "$ranks" -gt 3 ] || ranks=4 # of a group of two nobody would be left
    roll "$ranks"
    rank=$rolled
    roll "$steps"
    step=$rolled
    roll 2
    place=$rolled
    case $kind in
    one) deaths=$rank@$step.$place ;;
    two) deaths=$rank@$step.$place,$(((rank + 1) % ranks))@$step.$((1 - place)) ;;
    zero) deaths=0@$step.$place ;;
    start) deaths=$rank@0.8 ;;
    replacement) deaths=$rank@$step.$place! ;;
    lock) deaths=$rank@$step.2 ;;
    collective) deaths=$rank@$step.3 ;;
    finalize) deaths=$rank@0.9 ;;
    random) kill=(--kill "random@random:0.3" --seed "$1") ;;
    esac
}

# one that keelrun killed when the job was leaving had told its results; a group of which two may die needs two parities
job()
{
    draw "$1"
    run_any -n "$ranks" --nodes "$ranks" -x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m -x KEELMPI_ARENA=16m -x KEELMPI_RING=$((64 << $1 % 3))k -x KEELMPI_FETCH=$((64 << $1 % 7 * 2)) -x KEEL_PARITIES="$([ "$ranks" -gt 3 ] && echo 2 || echo 1)" \
        -x KEEL_LANES="$lanes" -x KEEL_DETERMINISTIC="$mode" -x KEEL_VERBOSE=y --timeout 50 "${kill[@]}" "$build/tests/adapters/mpi/mpi_random_$mpi" "$1" "$steps" "$deaths"
    [ "$status" -ne 124 ] || exit 3
    ! grep -q 'while the job was leaving' "$err" || status=0
    [ "$status" -eq 0 ] && grep -q "^mpi_random: seed $1, $ranks ranks, $steps steps: right\$" "$out" || exit 2
}

right=0 wrong=0 hung=0 left=0 locals=0 rollbacks=0 anew=0
for ((seed = first; seed < first + jobs; seed++)); do
    (job "$seed") 2>/dev/null
    case $? in
    0) right=$((right + 1)) ;;
    2) wrong=$((wrong + 1)) result=wrong ;;
    3) hung=$((hung + 1)) result=hung ;;
    *) left=$((left + 1)) result='left something behind' ;;
    esac
    locals=$((locals + $(grep -q ' decided: local' "$err" && echo 1 || echo 0)))
    rollbacks=$((rollbacks + $(grep -q ' decided: roll back' "$err" && echo 1 || echo 0)))
    anew=$((anew + $(grep -q 'started anew (1 of 1)' "$err" && echo 1 || echo 0)))
    if [ -n "${result:-}" ]; then
        draw "$seed"
        echo "seed $seed ($mpi, $mode, $lanes, $ranks ranks, $kind $deaths): $result"
        tail -n 5 "$out" "$err"
        result=
    fi
done
echo "$jobs jobs from seed $first: $right right, $wrong wrong, $hung hung, $left left something behind; with a local recovery: $locals, with a rollback: $rollbacks, started anew: $anew"
[ "$right" -eq "$jobs" ]
