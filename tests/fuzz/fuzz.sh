#!/bin/bash
# Runs one fuzzer: fuzz.sh BUILD_DIRECTORY TARGET runs N | seconds S [LIBFUZZER_OPTIONS...].
# With runs it tries N inputs made of the corpus in the source tree by a fixed seed: the same ones every time. With seconds the
# seed is a fresh one, which is printed, and what earlier such runs found is gone on from. New inputs and findings go to
# BUILD_DIRECTORY/fuzz/TARGET.
set -u
build=$1 target=$2 kind=$3 much=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
work=$build/fuzz/$target
fixed=()
case $kind in
runs)
    found=$work/fixed
    rm -rf "$found"
    set -- -seed=1 -runs="$much" -reload=0 "$@"
    # where functions lie in memory has an influence on what is tried next
    ! setarch -R true 2> /dev/null || fixed=(setarch -R)
    ;;
seconds)
    found=$work/found
    set -- -max_total_time="$much" "$@"
    ;;
*)
    echo "fuzz.sh: '$kind' is neither runs nor seconds" >&2
    exit 2
    ;;
esac
mkdir -p "$found" "$work/crash" || exit 1

# standard error is the fuzzer's own; a message about each refused input would be all that it says
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 UCX_HANDLE_ERRORS=none
"${fixed[@]}" "$build/tests/fuzz/fuzz_$target" -timeout=30 -rss_limit_mb=2048 -max_len=4608 -close_fd_mask=2 \
    -print_final_stats=1 -artifact_prefix="$work/crash/" "$@" "$found" "$here/corpus/$target" >"$work/output" 2>&1
status=$?
grep -aE '^(INFO: Seed|stat::|#.*(INITED|DONE)|artifact|==|SUMMARY)' "$work/output"
if [ $status -ne 0 ]; then
    tail -n 40 "$work/output"
    echo "fuzz_$target: status $status; the input lies in $work/crash, run it by $build/tests/fuzz/fuzz_$target FILE"
fi
exit $status
