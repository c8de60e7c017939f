#!/bin/bash
# One case of libkeel-preload.so: preload_test.sh DIRECTORY-OF-THE-BUILD CASE. The programs know nothing of Keel, and know how many calls
# they make.
set -u

build=$(cd "$1" && pwd) name=$2
here=$(cd "$(dirname "$0")" && pwd)
library=$build/src/preload/libkeel-preload.so preload=$build/src/preload/keel-preload sum=$build/src/tools/keel_preload_sum
programs=$build/tests/proc
note='^keel-preload measures what logging by Keel would cost. It recovers nothing'
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for variable in ${!KEEL_*} ${!UCX_*}; do
    unset "$variable"
done

fail()
{
    echo "$name: $*"
    tail -n 40 "$scratch"/{out,err,sum.json} 2>/dev/null
    exit 1
}

skip()
{
    echo "skipped: $*"
    exit 77
}

# measured PROGRAM...: under the library; its output in out, the sum in sum.json
measured()
{
    timeout 120 "$preload" -s 4m -o "$scratch/sum.json" "$@" >"$scratch/out" 2>"$scratch/err" || fail "status $? of $*"
}

# count NAME: a number of the sum
count()
{
    sed -n '/^"sum": /{s/, "workers": .*//;s/.*"'"$1"'": \([-0-9.e+]*\).*/\1/p}' "$scratch/sum.json"
}

# is NAME NUMBER...: that number of the sum is one of these
is()
{
    local field=$1 value number

    value=$(count "$field")
    shift
    for number; do
        [ "$value" != "$number" ] || return 0
    done
    fail "$field is ${value:-missing}, not $*"
}

# as_printed: each "NAME COUNT" line of the program is a number of the sum
as_printed()
{
    local field number lines=0

    while read -r field number; do
        is "$field" "$number"
        lines=$((lines + 1))
    done <"$scratch/out"
    [ $lines -ge 10 ] || fail "the program printed $lines lines"
}

each_generation_counts_once()
{
    measured "$programs/ucp_calls" -n 7
    as_printed
    is put_log_bytes $((35 * (16 + 64) + 84 * 48))
    is get_log_bytes $((28 * (24 + 64)))
    # UCX's own calls of newer generations were seen, and not counted
    [ "$(count nested_puts)" -gt 0 ] || fail "no nested puts: the guard was not tested"
    [ "$(count nested_flushes)" -gt 0 ] || fail "no nested flushes: the guard was not tested"
    measured env UCX_TLS=tcp "$programs/ucp_calls" -n 7
    as_printed
}

threads_count_apart()
{
    measured "$programs/ucp_calls" -n 50 -t 4 -s 1000
    as_printed
    is processes 1
}

# a callback that UCX runs inside ucp_get() gets, which is none of UCX's nested calls
callbacks_are_the_programs_own()
{
    measured env UCX_TLS=tcp "$programs/ucp_calls" -n 20 -c
    as_printed
    [ "$(sed -n 's/^gets //p' "$scratch/out")" -gt $((6 * 20)) ] || fail "no callback got anything"
}

a_child_is_silent()
{
    measured "$programs/ucp_calls" -f
    as_printed
    is processes 1
    LD_PRELOAD=$library "$programs/ucp_calls" -f >"$scratch/out" 2>"$scratch/err" || fail "status $?"
    [ "$(grep -c "$note" "$scratch/err")" -eq 1 ] || fail "not one report"
    head -1 "$scratch/err" | grep -q "$note" || fail "the first line does not say what this is"
}

# exit handlers do not run there, and the sum says so
lost_processes_are_named()
{
    local how status

    for how in -k -x; do
        rm -rf "$scratch/reports"
        "$preload" -s 4m -d "$scratch/reports" "$programs/ucp_calls" $how >"$scratch/out" 2>"$scratch/err"
        status=$?
        [ $how = -x ] || [ $status -eq 137 ] || fail "the status of a killed program is $status"
        "$sum" "$scratch/reports" >"$scratch/out" 2>"$scratch/err" || fail "status $? of the sum"
        grep -q '^not counted: 1 processes' "$scratch/out" || fail "$how: the lost process is not named"
        "$sum" -o "$scratch/sum.json" "$scratch/reports" || fail "status $? of the sum"
        grep -q '^{"lost_processes": 1,$' "$scratch/sum.json" || fail "$how: not in JSON"
    done
}

