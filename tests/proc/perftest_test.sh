#!/bin/bash
# One case of keel_perftest: perftest_test.sh DIRECTORY-OF-THE-BUILD CASE. What it measures is not judged here.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun perftest=$build/perf/keel_perftest
perf=$(cd "$(dirname "$0")/../../perf" && pwd)
batches=$perf/perftest/batch
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=128m --timeout 50)

# rows COUNT PEER: standard output is CSV of so many rows, numbers where numbers belong, compared with PEER (or not, ""). Rates and
# bandwidths are those of the times, which are none of 0: few bytes that wait for a core are 0.00 MB/s.
rows()
{
    awk -F, -v rows="$1" -v peer="$2" '
        function differ(shown, due, rounding) { return shown - due > rounding || due - shown > rounding }
        NR == 1 { columns = NF; if ($1 != "test" || $NF != "detail") bad = "no header"; next }
        NF != columns { bad = "row " NR " has " NF " columns" }
        { for (c = 9; c <= 16; c++) if ($c !~ /^[0-9]+(\.[0-9]+)?$/) bad = "row " NR ", column " c ": " $c
          if ($9 <= 0 || $10 <= 0 || $11 <= 0 || $12 <= 0) bad = "row " NR " took no time"
          for (c = 11; c <= 12 && $c > 0; c++) {
              rate = 1e6 / $c
              off = rate * 0.0001 / $c # the time is shown with four digits
              mib = ($2 == "flush" || $2 == "gsync") ? 0 : $3 / 1048576
              if (differ($(c + 4), rate, off + 0.51)) bad = "row " NR ", column " c + 4 ": " $(c + 4)
              if (differ($(c + 2), rate * mib, off * mib + 0.0051)) bad = "row " NR ", column " c + 2 ": " $(c + 2) } }
        $17 != peer { bad = "row " NR " is compared with " $17 }
        # three digits: 0.000 where the peer, which waited for its turn at a core, took over 1000 times as long
        peer != "" && !(($22 > 0 || $12 < $19 / 1000) && $22 <= $21 && $21 <= $23 && $24 > 0) { bad = "row " NR ": ratio " $21 }
        NR > 1 && peer != "" { n = match($NF, "^ratios=[0-9./]+;") ? split(substr($NF, 8, RLENGTH - 8), ratio, "/") : 0
            if (n != $24 || (ratio[int((n + 1) / 2)] - $21) ^ 2 > 1e-6) bad = "row " NR ": ratios of rounds: " $NF }
        END { if (NR != rows + 1) bad = NR - 1 " rows"; if (bad) { print bad; exit 1 } }' "$out" >"$scratch/why" ||
        fail "$(cat "$scratch/why")"
}

# refused TEXT ARGUMENTS...: status 2, and one line that has the text
refused()
{
    local text=$1
    shift
    "$perftest" "$@" >"$out" 2>"$err" </dev/null
    [ $? -eq 2 ] || fail "not refused: $*"
    has "$err" 1 "$text"
    [ "$(wc -l <"$err")" -eq 1 ] || fail "more than a line: $*"
}

# detail ROW NAME: what the last column of that row says, or nothing
detail()
{
    sed -n "$(($1 + 1))s/.*[,;]$2=\([^;]*\).*/\1/p" "$out"
}

# detail_is ROW NAME TEST...: of [, for numbers
detail_is()
{
    local value

    value=$(detail "$1" "$2")
    test "${value:--1}" "$3" "$4" || fail "row $1: $2 is ${value:-nothing}, not $3 $4"
}

# cell ROW COLUMN
cell()
{
    awk -F, -v row="$1" -v column="$2" 'NR == row + 1 { print $column }' "$out"
}

# ---- output -----------------------------------------------------------------------------------------------------------

