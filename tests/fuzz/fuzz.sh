#!/bin/bash
# Runs one fuzzer on its corpus and what it finds from there: fuzz.sh BUILD_DIRECTORY TARGET SECONDS [LIBFUZZER_OPTIONS...].
# New inputs and findings go to BUILD_DIRECTORY/fuzz/TARGET.
set -u
build=$1 target=$2 seconds=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
work=$build/fuzz/$target
mkdir -p "$work/found" "$work/crash" || exit 1

# standard error is the fuzzer's own; a message about each refused input would be all that it says
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 UCX_HANDLE_ERRORS=none
"$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4608 -close_fd_mask=2 \
    -print_final_stats=1 -artifact_prefix="$work/crash/" "$@" "$work/found" "$here/corpus/$target" >"$work/output" 2>&1
status=$?
grep -aE '^(stat::|#.*(INITED|DONE)|artifact|==|SUMMARY)' "$work/output"
if [ $status -ne 0 ]; then
    tail -n 40 "$work/output"
    echo "fuzz_$target: status $status; the input lies in $work/crash, run it by $build/tests/fuzz/fuzz_$target FILE"
fi
exit $status
