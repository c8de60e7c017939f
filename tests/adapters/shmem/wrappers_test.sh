#!/bin/bash
# One case of the wrappers: wrappers_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2016 # for another shell
set -u

build=$1 name=$2
wrappers=$build/src/adapters/shmem/wrappers/bin
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$wrappers/oshrun
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$here/../../proc/proc_lib.sh"
export KEEL_OPLOG_SIZE=1m KEEL_GETLOG_SIZE=1m SHMEM_SYMMETRIC_SIZE=4M

compiles() # WRAPPER ARGUMENTS...
{
    local wrapper=$1
    shift

    "$wrappers/$wrapper" "$@" >"$out" 2>"$err" || fail "$wrapper $*"
}

# as the programs of the public suites are built: in one step and in two, C and C++, by the old folder's header
programs_are_compiled()
{
    compiles oshcc -O2 -Wall -Werror -o "$scratch/a" "$here/plain_ring.c" -lm
    run 0 -np 3 "$scratch/a"
    has "$out" 1 '^plain_ring: 3 PEs: 6$'
    compiles oshcc -c -o "$scratch/a.o" "$here/plain_ring.c"
    compiles oshcc -o "$scratch/a" "$scratch/a.o"
    run 0 -n 2 "$scratch/a"
    has "$out" 1 '^plain_ring: 2 PEs: 3$'
    cp "$here/plain_ring.c" "$scratch/a.cc"
    compiles oshc++ -Wall -Werror -o "$scratch/a" "$scratch/a.cc"
    run 0 "$scratch/a"
    has "$out" 1 '^plain_ring: 1 PEs: 1$'
    compiles oshcc -pie -fPIE -o "$scratch/a" "$here/plain_ring.c"
    run 0 -np 2 "$scratch/a"
    "$wrappers/oshcc" "$scratch/none.c" 2>"$err" && fail "a file that is not there was compiled"
    "$wrappers/oshcc" 2>"$err" && fail "nothing was compiled"
    has "$err" 1 '^oshcc: no files; see oshcc --help$'
    OSHCC_CC='no-such-compiler -m64' "$wrappers/oshcc" a.c 2>"$err" && fail "no compiler compiled"
    has "$err" 1 '^oshcc: no compiler no-such-compiler; OSHCC_CC names another$'
}

commands_are_shown()
{
    compiles oshcc --showme a.c
    has "$out" 1 '^cc -I[^ ]* -I[^ ]* a\.c -no-pie -Wl,-z,now -L[^ ]* .*-lkeel-shmem$'
    compiles oshcc --showme -c a.c
    has "$out" 1 '^cc -I[^ ]* -I[^ ]* -c a\.c$'
    compiles oshc++ -show -shared a.cc
    has "$out" 1 '^c++ -I.* -shared a\.cc -L'
    compiles oshcc --showme:compile
    has "$out" 1 '^-I[^ ]* -I[^ ]*$'
    compiles oshcc --showme:link
    has "$out" 1 '^-no-pie .*-lkeel-shmem$'
    compiles oshcc --version
    [ -s "$out" ] || fail "the compiler has no version"
    compiles oshcc -h
    has "$out" 1 '^Usage: oshcc '
    compiles oshc++ --help
    has "$out" 1 '^Usage: oshc++ '
    compiles oshrun --help
    has "$out" 1 '^Usage: oshrun '
}

# status, environment, arguments, options of keelrun, and what is wrong
programs_are_started()
{
    # shellcheck disable=SC2016 # the shells of the PEs are to expand these
    {
        export OWN=here
        run 0 -np 2 -x GIVEN=there -x OWN sh -c 'echo "$0 $1 $OWN $GIVEN"' one -np
        has "$out" 2 '^one -np here there$'
        run 7 -np 2 sh -c 'exit 7'
        run 0 --np=2 --nodes 2 --tag -- sh -c 'echo $KEELRUN_NODE'
    }
    has "$out" 1 '^\[1\] 1$'
    run 127 -np 2 "$scratch/none"
    run 2 -np two true
    has "$err" 1 "^oshrun: -np needs a number of PEs, not 'two'; see oshrun --help$"
    run 2 -np 2
    has "$err" 1 '^oshrun: no program; see oshrun --help$'
    run 2 -np
    run 2 -x 1=2 true
    run 2 --launcher yod true
    has "$err" 1 "^oshrun: no launcher 'yod'; "
    run 2 -np 2 --no-such-option true
    has "$err" 1 "^keelrun: unknown option '--no-such-option'"
    run 127 --launcher "$scratch/mpirun" true
}