every_test_runs_and_prints_its_final_line()
{
    local test

    run 0 -n 2 "${small[@]}" "$perftest" -t put_lat -n 1000 -R 99
    has "$out" 1 '^| Message size: 8 '
    has "$out" 1 '99.0%ile | average | overall'
    has "$out" 1 '^Final:  *1035 '
    for test in put_lat put_bw put_mr get_lat get_bw add fadd cswap flush gsync; do
        echo "$test-line -t $test -n 100 -w 10"
    done >"$scratch/batch"
    run 0 -n 2 "${small[@]}" "$perftest" -b "$scratch/batch"
    has "$out" 10 '^Final: '
    has "$out" 10 '^+[a-z_]*-line-'
}

# neither what is tested nor, each second, how far it is
final_only_leaves_the_rest_out()
{
    run 0 -n 2 "${small[@]}" "$perftest" -t put_lat -n 1000 -f
    has "$out" 0 '^| Message size:'
    has "$out" 1 '^Final:  *1035 '
    [ "$(tail -n +6 "$out" | grep -vc '^Logged: ')" -eq 1 ] || fail 'more than a line below the names of the columns'
}

comparison_prints_ratio_and_spread()
{
    local lane

    for lane in shm tcp; do
        run 0 -n 2 "${small[@]}" "$perftest" -x $lane -t put_mr -n 900 --vs-ucx --rounds 3 -f
        has "$out" 1 "^Ratio: *Keel's rate / that of UCX: [0-9.]* \[[0-9.]*, [0-9.]*\], .* of 3 rounds$"
        has "$out" 1 '^UCX: '
    done
}

csv_has_a_row_of_numbers_for_each_test()
{
    run 0 -n 2 "${small[@]}" "$perftest" -v -b "$batches/words" -n 200 -w 0 --vs-ucx
    rows 8 UCX
    # sizes of all kinds; logs that hold few of the largest
    run 0 -n 2 "${small[@]}" "$perftest" -v -b "$batches/tests" -b "$batches/sizes" -n 3 -w 0 --rounds 1
    rows 45 ''
    has "$out" 1 '^get_bw/4m,get_bw,4194304,1,one,2,all,shm,'
    run 0 -n 2 "${small[@]}" "$perftest" -v -n 90 -R 99
    has "$out" 1 ',iterations,99.0_percentile_lat,'
    run 0 -n 2 "${small[@]}" "$perftest" -v -t put_bw -n 90 --vs stores
    rows 1 stores
    run 0 -n 2 "${small[@]}" "$perftest" -v -x tcp -t add -n 200 -w 0 --vs-ucx --rounds 1
    rows 1 UCX
}

# ---- what was done ----------------------------------------------------------------------------------------------------

# All of words but flush; a block of Keel's and one of UCX's in turn, at least five of each a round. Few: where cores are shared
# each access over tcp waits for a time slice of the other side.
both_sides_do_the_same_in_turn()
{
    local lane row accesses

    sed '/flush/d; /put_lat/!s/$/ -O 8/' "$batches/words" >"$scratch/words"
    for lane in shm tcp; do
        run 0 -n 2 "${small[@]}" "$perftest" -v -x $lane -b "$scratch/words" -n 100 --rounds 3 --vs-ucx
        rows 7 UCX
        for row in 1 2 3 4 5 6 7; do
            accesses=$(($(cell $row 9) + $(detail $row untimed)))
            [ "$(cell $row 9)" -ge 100 ] || fail "row $row: fewer than -n"
            detail_is $row accesses -eq $accesses
            detail_is $row peer_accesses -eq $accesses
            detail_is $row turns -ge 29
        done
    done
}

# Where it tells most: Keel is much faster in the first, and slower in the second, whose ratio is of times. One round of five
# blocks, each of one sample: the median that is shown of the samples is the one that is compared of the blocks, however busy the
# machine is.
ratio_agrees_with_what_is_compared()
{
    run 0 -n 2 "${small[@]}" "$perftest" -v -x tcp -t put_mr -O 64 -n 320 --rounds 1 --vs-ucx
    sed 1d "$out" >"$scratch/rows"
    run 0 -n 2 "${small[@]}" "$perftest" -v -x shm -t put_lat -s 1m -n 5 --rounds 1 --vs-ucx
    sed 1d "$out" >>"$scratch/rows"
    awk -F, '{ due = ($2 == "put_lat") ? $10 / $18 : $18 / $10; off = $21 - due; most = 0.001 + due * 0.002 }
        off > most || -off > most { print $2 ": ratio " $21 ", but Keel took " $10 " us and UCX " $18 " us"; bad = 1 }
        END { exit NR != 2 || bad }' "$scratch/rows" >"$scratch/why" || fail "$(cat "$scratch/why")"
}

