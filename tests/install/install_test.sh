#!/bin/bash
# Builds what is installed with one build type, installs it under another prefix than it was configured for, has programs compiled
# by pkg-config and all examples by CMake, with the shared library and the static one, run there, moves the prefix, and has them built
# and run again. Below DESTDIR lie the same files:
# install_test.sh SOURCES CMAKE TYPE GENERATOR COMPILER LAUNCHER [BUILD [prefix|moved]]. The type None is what packagers use, with their own flags
# and without asserts. With BUILD, a directory in which all is built, nothing is built; the last word is the one place to be tested.
set -u

sources=$1 cmake=$2 type=$3 generator=$4 compiler=$5 launcher=$6 build=${7:-} place=${8:-} built=
scratch=$(mktemp -d) || exit 1
if [ -z "$build" ]; then
    # as deep as other builds, so that a cache finds what is alike
    built=$(mktemp -d "$sources/build-install.XXXXXX" 2>/dev/null) || built=$scratch/build
    build=$built
fi
trap 'rm -rf "$scratch" ${built:+"$built"}' EXIT

held=$scratch/held_sleep.so
"$compiler" -shared -fPIC -o "$held" "$sources/tests/proc/held_sleep.c" -ldl || exit 1

mpis=''
for mpi in openmpi mpich; do
    ! command -v "mpicc.$mpi" >/dev/null || mpis="$mpis $mpi"
done

fail()
{
    echo "install: $type: $*"
    tail -n 40 "$scratch/out"
    exit 1
}

quietly()
{
    "$@" >"$scratch/out" 2>&1 || fail "$* failed"
}

# links_of FOLDER: what its documents link to, as paths
links_of()
{
    local page

    find "$1" -name '*.md' | while read -r page; do
        grep -oE '\]\([^)# ]+' "$page" | sed "s|^](|${page%/*}/|" | grep -vE '/https?:'
    done
}

# installed ROOT: no less and no more than belongs there
installed()
{
    local file mpi

    for file in bin/keelrun bin/keel_info bin/keel_plan bin/keel_perftest lib/libkeel.so lib/libkeel.a lib/pkgconfig/keel.pc \
        include/keel/keel.h include/keel/version.h lib/libkeel-shmem.so include/keel-shmem/shmem.h lib/pkgconfig/keel-shmem.pc \
        include/keel-shmem/shmemx.h include/keel-shmem/mpp/shmem.h bin/keel-oshcc bin/keel-oshc++ bin/keel-oshrun \
        bin/keel-preload bin/keel_preload_sum bin/keel_files bin/keel_trace lib/keel/libkeel-preload.so \
        lib/cmake/keel/keel-config.cmake lib/cmake/keel/keel-config-version.cmake share/doc/keel/README.md share/doc/keel/LICENSE \
        share/doc/keel/contrib/doc/deaths.md share/doc/keel/contrib/doc/protocol/recovery.md share/doc/keel/contrib/examples/CMakeLists.txt \
        include/keel/runtime.h include/keel/ucp.h lib/keel/openshmem/bin/oshcc lib/keel/openshmem/bin/oshc++ lib/keel/openshmem/bin/oshrun share/keel/perftest/sizes share/man/man7/keel.7 share/keel/machines/tsubame2.machine; do
        [ -e "$1/$file" ] || fail "$1/$file is missing: $(find "$1")"
    done
    for mpi in $mpis; do
        for file in lib/keel-mpi/$mpi/libkeel-mpi.so bin/keel-mpirun bin/keel-mpicc include/keel-mpi/keel_mpi.h; do
            [ -e "$1/$file" ] || fail "$1/$file is missing"
        done
    done
    while read -r file; do
        [ -e "$1/share/doc/keel/$file" ] || fail "a header cites $file, which is not installed"
    done < <(grep -rhoE 'contrib/doc/[a-z_/]*\.md' "$1/include" | sort -u)
    [ "$(links_of "$1/share/doc/keel" | wc -l)" -ge 100 ] || fail "only few links were found in the documents"
    while read -r file; do
        [ -e "$file" ] || fail "an installed document links to $file, which is not installed"
    done < <(links_of "$1/share/doc/keel")
    [ "$(ls "$1")" = "$(printf '%s\n' bin include lib share)" ] || fail "$1 holds $(ls "$1")"
}