launchers_are_silent()
{
    local launcher

    LD_PRELOAD=$library sh -c 'true | cat; ls / >/dev/null' >"$scratch/out" 2>&1
    [ ! -s "$scratch/out" ] || fail "the shell prints"
    for launcher in mpirun.openmpi mpiexec.mpich; do
        if command -v $launcher >/dev/null; then
            LD_PRELOAD=$library timeout 60 $launcher -n 1 true >"$scratch/out" 2>&1 || fail "$launcher: status $?"
            [ ! -s "$scratch/out" ] || fail "$launcher prints"
        fi
    done
    "$preload" true >"$scratch/out" 2>"$scratch/err" || fail "status $?"
    grep -q 'no process made a one-sided call of UCP' "$scratch/err" || fail "nothing is said of a program without UCP"
    "$preload" sh -c 'exit 7' >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 7 ] || fail "the status is not the program's"
}

# far more is put than the log holds, by more lists than there are segments; sizes are those of all records
logs_are_bounded()
{
    local all=$((5 * 40 * (5 * 16 + 300000 / 8 * 8)))

    measured "$programs/ucp_calls" -n 40 -s 300000
    as_printed
    is put_log_bytes $((all + 40 * 12 * 48))
    [ "$(count copied_bytes)" -gt $((4 << 20)) ] || fail "the ring was not overwritten"
    is records_without_room 0
    timeout 120 "$preload" -s 200k -o "$scratch/sum.json" "$programs/ucp_calls" -n 20 -s 100000 -t 6 >"$scratch/out" 2>"$scratch/err" ||
        fail "status $?"
    as_printed
    [ "$(count records_without_room)" -gt 0 ] || fail "six threads in three segments, and no record was left out"
}

count_mode_copies_nothing()
{
    measured env KEEL_PRELOAD_MODE=count "$programs/ucp_calls" -n 9
    as_printed
    is copied_bytes 0
    is put_log_bytes $((45 * (16 + 64) + 108 * 48))
    timeout 60 "$preload" -c "$programs/ucp_calls" >"$scratch/out" 2>"$scratch/err" || fail "status $?"
    grep -q 'nothing was copied' "$scratch/err" || fail "the text does not say so"
}

files_and_directories_are_written()
{
    local run="env LD_PRELOAD=$library KEEL_PRELOAD_SIZE=1m $programs/ucp_calls"

    mkdir "$scratch/reports"
    KEEL_PRELOAD_OUTPUT=$scratch/a.txt $run >"$scratch/out" || fail "status $?"
    grep -q "$note" "$scratch/a.txt" || fail "no text"
    KEEL_PRELOAD_OUTPUT=$scratch/a.json $run >"$scratch/out" || fail "status $?"
    KEEL_PRELOAD_OUTPUT=$scratch/a.json $run >"$scratch/out" || fail "status $?"
    [ "$(wc -l <"$scratch/a.json")" -eq 2 ] || fail "a file is not appended to"
    KEEL_PRELOAD_OUTPUT=$scratch/reports $run >"$scratch/out" || fail "status $?"
    [[ $(find "$scratch/reports" -type f) == *.json ]] || fail "the directory holds $(ls "$scratch/reports")"
    [ "$(find "$scratch/reports" -type f | wc -l)" -eq 1 ] || fail "the directory holds $(ls "$scratch/reports")"
    "$sum" "$scratch/reports" >"$scratch/out" 2>"$scratch/err" || fail "status $?"
    grep -qE "^pid [1-9][0-9]* \(ucp_calls on $(hostname)\): " "$scratch/out" || fail "the sum of one report does not name its process"
    "$sum" -o "$scratch/sum.json" "$scratch/a.json" "$scratch/reports" || fail "status $?"
    is processes 3
    is puts 45
    ! command -v python3 >/dev/null || python3 -m json.tool "$scratch/sum.json" >"$scratch/out" || fail "no JSON"
    KEEL_PRELOAD_OUTPUT=/nowhere/x $run >"$scratch/out" 2>"$scratch/err" || fail "status $? without a place for the output"
    grep -q '^keel-preload: KEEL_PRELOAD_OUTPUT=/nowhere/x: No such file' "$scratch/err" || fail "no word of the output that is lost"
}

wrong_options_are_refused()
{
    local options

    while read -r options; do
        # shellcheck disable=SC2086
        "$preload" $options >"$scratch/out" 2>"$scratch/err"
        [ $? -eq 2 ] || fail "not refused: keel-preload $options"
        [ "$(wc -l <"$scratch/err")" -eq 1 ] || fail "more than a line: keel-preload $options"
    done <<'END'
--nothing true
-o
-s 4m
-o x -d y true
END
    "$sum" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 2 ] || fail "keel_preload_sum without a place"
    echo '{"puts": x' >"$scratch/bad.json"
    "$sum" "$scratch/bad.json" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 1 ] || fail "a bad file is read"
    grep -q 'no file of reports' "$scratch/err" || fail "a bad file is not named"
    KEEL_PRELOAD_SIZE=much KEEL_PRELOAD_MODE=x LD_PRELOAD=$library "$programs/ucp_calls" >"$scratch/out" 2>"$scratch/err" || fail "status $?"
    [ "$(grep -cE '^keel-preload: KEEL_PRELOAD_(SIZE=much|MODE=x): ' "$scratch/err")" -eq 2 ] || fail "wrong settings are not named"
}