# of all samples: no mean is above the last one, or below the first; over tcp each is of one flush
percentile_is_the_one_that_was_asked_for()
{
    local run=(-n 2 "${small[@]}" "$perftest" -v -x tcp -t put_lat -n 2000 --rounds 5 --vs-ucx)

    run 0 "${run[@]}" -R 100
    rows 1 UCX
    awk -F, 'NR == 2 { exit !($10 >= $12 && $18 >= $19) }' "$out" || fail "the longest is less than the mean: $(tail -1 "$out")"
    run 0 "${run[@]}" -R 0
    awk -F, 'NR == 2 { exit !($10 <= $12 && $18 <= $19) }' "$out" || fail "the shortest is more than the mean: $(tail -1 "$out")"
}

# all ranks, of all that mixes what it says first
mixed_programs_mix()
{
    run 0 -n 2 "${small[@]}" -x KEEL_LOG_LEVEL=info "$perftest" -v -t put_lat -n 200 --mixed
    has "$err" 2 ' without a lock, in a program that locks: from here on every death is a rollback$'
    run 0 -n 2 "${small[@]}" -x KEEL_LOG_LEVEL=info "$perftest" -v -t get_lat -n 200 --waits --mixed
    has "$err" 2 ' in a program that waits: from here on every death is a rollback$'
    run 0 -n 2 "${small[@]}" -x KEEL_LOG_LEVEL=info "$perftest" -v -t get_lat -n 200 --waits
    has "$err" 0 'rollback'
}

# -w in whole flushes; above 64 KiB nothing but warm-up and one flush is ahead of what is timed
warm_up_is_done()
{
    run 0 -n 2 "${small[@]}" "$perftest" -v -t put_bw -s 128k -O 4 -n 60 --rounds 1 -w 0
    detail_is 1 untimed -eq 4
    detail_is 1 accesses -eq $(($(cell 1 9) + 4))
    # more than a log of 64 MiB holds
    run 0 -n 2 "${small[@]}" "$perftest" -v -t put_bw -s 128k -O 4 -n 60 --rounds 1 -w 1001 --log-bytes 64m
    detail_is 1 untimed -eq 1008
    detail_is 1 accesses -eq $(($(cell 1 9) + 1008))
    has "$out" 1 '^put_bw,put_bw,131072,4,'
}

# the target's memory tells
pattern_reaches_its_targets()
{
    local -A reached=([one]=1 [star]=3 [all]=12 [random]=12 [neighbours]=8)
    local pattern

    for pattern in "${!reached[@]}"; do
        run 0 -n 4 "${small[@]}" "$perftest" -v -t put_mr --pattern "$pattern" -n 500 --rounds 1
        detail_is 1 reached -eq "${reached[$pattern]}"
    done
    # fewer accesses than targets
    run 0 -n 4 "${small[@]}" "$perftest" -v -t put_bw -s 128k -O 1 --pattern star -n 1 --rounds 1 -w 0
    detail_is 1 reached -eq 3
}

protection_logs_what_it_says()
{
    local protect
    printf 'put -t put_mr -s 64\nget -t get_lat -s 64\n' >"$scratch/batch"
    for protect in none ckpt puts gets all; do
        run 0 -n 2 "${small[@]}" "$perftest" -v -b "$scratch/batch" -P $protect -n 500 --rounds 1
        detail_is 1 get_log -eq 0
        detail_is 2 put_log -eq 0
        case $protect in
        puts | all) detail_is 1 put_log -ge $((64 * $(detail 1 accesses))) ;;
        *) detail_is 1 put_log -eq 0 ;;
        esac
        case $protect in
        gets | all) detail_is 2 get_log -ge $((64 * $(detail 2 accesses))) ;;
        *) detail_is 2 get_log -eq 0 ;;
        esac
    done
}