# killed ROOT LINES PATTERN HELD JOB...: a job in which a rank is killed and comes back; LINES lines of its output fit PATTERN. HELD: the
# rank waits for its kill (tests/proc/held_sleep.c).
killed()
{
    local root=$1 lines=$2 pattern=$3
    local -x KEELTEST_HELD=$4

    shift 4
    quietly env LD_LIBRARY_PATH="$root/lib" KEEL_OPLOG_SIZE=1m KEEL_GETLOG_SIZE=1m KEELMPI_ARENA=8m "$@"
    grep -qE '^keel: rank [0-2] died on .*(recovered in|rolled back to)' "$scratch/out" || fail "no rank was killed by $*"
    [ "$(grep -cE "$pattern" "$scratch/out")" -eq "$lines" ] || fail "wrong output of $*, static ${linked:-OFF}"
}

# examples_work ROOT: all of them, by find_package(), shared and static; in each kind of each a rank is killed. OpenSHMEM and MPI have
# no archive.
examples_work()
{
    local root=$1 run=("$1/bin/keelrun" -x "LD_PRELOAD=$held" -n 3 --nodes 3 --timeout 60 --kill) examples=$scratch/examples linked mpi

    for linked in OFF ON; do
        rm -rf "$examples"
        quietly "$cmake" -S "$root/share/doc/keel/contrib/examples" -B "$examples" -G "$generator" \
            -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$root" -DKEEL_STATIC=$linked
        quietly "$cmake" --build "$examples"
        killed "$root" 3 '^rank [0-2], life [0-9]+: 524288$' 1:6 "${run[@]}" 1@0.3 "$examples/hello_keel"
        killed "$root" 3 '^rank [0-2], life [0-9]+: 524288$' 1:10 "${run[@]}" 1@0.2 "$examples/restart_point"
        killed "$root" 3 '^rank [0-2]: right$' 1:13 "${run[@]}" 1@marker:quarter "$examples/ucp_ring"
        killed "$root" 3 ': right,' '' timeout 100 "$examples/attach_launch" -n 3 -k 1 "$examples/attach"
    done
    linked=''
    # with this promise, and so without a checkpoint, too
    SHMEM_KEEL_DETERMINISTIC=y killed "$root" 3 '^PE [0-2], life [0-9]+: 1000000$' 1:100 "${run[@]}" 1@0.5 "$examples/hello_shmem"
    killed "$root" 3 '^PE [0-2], life [0-9]+: 100 steps, heat ' 1:51 "${run[@]}" '1@marker:PE 1, step 50' "$examples/listing1_shmem"
    [ "$(sed -n 's/.* steps, heat //p' "$scratch/out" | awk '{ sum += $1 } END { printf "%.3f", sum }')" = 6000.000 ] ||
        fail "heat was lost in listing1_shmem"
    for mpi in $mpis; do
        quietly "$root/bin/keel-mpicc" --mpi "$mpi" -o "$scratch/hash_mpi" "$root/share/doc/keel/contrib/examples/hash_mpi.c"
        killed "$root" 1 '^4500 keys, their sum right$' 1:10 "$root/bin/keel-mpirun" -x "LD_PRELOAD=$held" -n 3 --nodes 3 --timeout 60 --kill 1@anyone:third "$scratch/hash_mpi"
    done
}

