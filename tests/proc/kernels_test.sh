#!/bin/bash
# One case of what the kernels tell and find wrong: kernels_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun kernels=$build/perf/kernels
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=48m -x KEEL_GETLOG_SIZE=8m -x KEEL_CKPT_INTERVAL=off --timeout 50)

# column NAME: of the last line, by the header's name
column()
{
    awk -F, -v name="$1" '$1 == "kernel" { for (c = 1; c <= NF; c++) if ($c == name) at = c; next } { print $at }' "$out"
}

# told PATTERN: the sum of what the processes tell in such lines
told() { awk -v pattern="^kernel: [0-9.]+ $1\$" '$0 ~ pattern { sum += $2 } END { print sum + 0 }' "$err"; }

# is_true EXPRESSION: of awk
is_true() { awk "BEGIN { exit !($1) }"; }

# ---- what is told ---------------------------------------------------------------------------------------------------------

# death after 100 of 406 steps and a checkpoint after 81 of them: one rank does 19 again, or all four
steps_done_again_are_counted()
{
    local protect again=0

    run 0 -n 4 "${small[@]}" -x KERNEL_CPU=y "$kernels/cg" -c S --ckpt-every 3
    has "$err" 4 '^kernel: 0 steps done again$'
    for protect in all ckpt; do
        again=$((again + (again == 0 ? 19 : 57)))
        run 0 -n 4 "${small[@]}" -x KERNEL_CPU=y -x KEEL_PROTECT=$protect "$kernels/cg" -c S --ckpt-every 3 --die 2@100.1
        has "$err" 4 '^kernel: [0-9]* steps done again$'
        [ "$(told 'steps done again')" -eq $again ] || fail "not $again steps"
    done
    # without a checkpoint, to the start
    run 0 -n 4 "${small[@]}" -x KERNEL_CPU=y -x KEEL_PROTECT=ckpt "$kernels/cg" -c S --die 2@100.1
    has "$err" 4 '^kernel: 100 steps done again$'
    # how far one came that was killed by somebody else nobody can tell
    run 0 -n 4 "${small[@]}" -x KERNEL_CPU=y --kill '2@anyone:iteration 5 of' "$kernels/cg" -c S -n 100 -v --die 1@140.1:hold
    has "$err" 3 '^kernel: 0 steps done again$'
    has "$err" 3 'steps done again'
}

cpu_time_is_reported_by_every_process()
{
    local kind

    run 0 -n 3 "${small[@]}" -x KERNEL_CPU=y "$kernels/stencil" -n 10
    for kind in user system; do
        has "$err" 3 "^kernel: [0-9]*\.[0-9]\{6\} s of $kind time\$"
    done
    run 0 -n 3 "${small[@]}" -x KERNEL_CPU=y "$kernels/stencil_ml" -n 10
    for kind in user system; do
        has "$err" 3 "^kernel: [0-9]*\.[0-9]\{6\} s of $kind time\$"
    done
    run 0 -n 3 "${small[@]}" "$kernels/stencil" -n 10
    has "$err" 0 '^kernel:'
}

# is_little PART ...: a job tells less than this part of what it and the launcher used
is_little()
{
    local part=$1 whole
    shift

    times >"$scratch/before"
    run 0 "${small[@]}" -x KERNEL_CPU=y -x KEEL_PROTECT=none "$@"
    times >"$scratch/after"
    whole=$(tail -q -n 1 "$scratch/before" "$scratch/after" | tr 'ms' '  ' |
        awk '{ sum = 60 * $1 + $2 + 60 * $3 + $4 - sum } END { print sum }')
    is_true "$(told 's of user time') + $(told 's of system time') < $whole / $part" ||
        fail "more than one part of $part of $whole s: $*"
}

# a matrix, a heap and a log that take long to make, and little to do with them
what_is_set_up_is_not_timed()
{
    is_little 3 -n 1 "$kernels/cg" -c A -n 1
    is_little 20 -n 1 "$kernels/dht" -n 100 --closed --cells 20000000
    is_little 20 -n 2 "$kernels/dht_ml" -n 100 --closed --cells 20000000
}

