#!/bin/bash
# One case of global variables as symmetric objects: globals_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2034,SC2154 # for proc_lib.sh, and of it
set -u

build=$1 name=$2
wrappers=$build/src/adapters/shmem/wrappers/bin
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$wrappers/oshrun
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$here/../../proc/proc_lib.sh"
export KEEL_OPLOG_SIZE=4m KEEL_GETLOG_SIZE=1m SHMEM_SYMMETRIC_SIZE=4M

# compiles OUTPUT SOURCE ARGUMENTS...: status 1 where the compiler cannot
compiles()
{
    local output=$1 source=$2
    shift 2

    "$wrappers/oshcc" -O2 -Wall -I"$here/../../lib" -o "$scratch/$output" "$here/$source" "$@" >"$out" 2>"$err"
}

# counting OUTPUT SOURCE ARGUMENTS...: the same with a shared library of the program's
counting()
{
    local output=$1 source=$2
    shift 2

    cc -shared -fPIC -o "$scratch/libcounting.so" "$here/counting.c" || fail "no shared library"
    compiles "$output" "$source" "$@" -L"$scratch" -lcounting -Wl,-rpath,"$scratch"
}

accesses_are_right()
{
    local pes

    compiles a global_variables.c -Werror || fail "not compiled"
    for pes in 1 2 4 8; do
        run 0 -np $pes --nodes $(((pes + 1) / 2)) -x KEEL_LANES="$1" "$scratch/a"
        has "$out" $pes '^global_variables: PE [0-9]*: right$'
    done
}
globals_are_accessed_direct() { accesses_are_right direct; }
globals_are_accessed_served() { accesses_are_right served; }

# however the program is linked, and in C++
globals_are_accessed_as_linked()
{
    local flags

    for flags in "-pie -fPIE" "-Wl,-z,norelro" "-Wl,-z,norelro -Wl,-z,lazy" -s -fuse-ld=gold -fuse-ld=lld "-fuse-ld=lld -pie -fPIE"; do
        # shellcheck disable=SC2086
        if ! compiles a global_variables.c $flags; then
            [[ $flags == -fuse-ld* ]] || fail "not compiled with $flags"
            continue # no such linker here
        fi
        run 0 -np 3 "$scratch/a"
        has "$out" 3 '^global_variables: PE [0-9]*: right$'
    done
    cp "$here/global_variables.c" "$scratch/a.cc"
    "$wrappers/oshc++" -O2 -include iostream -o "$scratch/a" "$scratch/a.cc" || fail "no C++"
    run 0 -np 3 "$scratch/a"
    has "$out" 3 '^global_variables: PE [0-9]*: right$'
}

globals_return()
{
    local flags

    for flags in -O0 "-Wl,-z,norelro -Wl,-z,lazy" -fuse-ld=lld; do
        # shellcheck disable=SC2086
        if ! counting a globals_return.c $flags; then
            [[ $flags == -fuse-ld* ]] || fail "not compiled with $flags"
            continue
        fi
        run 0 -np 4 --nodes 4 -x KEEL_LANES="$1" "$scratch/a" 30 -
        sort "$out" >"$scratch/right"
        run 0 -np 4 --nodes 4 -x KEEL_LANES="$1" "$scratch/a" 30 1@7.0,2@14.1,0@22.0
        sort "$out" | diff - "$scratch/right" >&2 || fail "other results with deaths"
        has "$err" 0 'started anew'
        has "$err" 0 warning
    done
}
globals_return_direct() { globals_return direct; }
globals_return_served() { globals_return served; }

# all PEs are lost, keelrun too: the same command goes on with the global variables, and its sums are those of a job without that
lost_globals_return_from_files()
{
    local lanes files=(-x "KEEL_FILE_DIR=$scratch/files" -x KEEL_FILE_INTERVAL=0 -x KEEL_LOG_LEVEL=info)

    counting a globals_return.c || fail "not compiled"
    for lanes in direct served; do
        rm -rf "$scratch/files"
        run 0 -np 4 --nodes 4 -x KEEL_LANES=$lanes "$scratch/a" 30 -
        sort "$out" >"$scratch/right"
        lost 1@4.1,1@14.1 -np 4 --nodes 4 -x KEEL_LANES=$lanes "${files[@]}" "$scratch/a" 30 -
        run 0 -np 4 --nodes 4 -x KEEL_LANES=$lanes "${files[@]}" "$scratch/a" 30 -
        sort "$out" | diff - "$scratch/right" >&2 || fail "other results after a restart"
        has "$err" 1 'the job restarts from checkpoint [1-9][0-9]* in'
    done
}

