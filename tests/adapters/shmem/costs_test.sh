#!/bin/bash
# What a death costs, as contrib/doc/shmem.md has it line by line, and kernels that are killed: costs_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$build/contrib/keelrun/keelrun
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$here/../../proc/proc_lib.sh"
page=$here/../../../contrib/doc/shmem.md
costs=$build/tests/adapters/shmem/shmem_costs

# costs GROUP[@0] PROMISE COST: what it costs when three PEs die one after the other, or one in the first step
costs()
{
    local group=${1%@0} deaths=1@4.0,2@6.1,0@8.2

    [[ $1 != *@0 ]] || deaths=1@0.1
    run 0 -n 4 --nodes 4 -x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m -x SHMEM_SYMMETRIC_SIZE=4M -x KEEL_VERBOSE=y \
        -x KEEL_LANES="$lanes" -x SHMEM_KEEL_DETERMINISTIC="$2" "$costs" "$group" 12 $deaths
    grep -q "^shmem_costs: $group: right$" "$out" || fail "$*: no result"
    check_cost "$3" "$*"
}

deaths_cost_as_documented()
{
    local promised waits group lines=0 lanes=$1

    while IFS='|' read -r promised waits group; do
        costs "$group" y "$promised"
        costs "$group" waits "$waits"
        lines=$((lines + 1))
    done < <(sed -n 's/^| [^|]* | \([a-z]*\) | \([a-z]*\) | `\([a-z_@0]*\)` |$/\1|\2|\3/p' "$page")
    [ $lines -eq 17 ] || fail "$lines lines in shmem.md"
    costs getting waits local
    costs puts n rollback
}
deaths_cost_as_documented_direct() { deaths_cost_as_documented direct; }
deaths_cost_as_documented_served() { deaths_cost_as_documented served; }

# at a drawn moment, with the promise and without
kernel()
{
    local promise

    for promise in y waits n; do
        (cd "$scratch" && "$here/../../../perf/kernels/shmem/kills" -n 1 -s $RANDOM "$build" "$1" -x KEEL_OPLOG_SIZE=16m \
            -x SHMEM_SYMMETRIC_SIZE=8M -x SHMEM_KEEL_DETERMINISTIC=$promise) >"$out" 2>"$err" || fail "$1 with $promise"
        cat "$out"
    done
}
isx_survives() { kernel "shmem_isx 4000 15"; }
gups_survives() { kernel "shmem_gups 4096 1000 40"; }
heat_survives() { kernel "shmem_heat_2d 64 300"; }
bfs_survives() { kernel "shmem_bfs 10 10"; }

# with itself: no ratio is checked; calls of one PE at another, collectives, kernels
times_are_compared()
{
    local bin=$build/src/adapters/shmem/wrappers/bin

    "$here/../../../perf/kernels/shmem/beside" -n 1 -p "2 3" -k "none waits" -c 300 -s 2 -l "" -o csv "$build" "$bin/oshcc" "$bin/oshrun" \
        >"$out" 2>"$err" || fail "nothing is compared"
    has "$out" 1 '^pes,protect,call,bytes,keel_us,other_us,quartile1,median,quartile3,goal,met$'
    has "$out" 75 '^2,none,[a-z_]*,[0-9]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,1.00,[a-z]*$'
    has "$out" 75 '^2,waits,[a-z_]*,[0-9]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,,$'
    has "$out" 7 '^3,none,[a-z_]*,[0-9]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,1.00,[a-z]*$'
    has "$out" 7 '^3,waits,'
    has "$out" 165 .
}

# what is made of five rounds: nearest ranks of the ratios, the others' mistakes, own ones, rounds that are incomplete
times_are_judged()
{
    local round judged=$here/../../../perf/kernels/shmem/beside.awk

    for round in 0 1 2 3 4; do
        echo "$round 2 none put 8 $((round + 1))"
        echo "$round 2 other put 8 4"
        echo "$round 2 y fetch_add 8 $((9 - round))"
        echo "$round 2 other fetch_add 8 2"
        echo "$round 2 none fetch_or 8 1"
        echo "$round 2 other fetch_or 8 wrong"
        echo "$round 2 none cswap 4 1"
    done >"$scratch/lines"
    awk -v format=csv -f "$judged" "$scratch/lines" >"$out" || fail "status $?"
    has "$out" 1 '^2,none,put,8,3.0000,4.0000,0.500,0.750,1.000,1.00,yes$'
    has "$out" 1 '^2,y,fetch_add,8,7.0000,2.0000,3.000,3.500,4.000,2.00,no$'
    has "$out" 1 '^2,none,fetch_or,8,,,,,,,the other is wrong$'
    has "$out" 1 '^2,none,cswap,4,,,,,,,the other ends$'
    awk -v format=json -f "$judged" "$scratch/lines" >"$out" || fail "status $?"
    python3 -c 'import json, sys; rows = json.load(sys.stdin)["rows"]; assert len(rows) == 4 and rows[0]["median"] == 0.75, rows' \
        <"$out" || fail "no JSON"
    awk -v format=markdown -f "$judged" "$scratch/lines" >"$out" || fail "status $?"
    has "$out" 1 '^| 2 | put | 8 | 4.000 | 3.000: 0.50 0.75 1.00 |  |$'
    has "$out" 1 '^| 2 | fetch_add | 8 | 2.000 |  | 7.000: \*\*3.00\*\* 3.50 4.00 |$'
    has "$out" 1 '^| 2 | fetch_or | 8 | the other is wrong |  |  |$'
    echo "0 2 none put 8 wrong" | cat - "$scratch/lines" | awk -v format=csv -f "$judged" >"$out" 2>"$err" && fail "own mistake"
    grep -q 'wrong on Keel: 2 none put 8' "$err" || fail "not named"
    grep -v '^3 2 other put' "$scratch/lines" | awk -v format=csv -f "$judged" >"$out" 2>"$err" && fail "no line of round 3"
    grep -q 'no line of round 3: 2 none put 8' "$err" || fail "not named"
}

run_case