# with think time nineteen times as long as inserts take, these are 5 % of it, also where the store finds that time by itself;
# others share the machine
share_of_inserts_is_reported()
{
    local insert_us share tries

    for ((tries = 0; tries < 10; tries++)); do
        run 0 -n 2 "${small[@]}" "$kernels/dht" --closed --csv
        [ "$(column communication_percent)" = 100 ] || fail "without think time not 100 %"
        [ "$(column think_us)" = 0 ] || fail "a think time"
        [ "$(head -n 1 "$out" | tr ',' '\n' | tail -n 1)" = communication_percent ] || fail "not the last column"
        insert_us=$(column insert_us)
        run 0 -n 2 "${small[@]}" "$kernels/dht" --csv --think-ns "$(awk "BEGIN { printf \"%d\", 19000 * $insert_us }")"
        share=$(column communication_percent)
        is_true "$share > 2 && $share < 12" || continue
        run 0 -n 2 "${small[@]}" "$kernels/dht" --csv
        share=$(column communication_percent)
        ! is_true "$share > 2 && $share < 12" || return 0
    done
    fail "inserts are $share %"
}

# logs that the problem of the warm-up does not fill, but those behind it do, and the clock ask for images; without a warm-up
# the first images are timed
images_of_a_timed_run_find_their_memory()
{
    local logs=(-n 2 -x KEEL_OPLOG_SIZE=60m -x KEEL_CKPT_INTERVAL=off "$kernels/ft" -c W --csv --repeat 3)
    local checkpoints=(-n 2 -x KEEL_PROTECT=ckpt -x KEEL_CKPT_INTERVAL=300ms "$kernels/ft" -c W --csv --repeat 30)

    run 0 "${logs[@]}" --warmup
    [ "$(column demand_checkpoints)" -ge 1 ] || fail "logs asked for no image"
    [ "$(column memory_made)" = 0 ] || fail "memory was made for images that logs asked for"
    run 0 "${logs[@]}"
    [ "$(column memory_made)" -gt 0 ] || fail "images without memory"
    run 0 "${checkpoints[@]}" --warmup
    [ "$(column checkpoints)" -ge 1 ] || fail "no checkpoint"
    [ "$(column memory_made)" = 0 ] || fail "memory was made for checkpoints"
    run 0 "${checkpoints[@]}"
    [ "$(column memory_made)" -gt 0 ] || fail "checkpoints without memory"
}

# not of the warm-up, which fills logs as far as all that is to come
peak_is_that_of_the_timed_run()
{
    local once

    run 0 -n 2 -x KEEL_OPLOG_SIZE=52m -x KEEL_OPLOG_SOFT=0 -x KEEL_CKPT_INTERVAL=off "$kernels/ft" -c S --warmup --csv
    once=$(column put_log_peak)
    run 0 -n 2 -x KEEL_OPLOG_SIZE=52m -x KEEL_OPLOG_SOFT=0 -x KEEL_CKPT_INTERVAL=off "$kernels/ft" -c S --warmup --csv --repeat 2
    [ "$(column put_log_peak)" = $((2 * once)) ] || fail "$once once, $(column put_log_peak) twice"
    has "$err" 0 'full'
}

# share: the most that logs may take, which is the same for all ranks
share()
{
    sed -n 's/.* info: logs take [0-9]* MiB, and up to \([0-9]*\) where images are large$/\1/p' "$err" | sort -u
}