# At most one line a second, of a test that takes some: what counts is what it measured, since a job may take long to start. Only
# a first round of seven seconds would make eight ones without a line.
long_test_says_how_far_it_is()
{
    local count begun

    for ((count = 4000; count < 10000000000; count *= 2)); do
        begun=$SECONDS
        run 0 -n 2 "${small[@]}" "$perftest" -x tcp -t gsync -n $count --rounds 60
        ! grep -q '^\[thread 0\] ' "$out" || break
        awk '$1 == "Final:" { us = $2 * $5 } END { exit !(us > 0 && us < 8e6) }' "$out" || fail 'eight seconds without a line'
    done
    [ "$(grep -c '^\[thread 0\] ' "$out")" -le $((SECONDS - begun + 1)) ] || fail 'more than a line a second'
    run 0 -n 2 "${small[@]}" "$perftest" -x tcp -t gsync -n $count --rounds 60 -f
    has "$out" 0 '^\[thread 0\] '
    has "$out" 1 '^Final: '
}

# ---- ranks ------------------------------------------------------------------------------------------------------------

patterns_and_protections_are_measured()
{
    local pattern protect

    for pattern in star all random neighbours; do
        run 0 -n 4 "${small[@]}" "$perftest" -t put_mr --pattern $pattern -n 500 --rounds 3 --vs-ucx -v
        rows 1 UCX
        has "$out" 1 "^put_mr,put_mr,8,64,$pattern,4,all,"
    done
    for protect in none ckpt puts gets all; do
        run 0 -n 2 "${small[@]}" "$perftest" -t get_lat -P $protect -n 500 --rounds 3 -v
        has "$out" 1 "^get_lat,.*,one,2,$protect,shm,"
    done
    run 0 -n 3 --nodes 3 "${small[@]}" "$perftest" -t get_lat --pattern all -n 100 -v
    has "$out" 1 ',all,3,all,tcp,'
}

# part NAME: its median, in thousandths
part()
{
    sed -n "s/.*[,;]$1=\(-\{0,1\}[0-9]*\)[.]\([0-9]*\):.*/\1\2/p" "$out" | sed 's/^\(-\{0,1\}\)0*/\1/; s/^-\{0,1\}$/0/'
}

# Of one iteration, each part that of the slowest rank: a gsync lasts at least as long as the copy in it, what protects comes
# after the copy and the work. How long the program was stopped is the difference of two gsyncs, and less than 0 on a machine
# that is busy enough.
checkpoints_are_timed()
{
    local part

    run 0 -n 2 "${small[@]}" "$perftest" -t ckpt -s 16m -n 1 -w 1 --vs memcpy -v
    has "$out" 1 '^ckpt,ckpt,16777216,1,together,2,all,shm,1,'
    for part in safe work transfer copy gsync call parity core; do
        [ "$(part $part)" -gt 0 ] || fail "$part takes no time"
    done
    [ $(($(part stopped) + $(part gsync))) -ge "$(part copy)" ] || fail 'stopped for less than the copy takes'
    for part in copy work transfer; do
        [ "$(part safe)" -ge "$(part $part)" ] || fail "safe before the end of $part"
    done
    # of one iteration, so all but the ratios is shown to the nanosecond
    awk -F, -v stopped="$(part stopped)" 'NR == 2 { d = $10 - $21 * $18; most = ($18 < 0 ? -$18 : $18) / 1000 + 0.001
        exit !($10 - stopped < 1 && stopped - $10 < 1 && $17 == "memcpy" && d < most && -d < most) }' "$out" ||
        fail 'the ratio is not that of what is shown'
    # a copy that took less than nothing, behind a gsync that was kept from its core, counts as one of a nanosecond
    awk -F, -v whole="$(($(part stopped) + $(part gsync)))" -v ratio="$(part with_gsync)" 'NR == 2 {
        copy = ($18 > 0.001) ? $18 : 0.001; d = whole - ratio * copy / 1000; most = 2 + copy / 1000
        exit !(d < most && -d < most) }' "$out" || fail 'the ratio with the gsync is not that of what is shown'
    run 0 -n 4 "${small[@]}" "$perftest" -t ckpt -s 64k -n 3 -w 0 -v
    [ "$(part buffers)" -eq 0 ] || fail 'buffers where all is mapped'
    has "$out" 0 'core=\|with_gsync='
    run 0 -n 2 "${small[@]}" "$perftest" -t ckpt -s 64k -n 1 -P ckpt -v
    has "$out" 1 '^ckpt,ckpt,65536,1,together,2,ckpt,shm,1,'
    run 1 -n 2 "${small[@]}" "$perftest" -t ckpt -s 64k -P none
    # the first rank to say so ends the job, and maybe the others before they do
    grep -q 'no checkpoint is taken' "$err" || fail 'nothing says that no checkpoint is taken'
}