# works ROOT: with nothing else in sight
works()
{
    local flags linked

    PKG_CONFIG_PATH=$1/lib/pkgconfig
    export PKG_CONFIG_PATH
    [ "$(cd "$(pkg-config --variable=prefix keel)" && pwd)" = "$(cd "$1" && pwd)" ] || fail "keel.pc does not name $1"
    "$1/bin/keel_info" -v >"$scratch/out" 2>&1 || fail "keel_info does not run"
    "$1/bin/keel_plan" --machine tsubame2 --ranks 100 >"$scratch/out" 2>&1 || fail "keel_plan does not find its machines"
    for linked in shared static; do
        if [ $linked = static ]; then
            mv "$1/lib" "$scratch/lib.all" && mkdir "$1/lib" && cp -r "$scratch/lib.all/libkeel.a" "$scratch/lib.all/pkgconfig" "$1/lib"
            flags=$(pkg-config --static --cflags --libs keel)
        else
            flags=$(pkg-config --cflags --libs keel)
        fi
        # shellcheck disable=SC2086
        quietly "$compiler" -o "$scratch/hello" "$sources/contrib/examples/hello_keel.c" $flags
        LD_LIBRARY_PATH=$1/lib "$1/bin/keelrun" -n 2 --timeout 40 -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m "$scratch/hello" \
            >"$scratch/out" 2>&1 || fail "a program linked with the $linked library does not run"
        [ "$(grep -c '^rank [01], life 0: 524288$' "$scratch/out")" -eq 2 ] || fail "wrong output with the $linked library"
    done
    rm -rf "${1:?}/lib"
    mv "$scratch/lib.all" "$1/lib"
    # shellcheck disable=SC2046
    quietly "$compiler" -o "$scratch/hello_shmem" "$sources/contrib/examples/hello_shmem.c" $(pkg-config --cflags --libs keel-shmem)
    LD_LIBRARY_PATH=$1/lib "$1/bin/keelrun" -n 2 --timeout 40 -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m "$scratch/hello_shmem" \
        >"$scratch/out" 2>&1 || fail "a program for OpenSHMEM does not run"
    [ "$(grep -c '^PE [01], life 0: 1000000$' "$scratch/out")" -eq 2 ] || fail "wrong output of the program for OpenSHMEM"
    # by the wrappers, of which a PATH chooses the short names
    quietly env PATH="$1/lib/keel/openshmem/bin:$PATH" OSHCC_CC="$compiler" oshcc -o "$scratch/hello_shmem" "$sources/contrib/examples/hello_shmem.c"
    "$1/bin/keel-oshrun" -np 2 --timeout 40 -x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m "$scratch/hello_shmem" \
        >"$scratch/out" 2>&1 || fail "a program does not run under oshrun"
    [ "$(grep -c '^PE [01], life 0: 1000000$' "$scratch/out")" -eq 2 ] || fail "wrong output under oshrun"
    examples_work "$1"
    # a program of UCX, and the wrapper finds what belongs to it
    # shellcheck disable=SC2046
    quietly "$compiler" -w -o "$scratch/ucp_calls" "$sources/tests/proc/ucp_calls.c" $(pkg-config --cflags --libs ucx) -pthread
    quietly "$1/bin/keel-preload" -s 4m "$scratch/ucp_calls"
    grep -q '^  put  *15 ' "$scratch/out" || fail "wrong report of keel-preload"
}

if [ -n "$built" ]; then
    [ "$type" != None ] || export CFLAGS="-O2 -DNDEBUG"
    # nothing may be written to where it was configured for
    quietly "$cmake" -S "$sources" -B "$build" -G "$generator" -DCMAKE_BUILD_TYPE="$type" -DKEEL_WERROR=ON \
        -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_COMPILER_LAUNCHER="$launcher" -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_INSTALL_PREFIX=/dev/null/never
    quietly "$cmake" --build "$build" -j "$(nproc)" --target src/all src/preload/all src/adapters/all src/tools/all contrib/keelrun/all \
        contrib/examples/all perf/all perf/kernels/all contrib/man/all
fi
quietly "$cmake" --install "$build" --prefix "$scratch/prefix"
installed "$scratch/prefix"
[ "$place" = moved ] || works "$scratch/prefix"
# below DESTDIR lie the same files, whatever the prefix
DESTDIR=$scratch/stage quietly "$cmake" --install "$build" --prefix /opt/keel
[ "$(ls "$scratch/stage")" = opt ] || fail "DESTDIR holds $(ls "$scratch/stage")"
diff -r "$scratch/prefix" "$scratch/stage/opt/keel" >"$scratch/out" 2>&1 || fail "an installation below DESTDIR has other files"
if [ "$place" != prefix ]; then
    # nothing is left where it was
    mv "$scratch/prefix" "$scratch/elsewhere"
    works "$scratch/elsewhere"
fi