# perf/preload: a row for each test and size, with ratios above 0
table_is_printed()
{
    command -v ucx_perftest >/dev/null || skip "no ucx_perftest"
    "$here/../../perf/preload" -n 2 -i 300 -s "8 5000" -t "put_bw get fadd" "$build" >"$scratch/out" 2>"$scratch/err" || fail "status $?"
    awk -F, 'NR == 1 { columns = NF; next }
        { for (i = 3; i < 10; i++) if ($i !~ /^[0-9.]+$/ || $i <= 0) bad = 1; names = names " " $1 $2 }
        NF != columns || $4 > $5 || $5 > $6 || $7 > $8 || $8 > $9 || $10 !~ /^[0-9.]+$/ { bad = 1 }
        END { exit bad || columns != 10 || names != " put_bw8 put_bw5000 get8 get5000 fadd8" }' "$scratch/out" || fail "no table"
    PATH=/nowhere "$BASH" "$here/../../perf/preload" "$build" >"$scratch/out" 2>"$scratch/err"
    [ $? -eq 77 ] || fail "without ucx_perftest the status is not 77"
}

# a program that has UCX in a component alone would get it too early
nothing_else_is_linked()
{
    local extra

    extra=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libdl|libpthread|ld-linux.*)\.so')
    [ -z "$extra" ] || fail "linked with $extra"
    extra=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^ucp_')
    [ -z "$extra" ] || fail "exported: $extra"
}

# without warm-up, the number of iterations; tests that keep several outstanding make one call more, at their end
ucx_perftest_is_counted()
{
    local test field

    command -v ucx_perftest >/dev/null || skip "no ucx_perftest"
    while read -r test field; do
        measured ucx_perftest -l -t "$test" -n 3000 -w 0
        is "$field" 3000 3001
        is processes 1
    done <<'END'
ucp_put_lat puts
ucp_put_bw puts
ucp_get gets
ucp_add atomics
ucp_fadd atomics
ucp_swap atomics
ucp_cswap atomics
END
}

mpi_program()
{
    [ -x "$programs/preload_mpi_$1" ] || skip "no $1"
    command -v "$2" >/dev/null || skip "no $2"
}

# osc/ucx adds to a word under a lock of the window, which is an atomic at its begin and one at its end
openmpi_is_counted()
{
    mpi_program openmpi mpirun.openmpi
    # Open MPI 5 refuses its osc/ucx without InfiniBand, unless any transport and device will do
    measured mpirun.openmpi --oversubscribe -n 2 --mca osc ucx --mca opal_common_ucx_tls any --mca opal_common_ucx_devices any \
        --mca btl self,vader "$programs/preload_mpi_openmpi" 300 200 10
    is puts 600
    is gets 400
    is atomics 20 60
    is processes 2
    is put_bytes $((600 * 64))
    grep -q '"targets": \[{"worker": "0x[0-9a-f]*", "rank": 0, .*"rank": 1, ' "$scratch/sum.json" || fail "targets without ranks"
}

# MPICH's atomics are active messages, which are counted as what is not seen
mpich_is_counted()
{
    mpi_program mpich mpiexec.mpich
    measured mpiexec.mpich -n 2 "$programs/preload_mpi_mpich" 300 200 10
    is puts 600
    is gets 400
    [ $(($(count atomics) + $(count active_messages))) -ge 20 ] || fail "no trace of atomics"
    timeout 60 "$preload" mpiexec.mpich -n 2 "$programs/preload_mpi_mpich" 30 20 10 >"$scratch/out" 2>"$scratch/err" || fail "status $?"
    [ "$(count atomics)" -gt 0 ] || grep -q 'not seen: accesses inside of active messages ([0-9]* were sent)' "$scratch/err" ||
        fail "the text does not say what is not seen"
}

oshmem_is_counted()
{
    local compiler

    if ! compiler=$(command -v oshcc) || ! command -v oshrun >/dev/null || ! oshmem_info >/dev/null 2>&1; then
        skip "no OSHMEM of Open MPI"
    fi
    "$compiler" -o "$scratch/preload_shmem" "$here/preload_shmem.c" >"$scratch/out" 2>&1 || fail "does not compile"
    # openib ends by a signal in shmem_finalize() of Debian 12, also without the library
    measured oshrun --oversubscribe -n 2 --mca btl ^openib "$scratch/preload_shmem" 300 200 10
    is puts 600
    is gets 400
    is atomics 20
    is fetching_atomics 20
    is processes 2
}

declare -F "$name" >/dev/null || fail "no such case"
"$name"