# each in turn, also those that are not counted
deaths_are_timed()
{
    local rank part

    run 0 -n 4 -v "${small[@]}" "$perftest" -t restore -s 1m -n 4 -w 2 -v
    has "$out" 1 '^restore,restore,1048576,1,together,4,all,shm,4,[0-9.,]*,,,,,,,,whole='
    has "$err" 6 ' died: signal 9'
    for rank in 1 2 3; do
        has "$err" 2 "rank $rank incarnation [01] died: signal 9"
    done
    for part in start agreement rebuild restore replay; do
        [ "$(part $part)" -gt 0 ] || fail "$part takes no time"
        [ "$(part whole)" -ge "$(part $part)" ] || fail "$part takes longer than the whole"
    done
    run 0 -n 4 --nodes 2 --spares 9 "${small[@]}" "$perftest" -t restore -s 64k -v
    has "$out" 1 '^restore,.*,together,4,all,tcp,9,.*launch=0.000:0.000:0.000;'
    run 1 -n 1 "$perftest" -t restore
    has "$err" 1 'restore needs two ranks'
}

# in bulk more of each other rank is under way at once
both_transfers_take_time_and_memory()
{
    local transfer

    local -A buffers
    for transfer in stream bulk; do
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_CKPT_TRANSFER=$transfer "$perftest" -t ckpt -s 4m -n 2 -v
        [ "$(part transfer)" -gt 0 ] || fail "$transfer takes no time"
        buffers[$transfer]=$(part buffers)
    done
    [ "${buffers[stream]:-0}" -gt 0 ] || fail "there are no buffers"
    [ "${buffers[bulk]}" -gt "${buffers[stream]}" ] || fail "buffers of ${buffers[*]} thousandths of a MiB"
}

# ---- without a launcher ----------------------------------------------------------------------------------------------

# starts a server at a free port: sets port, and server to its number
server()
{
    local tries

    for ((tries = 0; tries < 20; tries++)); do
        port=$((20000 + RANDOM % 10000))
        timeout 50 "$perftest" -p $port >"$scratch/server.out" 2>"$scratch/server.err" </dev/null &
        server=$!
        until grep -q Waiting "$scratch/server.out"; do
            kill -0 $server 2>/dev/null || continue 2 # the port is taken
        done
        return
    done
    fail 'no server'
}

client_and_server_meet_without_a_launcher()
{
    server
    timeout 50 "$perftest" localhost -p "$port" -t put_mr -s 64 -n 1000 --vs-ucx -P puts >"$out" 2>"$err" ||
        fail "client: $?"
    wait "$server" || fail "server: $? $(cat "$scratch/server.err")"
    has "$out" 1 '^| Ranks:  *2, client and server'
    has "$out" 1 '^| Protection:  *puts '
    has "$out" 1 "^Ratio: "
    [ "$(wc -l <"$scratch/server.out")" -eq 1 ] || fail "the server prints too"
}