what_globals_cannot_is_said()
{
    local word

    compiles a global_variables.c || fail "not compiled"
    for word in library local beyond; do
        run 1 -np 2 "$scratch/a" $word
        grep -q '^shmem 0 error: shmem_[a-z_]*: neither in the symmetric heap nor a global variable of the program: 0x' "$err" ||
            fail "$word: no message"
    done
    run 1 -np 2 -x SHMEM_KEEL_GLOBALS=n "$scratch/a"
    grep -q '^shmem [01] error: shmem_[a-z_]*: not in the symmetric heap; global variables are not symmetric here, SHMEM_KEEL_GLOBALS says so: 0x' "$err" ||
        fail "no message that they are not symmetric"
    counting a globals_return.c -pie -fPIE || fail "not compiled"
    run 1 -np 2 --nodes 2 "$scratch/a" 30 -
    grep -q '^shmem [01] error: shmemx_globals: a replacement has the program at other addresses: link it by oshcc' "$err" || fail "no message"
}

# Where the file does not tell them: by messages. A program that is run by naming its loader, and one without section headers; the job is
# started anew when a PE dies, with the promise and without, at a restart point or not.
globals_are_served()
{
    local lanes promise flags

    export GLOBALS_ARE_SERVED=y
    for flags in "" "-pie -fPIE" "-Wl,-z,norelro"; do
        # shellcheck disable=SC2086
        compiles a global_variables.c -Werror $flags || fail "not compiled with $flags"
        run 0 -np 3 --nodes 2 /lib64/ld-linux-x86-64.so.2 "$scratch/a"
        has "$out" 3 '^global_variables: PE [0-9]*: right$'
    done
    compiles heat plain_heat.c || fail "not compiled"
    run 0 -np 4 --nodes 4 "$scratch/heat" 40 -
    sort "$out" >"$scratch/right"
    # e_shoff, then e_shnum and e_shstrndx
    dd if=/dev/zero of="$scratch/heat" bs=1 seek=40 count=8 conv=notrunc 2>/dev/null
    dd if=/dev/zero of="$scratch/heat" bs=1 seek=60 count=4 conv=notrunc 2>/dev/null
    for lanes in direct served; do
        run 0 -np 4 --nodes 4 -x KEEL_LANES=$lanes -x SHMEM_DEBUG=1 "$scratch/heat" 40 -
        sort "$out" | diff - "$scratch/right" >&2 || fail "other results when served"
        has "$err" 4 "global variables in 0 bytes at 0x0: the program's file does not say where they are$"
        for promise in n waits; do
            run 0 -np 4 --nodes 4 -x KEEL_LANES=$lanes -x SHMEM_KEEL_DETERMINISTIC=$promise "$scratch/heat" 40 2@13.1
            has "$err" 1 '^keelrun: the job is started anew (1 of 1)$'
            sort -u "$out" | diff - "$scratch/right" >&2 || fail "other results after a death"
        done
    done
    compiles a globals_return.c -x c "$here/counting.c" || fail "not compiled"
    dd if=/dev/zero of="$scratch/a" bs=1 seek=40 count=8 conv=notrunc 2>/dev/null
    dd if=/dev/zero of="$scratch/a" bs=1 seek=60 count=4 conv=notrunc 2>/dev/null
    run 75 -np 4 --nodes 4 --job-restarts 0 "$scratch/a" 30 1@17.0
    grep -q 'global variables are served here, which nobody can bring back: the job has to be started anew$' "$err" || fail "not said why"
}

pointers_are_warned_of()
{
    compiles a global_pointers.c -g || fail "not compiled"
    run 0 -np 2 --nodes 2 "$scratch/a"
    has "$err" 1 '^shmem 0 warning: 4 global variables look as if they pointed to private memory, .*: [a-z_, ]*$'
    for word in function private_name trace several; do
        has "$err" 1 "[:,] $word\\(,\\|\$\\)"
    done
    run 0 -np 2 --nodes 2 "$scratch/a" used
    one_line '^shmem 0 warning: others put to global variables, or read them, and no checkpoint has these: shmemx_globals(1) is missing'
    run 0 -np 2 --nodes 2 "$scratch/a" declined
    has "$err" 0 .
}

run_case