# class A protects 128 MiB a rank and logs 448 in two runs: no images, and what is replayed is more than logs are at first. That takes a
# machine that gives each rank a GiB for logs.
logs_grow_with_images()
{
    local auto=(-x KEEL_CKPT_INTERVAL=off -x KEEL_LOG_LEVEL=info --timeout 100) ft=("$kernels/ft" -c A --csv --repeat 2 --die 1@12.1) two

    run 0 -n 2 "${auto[@]}" "${ft[@]}"
    [ "$(column verified) $(column deaths) $(column rollbacks)" = "yes 1 0" ] || fail "not recovered: $(tail -1 "$out")"
    has "$err" 0 'log .* is full'
    two=$(share)
    [[ $two =~ ^[0-9]+$ ]] || fail "shares of '$two'"
    if [ "$two" -ge 1024 ]; then
        has "$err" 3 'logs may take 512 MiB' # two ranks, and one again
        has "$err" 3 'logs may take 1024 MiB'
        [ "$(column demand_checkpoints)" = 0 ] || fail "$(column demand_checkpoints) images"
        [ "$(column put_log_peak)" -gt $((400 << 20)) ] || fail "a peak of $(column put_log_peak)"
    fi
    run 0 -n 2 "${auto[@]}" -x KEEL_OPLOG_SIZE=256m "${ft[@]}"
    has "$err" 0 'logs'
    [ "$(column demand_checkpoints)" -gt 0 ] || fail "no image with logs of a given size"
    # ranks of one machine share it, also where its nodes are none
    run 0 -n 4 --nodes 2 "${auto[@]}" "$kernels/ft" -c S
    [ "$two" -le 512 ] || [ "$(share)" = $((two / 2)) ] || fail "$two of two, $(share) of four"
}

# 65536 phases are all that a log may speak of; no time has come for a checkpoint
many_phases_ask_for_images()
{
    run 0 -n 2 -x KEEL_CKPT_INTERVAL=off --timeout 100 "$kernels/stencil" -s 8x8 -n 70000 --no-verify --csv --die 1@69000.1
    has "$err" 0 'log .* is full'
    [ "$(column deaths) $(column rollbacks)" = "1 0" ] || fail "not recovered: $(tail -1 "$out")"
}

# what its predecessor did before the clock started is no part of what it counts
a_replacement_counts_its_own()
{
    run 0 -n 2 "${small[@]}" "$kernels/ft" -c S --warmup --ckpt-every 2 --csv --die 0@13.1
    [ "$(column checkpoints)" -le 4 ] || fail "$(column checkpoints) checkpoints"
    [ "$(column verified)" = yes ] || fail "not verified"
}

hydro_is_the_same_on_any_ranks()
{
    local ranks memory=''

    for ranks in 1 3 8; do
        run 0 -n "$ranks" "${small[@]}" "$kernels/hydro" -s 3 -n 30 --csv
        [ "${memory:-$(column memory)}" = "$(column memory)" ] || fail "another memory on $ranks ranks"
        memory=$(column memory)
    done
}

# two kernels, one without a clock for its calls; three protections of each
costs_of_logging_are_printed()
{
    "$here/../../perf/kernels/logging" -n 1 -r 2 -o csv "$build" 'hydro -s 3 -n 40 --ckpt-every 20' 'cg -c S -n 1 --ckpt-every 1' \
        >"$out" 2>"$err" || fail "a run failed"
    has "$out" 6 '^\(hydro\|cg\),\(none\|ckpt\|all\),[1-9][0-9]*,[1-9][0-9]*,[0-9]*,[0-9]*,"'
    awk -F, '/^hydro,(ckpt|all)/ && $6 == 0 { exit 1 }' "$out" || fail "no image"
    ! "$here/../../perf/kernels/logging" -n 1 -r 9 "$build" 'hydro -n 5' >"$out" 2>"$err" || fail "more ranks than subdomains passed"
}

# one rank computes again, or all four
work_is_that_since_the_image()
{
    "$here/../../perf/kernels/moments" -n 1 -m 2 -e 4 -w 'local global' -o csv "$build" 'hydro -s 3 -n 12' >"$out" 2>"$err" || fail "a run failed"
    has "$out" 5 .
    has "$out" 1 '^hydro,local,0,1,0,'
    has "$out" 1 '^hydro,local,2,1,2,'
    awk -F, '$2 == "global" && ($4 != 0 || $5 < 4 * $3 || $5 > 4 * $3 + 3) { exit 1 }' "$out" || fail "$(cat "$out")"
}

# the longest of all ranks, as a share of the whole; each rank's share of the points is of its own copy or another's
time_in_the_store_is_reported()
{
    run 0 -n 3 "${small[@]}" "$kernels/kmeans" -n 10 --csv
    is_true "$(column store_seconds) > 0" || fail "no time in the store"
    is_true "$(column store_percent) * $(column seconds) / 100 - $(column store_seconds) < 0.001" || fail "not its share"
}