lost_client_ends_the_server()
{
    local client

    server
    timeout -s KILL 50 "$perftest" localhost -p "$port" -t gsync -n 100000000 >"$out" 2>"$err" &
    client=$!
    until grep -q '^|    Stage' "$out"; do
        kill -0 $client 2>/dev/null || fail 'client ended'
    done
    pkill -KILL -P $client
    wait $client 2>/dev/null
    wait "$server"
    [ $? -eq 1 ] || fail "server: not status 1"
    has "$scratch/server.err" 1 'the other process is gone$'
}

bad_arguments_are_refused()
{
    refused 'bad value putlat' -t putlat
    refused 'bad value 8x' -s 8x
    refused 'bad value 0' -n 0
    refused 'bad value 101' -R 101
    refused 'bad value most' -P most
    refused '-Z is no option' -Z
    refused '-s needs a value' -s
    refused 'bad value ring' --pattern ring
    refused 'gsync cannot be compared with ucx' -t gsync --vs-ucx
    refused '4 or 8 bytes' -t fadd -s 16
    refused 'one argument too many' host another
    refused 'restore needs keelrun' -t restore
    refused '-O means nothing to put_lat' -t put_lat -O 2
    refused '-O means nothing to flush' -t flush -O 2
    refused '-O means nothing to gsync' -t gsync -O 2
    refused '-O means nothing to ckpt' -t ckpt -O 2
    refused '-O means nothing to restore' -t restore -O 2
    refused '-s means nothing to flush' -t flush -s 64
    refused '--pattern means nothing to gsync' -t gsync --pattern all
    refused '--rounds means nothing to restore' -t restore --rounds 3
    refused '--changed means nothing to put_lat' --changed 5
    refused '--replay means nothing to ckpt' -t ckpt --replay 5
    refused '--seed is for --pattern random' --pattern all --seed 4
    refused 'ckpt: each iteration is a round' -t ckpt -n 5 --rounds 4
    refused 'bad value TLS=' --vs-ucx --ucx TLS=
    refused 'bad value =tcp' --vs-ucx --ucx =tcp
    refused '--ucx is for --vs-ucx' --ucx TLS=tcp
    refused 'No such file' -b "$scratch/none"
    printf '# nothing\n' >"$scratch/batch"
    refused 'has no test' -b "$scratch/batch"
    printf 'one -t put_lat\ntwo -t put_bw -s big\n' >"$scratch/batch"
    refused 'batch:2: bad value big' -b "$scratch/batch"
    printf 'one -t put_lat -P none\n' >"$scratch/batch"
    refused 'batch:1: none is for the whole run' -b "$scratch/batch"
    printf 'one -t put_lat\ntwo -t restore\n' >"$scratch/batch"
    refused 'restore runs alone' -b "$scratch/batch"
    printf 'one -t put_lat\ntwo -R 99\n' >"$scratch/batch"
    refused 'batch:2: 99 is for the whole run' -b "$scratch/batch"
    printf 'one -t put_lat\n\n%01020d -t put_bw\n' 0 >"$scratch/batch"
    refused 'batch:3: the line is too long' -b "$scratch/batch"
    { printf one; printf ' -n 1%.0s' {1..40}; } >"$scratch/batch"
    refused 'batch:1: the line is too long' -b "$scratch/batch"
    printf '%048d -t put_lat\n' 0 >"$scratch/batch"
    refused 'batch:1: the name is too long' -b "$scratch/batch"
    printf 'a,b -t put_lat\n' >"$scratch/batch"
    refused 'batch:1: a name with a comma' -b "$scratch/batch"
    printf 'one -t put_bw\ntwo -t put_lat\n' >"$scratch/batch"
    refused 'batch:2: -O means nothing to put_lat' -b "$scratch/batch" -O 8
    run 2 -n 2 "$perftest" somewhere
    has "$err" 1 'under a launcher there is no server'
    run 1 -n 1 "$perftest" -t put_lat
    has "$err" 1 'put_lat needs two ranks'
}