# by another launcher, which is here as what it is called with
launchers_are_called()
{
    local launcher

    export SHMEM_INFO=1 KEEL_SPAWN=2
    for launcher in mpirun prterun srun; do
        printf '#!/bin/sh\necho "%s $*"; echo "$A"\n' $launcher >"$scratch/$launcher"
        chmod +x "$scratch/$launcher"
    done
    run 0 -np 4 -x A=b --launcher "$scratch/mpirun --mca c d" prog e
    has "$out" 1 '^mpirun --mca c d --enable-recovery --oversubscribe -n 4 .*-x SHMEM_INFO=1 .*-x A=b prog e$'
    has "$out" 1 '.*-x KEEL_SPAWN=2 '
    run 0 -np 4 -x A=b --launcher "$scratch/prterun" prog e
    has "$out" 1 '^prterun --runtime-options recoverable,notifyerrors --map-by :oversubscribe -n 4 .*-x A=b prog e$'
    OSHRUN_LAUNCHER=$scratch/srun run 0 -np 4 -x A=b prog e
    has "$out" 1 '^srun --mpi=pmix -n 4 prog e$'
    has "$out" 1 '^b$'
}

# statuses of jobs under launchers that say 0 of all of them, their input and output, and signals
failures_under_launchers_are_reported()
{
    local launcher=$scratch/mpirun

    # what each of its runs says on standard error; and ends with $STATUS
    cat >"$launcher" <<'END'
#!/bin/bash
runs=$(($(cat "$RUNS" 2>/dev/null) + 1))
echo $runs >"$RUNS"
[ -z "${INPUT:-}" ] || cat
echo "run $runs"
sed -n "${runs}p" "$SAID" >&2
[ -z "${STAYS:-}" ] || { trap 'echo ended; exit 7' TERM; echo there; while :; do sleep 0.05; done; }
exit "${STATUS:-0}"
END
    chmod +x "$launcher"
    export RUNS=$scratch/runs SAID=$scratch/said
    told() # STATUS RUNS LINE...: what the first, the second run says
    {
        local expected=$1 runs=$2
        shift 2
        rm -f "$RUNS"
        printf '%s\n' "$@" >"$SAID"
        run "$expected" -np 2 --launcher "$launcher" prog
        has "$out" "$runs" '^run [12]$'
        has "$err" $((runs - 1)) '^oshrun: the job is started anew (1 of 1)$'
        head -n 1 "$SAID" | grep -qxFf - "$err" || fail "standard error does not come through"
    }
    local ends='keel: rank 1.0: the job ends without a result:'
    told 0 1 "something else"
    told 9 1 "$ends keel_abort with status 9"
    told 1 1 "$ends rank 2 died, and of 2 spares none is left to take its place"
    told 0 2 "$ends keel_abort with status 75" "fine"
    told 75 2 "$ends keel_abort with status 75" "$ends keel_abort with status 75"
    told 9 2 "$ends keel_abort with status 75" "$ends keel_abort with status 9"
    STATUS=5 told 5 1 "something else"
    STATUS=5 told 9 1 "$ends keel_abort with status 9"
    rm -f "$RUNS"
    [ "$(echo given | INPUT=y "$keelrun" -np 2 --launcher "$launcher" prog 2>/dev/null)" = $'given\nrun 1' ] || fail "no input"
    rm -f "$RUNS"
    echo fine >"$SAID"
    STAYS=y start -np 2 --launcher "$launcher" prog
    wait_for '^there$' "$out"
    kill "$pid"
    wait "$pid"
    [ $? -eq 7 ] || fail "another status after a signal"
    has "$out" 1 '^ended$'
}

# once under keelrun; again under Open MPI's launcher, as the documentation says
output_of_replacements_is_as_documented()
{
    compiles oshcc -O2 -Wall -Werror -o "$scratch/a" "$here/plain_output.c"
    export SHMEM_KEEL_DETERMINISTIC=y KEEL_SPAWN=1
    run 0 -np 2 --nodes 2 "$scratch/a"
    has "$out" 1 '^plain_output: PE 1 begins$'
    has "$out" 1 '^plain_output: PE 1 ends with 49$'
    if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        run 0 -np 2 --launcher mpirun "$scratch/a"
        has "$out" 1 '^plain_output: PE 0 begins$'
        has "$out" 2 '^plain_output: PE 1 begins$'
        has "$out" 1 '^plain_output: PE 1 ends with 49$'
    fi
}

run_case