# ---- what is found wrong --------------------------------------------------------------------------------------------------

# spoilt KERNEL ARGUMENTS -- WORDS: the verification fails when one of these words of the result is another
# each of the patterns twice; whatever the deaths cost, it is one or the other, and why is said
recoveries_are_counted()
{
    "$here/../../perf/kernels/recovered" -n 2 -l direct -o csv "$build" 'patterns -p updates -n 5000' 'patterns -p halo -n 8000' \
        'patterns -p stealing -n 60' >"$out" 2>"$err" || fail "a run failed"
    has "$out" 4 .
    awk -F, 'NR > 1 && ($4 < 1 || $4 != $5 + $6 || ($6 > 0) != ($7 != "\"\"")) { exit 1 }' "$out" || fail "$(cat "$out")"
}

spoilt()
{
    local program=("$kernels/$1") word
    shift
    while [ "$1" != -- ]; do
        program+=("$1")
        shift
    done
    shift
    for word; do
        run 1 -n 2 "${small[@]}" -x "KERNEL_SPOIL=$word" "${program[@]}" --csv
        [ "$(column verified)" = no ] || fail "verified with word $word spoilt: ${program[*]}"
        run 1 -n 2 "${small[@]}" -x "KERNEL_SPOIL=$word" "${program[@]}"
        has "$out" 1 'verification FAILED$'
    done
    run 0 -n 2 "${small[@]}" "${program[@]}" --csv
    [ "$(column verified)" = yes ] || fail "not verified: ${program[*]}"
}

# real and imaginary parts of both ranks' shares, of the first iteration and the last
spoilt_ft_is_found() { spoilt ft -c S -- 0 1 3 22 23; }
spoilt_cg_is_found() { spoilt cg -c S -- 0; }
# sums: the first coordinate, a count, the last count
spoilt_kmeans_is_found() { spoilt kmeans -n 10 -- 0 8 71; }
# of each rank the first value, one amid them, the sum of changes
spoilt_pagerank_is_found() { spoilt pagerank -n 10 -- 0 1000 2048; }
# forces of the hot element on two corners that may move
spoilt_hydro_is_found() { spoilt hydro -n 20 -- 1371 1389 1391; }
# the first cell, one amid them, the last one
spoilt_stencil_is_found() { spoilt stencil -s 64x64 -n 20 -- 0 2000 4095; }
# the number of cells drawn, the first element, its link
spoilt_dht_is_found() { spoilt dht -n 1000 --closed -- 0 8 9; }

# a byte of the first record, of one amid them, of the last one before the two markers of the end, 32 bytes each; and of the data
# that a rank keeps, the first, one amid them, the last
spoilt_log_is_found()
{
    local byte bytes kept

    run 0 -n 3 "${small[@]}" -x ML_VERBOSE=y -x ML_CHECK=y "$kernels/stencil_ml" -s 64x64 -n 20 --atomics
    has "$err" 1 '^ml: [0-9]* records, [0-9]* bytes of 2 ranks, checked$'
    has "$err" 2 '^ml: rank [01] kept [1-9][0-9]* bytes, checked$'
    bytes=$(sed -n 's/^ml: .* records, \([0-9]*\) bytes.*/\1/p' "$err")
    kept=$(sed -n 's/^ml: rank 0 kept \([0-9]*\) bytes.*/\1/p' "$err")
    for byte in 0 20 $((bytes / 2)) $((bytes - 65)); do
        run 3 -n 3 "${small[@]}" -x ML_CHECK=y -x "ML_SPOIL=$byte" "$kernels/stencil_ml" -s 64x64 -n 20 --atomics
        has "$err" 1 '^ml: what was recorded of rank [01] is not what it sent$'
    done
    for byte in 0 $((kept / 2)) $((kept - 1)); do
        run 3 -n 3 "${small[@]}" -x ML_CHECK=y -x "ML_SPOIL_DATA=$byte" "$kernels/stencil_ml" -s 64x64 -n 20 --atomics
        grep -q '^ml: the data that rank [01] kept are not those that it was given$' "$err" || fail 'spoilt data are not found'
    done
}

run_case