# variables of UCP and of a transport, where a wrong value tells that it was read
ucx_reads_its_option()
{
    local variable

    for variable in RNDV_THRESH TCP_TX_SEG_SIZE; do
        run 0 -n 2 "${small[@]}" "$perftest" -v -x tcp -n 50 --vs-ucx --rounds 1 --ucx $variable=32k
        rows 1 UCX
        run 1 -n 2 "${small[@]}" "$perftest" -x tcp -n 50 --vs-ucx --ucx $variable=most
        grep -q "^keel_perftest: --ucx $variable=most: Invalid" "$err" || fail "$variable: no message"
    done
    run 1 -n 2 "${small[@]}" "$perftest" -n 50 --vs-ucx --ucx TCP_TX_SEGSIZE=64K
    grep -q '^keel_perftest: --ucx TCP_TX_SEGSIZE=64K: UCX has no UCX_TCP_TX_SEGSIZE$' "$err" || fail 'no message'
}

# ---- what scripts make of it ------------------------------------------------------------------------------------------

medians_and_quartiles_are_those_of_the_rounds()
{
    local round
    # b takes 10, 40, 20, 30, 50 % more than a
    for round in 1:110 2:140 3:120 4:130 5:150; do
        printf '%s,a,k,100\n%s,b,k,%s\n' "${round%:*}" "${round%:*}" "${round#*:}"
    done >"$scratch/rounds"
    awk -v base=a -f "$perf/lib/spread.awk" "$scratch/rounds" >"$out"
    has "$out" 1 '^k,b,30,20,40,5$'
    awk -f "$perf/lib/spread.awk" "$scratch/rounds" >"$scratch/long"
    grep -qx 'k,b,130,120,140,5' "$scratch/long" || fail 'values'
    echo 'l,b,7,6,8,1' >>"$scratch/long"
    awk -f "$perf/lib/pivot.awk" "$scratch/long" >"$out"
    has "$out" 1 '^k,100,100,100,130,120,140$'
    has "$out" 1 '^l,NaN,NaN,NaN,7,6,8$'
    # lines go from left to right, whatever was measured first; what is no number stays in place
    printf '%s\n' key,config,median,quartile1,quartile3 456,a,1,1,1 57,a,2,2,2 1048576,a,3,3,3 8,a,4,4,4 |
        awk -f "$perf/lib/pivot.awk" >"$out"
    [ "$(cut -d, -f1,2 "$out" | paste -sd' ')" = 'key,a 8,4 57,2 456,1 1048576,3' ] || fail 'points out of order'
    printf '%s\n' key,config,median,quartile1,quartile3 '4 ranks,a,1,1,1' '2 ranks,a,2,2,2' |
        awk -f "$perf/lib/pivot.awk" >"$out"
    [ "$(cut -d, -f1 "$out" | paste -sd,)" = 'key,4 ranks,2 ranks' ] || fail 'bars out of order'
}

goals_are_compared_with_what_is_measured()
{
    "$perf/numbers" --build "$build" --out "$scratch/numbers" --rounds 1 shm >"$out" 2>"$err" || fail "status $?"
    has "$scratch/numbers/goals.csv" 6 ''
    has "$scratch/numbers/goals.csv" 4 ',\(yes\|NO\|unclear\),2,'
    awk -F, 'NR > 1 && $6 != "" { bound = substr($6, 3) + 0; met = ($6 ~ /^>/) ? $3 >= bound : $3 <= bound
            bad += $7 != ((($4 != 0 || $5 != 0) && $4 < bound && bound < $5) ? "unclear" : met ? "yes" : "NO") }
        END { exit bad > 0 }' "$scratch/numbers/goals.csv" ||
        fail 'a goal is called reached that is not, or the other way round'
    # measured again, a part's rows replace the old ones, and others stay
    echo 'large,kept,1,1,1,,,2,2' >>"$scratch/numbers/goals.csv"
    "$perf/numbers" --build "$build" --out "$scratch/numbers" --rounds 1 shm >"$out" 2>"$err" || fail "status $?"
    has "$scratch/numbers/goals.csv" 7 ''
    has "$scratch/numbers/goals.csv" 1 '^large,kept,'
    ! "$perf/numbers" everything 2>"$err" || fail 'unknown part'
    has "$err" 1 'everything is neither an option nor a part'
}

run_case
