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

# rows COUNT PEER: standard output is CSV of so many rows, numbers where numbers belong, compared with PEER (or not, "")
rows()
{
    awk -F, -v rows="$1" -v peer="$2" '
        NR == 1 { columns = NF; if ($1 != "test" || $NF != "detail") bad = "no header"; next }
        NF != columns { bad = "row " NR " has " NF " columns" }
        { for (c = 9; c <= 16; c++) if ($c !~ /^[0-9]+(\.[0-9]+)?$/ || ($c <= 0 && $2 != "flush" && $2 != "gsync"))
              bad = "row " NR ", column " c ": " $c }
        $10 <= 0 || $16 <= 0 { bad = "row " NR " took no time" }
        $17 != peer { bad = "row " NR " is compared with " $17 }
        peer != "" && !($21 > 0 && $22 > 0 && $22 <= $21 && $21 <= $23 && $24 > 0) { bad = "row " NR ": ratio " $21 }
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
    run 0 -n 2 "${small[@]}" "$perftest" -v -t put_bw -n 90 --vs stores
    rows 1 stores
    run 0 -n 2 "${small[@]}" "$perftest" -v -x tcp -t add -n 200 -w 0 --vs-ucx --rounds 1
    rows 1 UCX
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
    awk -F, -v stopped="$(part stopped)" 'NR == 2 { exit !($10 - stopped < 1 && stopped - $10 < 1 && $17 == "memcpy" &&
            $10 / $18 - $21 < 0.001 && $21 - $10 / $18 < 0.001) }' "$out" || fail 'the ratio is not that of what is shown'
    run 0 -n 4 "${small[@]}" "$perftest" -t ckpt -s 64k -n 3 -w 0 -v
    [ "$(part buffers)" -eq 0 ] || fail 'buffers where all is mapped'
    has "$out" 0 'core='
    run 1 -n 2 "${small[@]}" "$perftest" -t ckpt -s 64k -P none
    has "$err" 2 'no checkpoint is taken'
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
    refused 'No such file' -b "$scratch/none"
    printf '# nothing\n' >"$scratch/batch"
    refused 'has no test' -b "$scratch/batch"
    printf 'one -t put_lat\ntwo -t put_bw -s big\n' >"$scratch/batch"
    refused 'batch:2: bad value big' -b "$scratch/batch"
    printf 'one -t put_lat -P none\n' >"$scratch/batch"
    refused 'batch:1: none is for the whole run' -b "$scratch/batch"
    printf 'one -t put_lat\ntwo -t restore\n' >"$scratch/batch"
    refused 'restore runs alone' -b "$scratch/batch"
    run 2 -n 2 "$perftest" somewhere
    has "$err" 1 'under a launcher there is no server'
    run 1 -n 1 "$perftest" -t put_lat
    has "$err" 1 'put_lat needs two ranks'
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
}

goals_are_compared_with_what_is_measured()
{
    "$perf/numbers" --build "$build" --out "$scratch/numbers" --rounds 1 shm >"$out" 2>"$err" || fail "status $?"
    has "$scratch/numbers/goals.csv" 6 ''
    has "$scratch/numbers/goals.csv" 3 ',\(yes\|NO\|unclear\),2,'
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
