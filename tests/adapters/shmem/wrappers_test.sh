#!/bin/bash
# One case of the wrappers: wrappers_test.sh DIRECTORY-OF-THE-BUILD CASE.
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

run_case
