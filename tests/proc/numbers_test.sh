#!/bin/bash
# One case of perf/numbers and what it computes with: numbers_test.sh DIRECTORY-OF-THE-BUILD CASE. What it measures is not
# judged here.
# shellcheck disable=SC2016 # for awk
set -u

# shellcheck disable=SC2034 # by proc_lib.sh
build=$1 name=$2
perf=$(cd "$(dirname "$0")/../../perf" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"

# ---- arithmetic -------------------------------------------------------------------------------------------------------

# shown ARGUMENTS...: what lib/rounds.awk shows of $scratch/rounds, in a line
shown()
{
    awk "$@" -v base=none -f "$perf/lib/rounds.awk" "$scratch/rounds" 2>"$err" | paste -sd' '
}

overheads_and_ratios_are_those_of_each_round()
{
    # in three rounds nothing, Keel's log and ML's; in the third ML took less time than nothing
    printf '%s\n' 0,none,s,100 0,all,s,104 0,ml,s,120 1,all,s,250 1,none,s,200 1,ml,s,300 2,none,s,80 2,all,s,60 2,ml,s,70 \
        0,all,other,7 >"$scratch/rounds"
    [ "$(shown -v key=s -v config=all -v show=value)" = '104 250 60' ] || fail value
    [ "$(shown -v key=s -v config=all -v show=overhead)" = '4 25 -25' ] || fail overhead
    [ "$(shown -v key=s -v config=all -v show=ratio)" = '0.961538462 0.8 1.33333333' ] || fail ratio
    [ "$(shown -v key=s -v config=all -v show=less -v peer=ml)" = '80 50 0' ] || fail less
    # a value that is lost is no zero
    grep -v '^1,none' "$scratch/rounds" >"$scratch/less" && mv "$scratch/less" "$scratch/rounds"
    [ -z "$(shown -v key=s -v config=all -v show=overhead)" ] || fail 'a lost round'
    one_line '^no s in round 1 of none$'
    [ "$(shown -v key=s -v config=all -v show=value)" = '104 250 60' ] || fail 'not lost'
    [ -z "$(shown -v key=other -v config=all -v show=value)" ] || fail 'a key that only one round has'
    echo 1,none,s,0 >>"$scratch/rounds"
    [ -z "$(shown -v key=s -v config=all -v show=ratio)" ] || fail 'no time at all'
}

goals_are_met_or_not_or_that_is_unclear()
{
    local v q1 q3 goal met is
    while read -r v q1 q3 goal met; do
        is=$(awk -v v="$v" -v q1="$q1" -v q3="$q3" -v goal="${goal#-}" -f "$perf/lib/met.awk")
        [ "${is:--}" = "$met" ] || fail "$v [$q1, $q3] $goal: $is"
    done <<END
1 0.9 1.1 - -
1.2 1.2 1.2 >=1.2 yes
1.3 1.2 1.4 >=1.2 yes
1.3 1.1 1.4 >=1.2 unclear
1.1 1.0 1.2 >=1.2 NO
-5 -9 -1 <=4 yes
10 9 11 <=4 NO
3 -1 5 <=4 unclear
9 9 9 <=10 yes
END
}

# sqrt(2 * 0.02 s * 100 s) = 2 s, times 1 + 0.01 / 3 + 0.0001 / 9, less 0.02 s [F 6.1]
interval_is_dalys()
{
    echo '0.005 0.015' | awk -v mtbf=100 -f "$perf/lib/daly.awk" >"$out"
    has "$out" 1 '^1.98668889 1.00670015 0.755025112 20$'
    echo '3 5' | awk -v mtbf=4 -f "$perf/lib/daly.awk" >"$out" # more than it can save
    has "$out" 1 '^4 200 125 8000$'
    ! echo ' 5' | awk -v mtbf=4 -f "$perf/lib/daly.awk" >"$out" 2>"$err" || fail 'no copy'
    one_line '^no cost of a checkpoint:  5$'
    [ ! -s "$out" ] || fail 'an interval of nothing'
}

# with_jobs COMMAND...: with what perf/lib/jobs.sh defines
with_jobs()
{
    me=test perf=$perf out=$scratch bash -euo pipefail -c '. "$perf/lib/jobs.sh" && eval "$1"' - "$*"
}

# in twice as many rounds as there are words each is first twice and last twice, and follows each other one twice
rounds_begin_with_each_and_each_follows_each()
{
    local words=(a b c d e f) count

    for ((count = 1; count <= ${#words[@]}; count++)); do
        with_jobs "for ((r = 0; r < 2 * $count; r++)); do turned \$r ${words[*]:0:count}; done" >"$scratch/orders"
        awk -v n=$count 'NF != n { bad = 1 }
            { first[$1]++; last[$NF]++; for (i = 2; i <= NF; i++) if ($i != $(i - 1)) after[$(i - 1) $i]++ }
            END { for (w in first) if (first[w] != 2 || last[w] != 2) bad = 1
                  for (p in after) { pairs++; if (after[p] != 2) bad = 1 }
                  exit bad || NR != 2 * n || pairs != n * (n - 1) }' "$scratch/orders" ||
            fail "$count words: $(paste -sd, "$scratch/orders")"
        with_jobs "for ((r = 0; r < 2 * $count; r++)); do turned \$r ${words[*]:0:count}; done" |
            diff - "$scratch/orders" >"$scratch/why" || fail "another order: $(cat "$scratch/why")"
    done
}

quartiles_are_right_and_ranks_have_cores()
{
    local cores

    [ "$(printf '%s\n' 9 1 5 3 7 8 2 6 4 | with_jobs quartiles)" = '5 3 7' ] || fail quartiles
    [ "$(printf '%s\n' 40 10 30 20 | with_jobs quartiles)" = '20 10 30' ] || fail 'quartiles of an even number'
    [ "$(echo 4 | with_jobs quartiles)" = '4 4 4' ] || fail 'quartiles of one'
    cores=$(with_jobs allowed_cores | paste -sd' ')
    [ "$(wc -w <<<"$cores")" -eq "$(nproc)" ] || fail "cores: $cores"
    # one that is not the first, a rank on it, and who logs beside it
    cores=${cores##* }
    taskset -c "$cores" true || fail "core $cores"
    [ "$(me=test perf=$perf out=$scratch taskset -c "$cores" bash -c '. "$perf/lib/jobs.sh"; place 1
        PMIX_RANK=0 "${on[@]}" sh -c "taskset -cp \$\$"' | sed 's/.*: //')" = "$cores" ] || fail "not on core $cores"
    [ "$(with_jobs 'place 1; PMIX_RANK=0 "${on[@]}" nproc; PMIX_RANK=1 "${on[@]}" nproc' | paste -sd' ')" = "1 $(nproc)" ] ||
        fail 'the first rank is not on one core, or the logger is'
}

# ---- the whole --------------------------------------------------------------------------------------------------------

# rows of goals: nine columns, numbers with their quartiles, and met as the goal says
goals()
{
    awk -F, 'NF != 9 { bad = "row " NR " has " NF " columns" }
        NR == 1 { if ($0 != "part,what,value,quartile1,quartile3,goal,met,ranks,cores") bad = "head: " $0; next }
        { for (c = 3; c <= 5; c++) if ($c !~ /^-?[0-9]+[.][0-9][0-9][0-9]$/) bad = "row " NR ", column " c ": " $c }
        $4 > $3 || $3 > $5 { bad = "quartiles of row " NR }
        $6 !~ /^([<>]=[0-9.]+)?$/ || $8 !~ /^[0-9]+([+][0-9]+)?$/ || $9 < 1 { bad = "row " NR ": " $0 }
        { bound = substr($6, 3) + 0; met = ($6 ~ /^>/) ? $3 >= bound : $3 <= bound
          if ($7 != ($6 == "" ? "" : ($4 < bound && bound < $5) ? "unclear" : met ? "yes" : "NO")) bad = "met: " $0 }
        seen[$2]++ { bad = "twice: " $2 }
        END { if (bad != "") { print bad; exit 1 } }' "$1" >"$scratch/why" || fail "$(cat "$scratch/why")"
}

# of_part PART COUNT PATTERN COUNT...: so many rows, and so many that match
of_part()
{
    local rows=$scratch/part

    grep "^$1," "$scratch/quick/goals.csv" >"$rows"
    has "$rows" "$2" ''
    shift 2
    while [ $# -gt 0 ]; do
        has "$rows" "$2" "$1"
        shift 2
    done
}

every_part_of_the_goals_is_measured_small()
{
    local part

    "$perf/numbers" --build "$build" --out "$scratch/quick" --quick >"$out" 2>"$err" || fail "status $?: $(cat "$err")"
    goals "$scratch/quick/goals.csv"
    of_part shm 5 ' / raw UCX,.*,2,[0-9]*$' 5
    of_part targets 1 'to 4 targets: rate / raw UCX,.*,>=0.9,.*,5,' 1
    of_part large 9 'non-temporal stores' 2 ' puts: rate / raw UCX' 4 ' get of .*: time / raw UCX,.*,<=' 3 ',>=0.5,' 1 ',>=0.25,' 1
    of_part tcp 10 '[pg][ue]t of [0-9km]* over tcp: rate logged / not logged (medians),' 10 ',>=0.97,' 6
    of_part served 5 'raw UCX' 5
    of_part mixed 16 ' where a program mixes: time / gsyncs alone,.*,<=1.3,' 8 ' where a program waits: time / gsyncs alone,.*,<=1.3,' 8
    if [ -n "$(ls "$build"/perf/kernels/mpi_times_* 2>/dev/null)" ]; then
        of_part mpi 37 'MPI get of [0-9a-zA-Z ]* and flush with logs: time / keel_perftest.s,.*,<=1.2,' 5 ' with logs: time / the faster MPI,' 16 \
            ' without logs: time / the faster MPI,' 16 'accumulate of .* with logs.*,<=2,' 4 ',<=1.3,' 3 ',<=1.5,' 4 ',[0-9.]*,,,2,' 21
    fi
    if [ -x "$build/perf/kernels/shmem_times" ] && command -v oshcc >/dev/null; then
        of_part shmem 16 ' with logs: time / Open MPI,' 6 ' without logs: time / Open MPI,' 10 ',<=2,' 1 ',<=2.5,' 2 ',<=3,' 1 ',<=1,' 6
    fi
    if [ -x "$build/perf/mpi_barrier" ]; then
        of_part gsync 6 'gsync of [24] ranks: us,' 2 'barrier of MPI of [24] ranks: us,' 2 ': time / barrier of MPI,.*,<=1.5,.*,2,' 1 ': time / barrier of MPI,.*,<=1,.*,4,' 1 ',,,4,' 2
    else
        of_part gsync 2 'gsync of [24] ranks: us,' 2
    fi
    of_part ft 24 ',FT S 2 times: ' 24 'default settings: full logs,[0-9.]*,.*,,,' 1 \
        'memory made for them meanwhile MiB,0.000,0.000,0.000,' 2 ': \(puts\|all\) with logs of 52 MiB and no checkpoints ([A-Za-z ]*seconds) overhead %' 6 \
        'and no checkpoints: demand images of a rank,0.000,0.000,0.000,' 1 ': ml (' 3 \
        "less than ML's (.*,>=25,.*,2+1," 3 ': all with default settings (.*,<=4,' 3 'MiB,' 6 'demand images' 2 ',2+1,' 6 \
        'put by a rank MiB,56.000,' 2
    of_part daly 7 "Daly's interval ([A-Za-z ]*seconds) overhead %" 3 ',<=1,' 1 'checkpoints of a run.*,>=5,yes,' 1 \
        ' cost of a checkpoint .* ms,' 1 'cost (MTBF 1 s): s,' 1 'by arithmetic: .* %,' 1
    of_part store 13 ',2+1,' 6 '(CPU seconds)' 4 'share of inserts without protection %,[0-9.]*,[0-9.]*,[0-9.]*,,,2,' 1
    of_part stores 8 '^stores,store of 1m: ' 8 ' ms,[0-9.]*,[0-9.]*,[0-9.]*,,,4,' 3 ',<=1.0,' 1 ',<=1.1,' 2 ',<=1.05,' 2
    of_part ckpt 9 ': the copy ms,' 1 ': a gsync that takes none ms,' 1 'GB/s,' 2 'of 1m: time stopped / memcpy.*,,,4,' 1 \
        ': time stopped with the gsync / memcpy.*,<=1,' 1 ': until safe ms' 1 ': stopped ms' 1 '^ckpt,parity of 1m .*,<=0.5,' 1
    of_part restore 2 'by a spare with 1m: ms,.*,4+1,' 1 'by a new process with 1m: ms,' 1
    for part in shm targets large tcp served mixed mpi shmem gsync ft daly store stores ckpt restore; do
        has "$scratch/quick/$part.machine" 2 '^\(begun\|ended\): .* load '
        has "$scratch/quick/$part.machine" 1 '^settings: rounds 1, ranks 2, class S, MTBF 1 s, quick'
    done
    # all were measured in one way
    has "$out" 1 '^shm targets large tcp served mixed mpi shmem gsync ft daly store stores ckpt restore on .* cores;.*;rounds 1, '
    # and all follows from what is kept
    "$perf/lib/replay" "$scratch/quick" 2>"$err" | diff "$scratch/quick/goals.csv" - >"$scratch/why" ||
        fail "made again: $(cat "$scratch/why")"
    # measured again, a part's rows replace the old ones, and others stay; a part of another commit is named apart
    cp "$scratch/quick/goals.csv" "$scratch/before"
    sed -i 's/^commit: .*/commit: another/' "$scratch/quick/tcp.machine"
    "$perf/numbers" --build "$build" --out "$scratch/quick" --quick large >"$out" 2>"$err" || fail "status $?"
    cut -d, -f1,2 "$scratch/quick/goals.csv" | diff <(cut -d, -f1,2 "$scratch/before") - >"$scratch/why" ||
        fail "rows: $(cat "$scratch/why")"
    has "$scratch/quick/perftest.large.csv" 10 ''
    has "$out" 1 '^tcp on .*;another;'
    has "$out" 1 '^shm targets large served mixed mpi shmem gsync ft daly store stores ckpt restore on '
}

# a keelrun of the build that prints at once all that perf/numbers reads of keel_perftest and the kernels, and tells what it was
# asked, in a line; the job at Daly's interval that is number SHORT takes four checkpoints, every ratio is RATIO
told_build()
{
    idle_build "$1"
    cat >"$1/contrib/keelrun/keelrun" <<'END'
#!/bin/bash
paste -sd' ' <<<"$*" >>"$TOLD"
echo 'kernel: 2.000000 s of user time' >&2
echo 'kernel: 1.000000 s of system time' >&2
rounds=$(sed -nE 's/.* --rounds ([0-9]+).*/\1/p' <<<"$*")
ratios=$(yes "${RATIO:-1.0000}" | head -n "${rounds:-1}" | paste -sd/)
parts='with_gsync safe stopped gsync copy parity core work whole'
taken=6
[ "$(grep -c "=daly " "$TOLD")" != "${SHORT:-none}" ] || taken=4
case $* in *store_times*)
    for row in submit 'load, all ranks a share' 'load, one rank all' 'submit / copy' 'submit, 64-byte blocks / submit' \
        'load, all ranks a share, 64-byte blocks / load, all ranks a share'; do echo "$row: 5 4"; done
    exit
    ;;
esac
detail="ratios=$ratios;$(for part in $parts; do printf '%s=5.000:4.000:6.000;' $part; done)"
echo test,50.0_percentile_lat,seconds,insert_us,checkpoints,checkpoint_copy_s,checkpoint_work_s,put_bytes,put_log_peak,demand_checkpoints,memory_made,communication_percent,detail
batch=$(sed -nE 's/.* -b ([^ ]+).*/\1/p' <<<"$*")
for test in $([ -z "$batch" ] && echo any || cut -d' ' -f1 "$batch"); do
    echo "$test,5,2,3,$taken,0.01,0.02,1048576,1048576,0,0,5,$detail"
done
END
    told_adapters "$1"
}

# the launchers, and a compiler, of MPI and OpenSHMEM; as long as bin precedes in PATH, those of others too
told_adapters()
{
    local folder=$1 each

    mkdir -p "$folder/bin" "$folder/src/adapters/mpi" "$folder/src/adapters/shmem/wrappers/bin"
    cat >"$folder/bin/oshrun" <<'END'
#!/bin/bash
echo "$(basename "$0") $*" >>"$TOLD"
for call in get accumulate; do printf "$call %s 5\n" 512 4096 32768 262144 1048576; done
printf '%s 5\n' 'put 8' 'put 512' 'fetch_add 8' 'lock 0' 'fence 0' 'ping 8' 'barrier 0' 'allreduce 8' 'get_rate 32768' 'fetch 8' 'swap 8' 'cswap 8' 'fetch_inc 8'
echo 'gups: 5 us a step'
END
    printf '#!/bin/sh\n' >"$folder/bin/oshcc"
    chmod +x "$folder/bin/oshrun" "$folder/bin/oshcc"
    for each in bin/mpirun.openmpi bin/mpiexec.mpich src/adapters/mpi/keel-mpirun src/adapters/shmem/wrappers/bin/oshrun \
        perf/kernels/mpi_times_openmpi perf/kernels/mpi_times_mpich perf/kernels/shmem_times; do
        cp "$folder/bin/oshrun" "$folder/$each"
    done
}

# The rows that are promised, each with its bound, (each) for the three times; no other row has one. And what the names of rows
# say of logs was asked for.
bounds_are_those_that_were_set()
{
    local part

    told_build "$scratch/fake"
    export TOLD=$scratch/told
    for part in shm targets large tcp served mixed mpi shmem ft store stores ckpt restore 'ft --class B' 'daly --class B'; do
        # shellcheck disable=SC2086 # an option
        PATH=$scratch/fake/bin:$PATH "$perf/numbers" --build "$scratch/fake" --out "$scratch/full" --pause 0 --rounds 3 $part >"$out" \
            2>"$err" || fail "$part: $(cat "$err")"
    done
    awk -F, 'NR > 1 && $6 != "" { print $6, $2 }' "$scratch/full/goals.csv" | sort >"$scratch/bounds"
    sed '/(each)/{h; s//(seconds)/p; g; s//(user seconds)/p; g; s//(CPU seconds)/; }
        /(way)/{h; s//mixes/p; g; s//waits/; }' <<END | sort >"$scratch/expected"
>=1.2 8 B puts 64 a flush: rate / raw UCX
>=0.9 8 B puts 64 a flush to 64 targets: rate / raw UCX
<=0.6 8 B put with flush: time / raw UCX
>=1.0 blocking fetch-add: rate / raw UCX
<=0.6 8 B blocking get 16 a flush: time / raw UCX
>=0.85 64k puts: rate / non-temporal stores of one core
>=0.85 1m puts: rate / non-temporal stores of one core
>=0.5 4k puts: rate / raw UCX
>=0.25 32k puts: rate / raw UCX
<=3.5 blocking get of 4k 16 a flush: time / raw UCX
<=3.5 blocking get of 32k 16 a flush: time / raw UCX
<=2 blocking get of 1m 16 a flush: time / raw UCX
<=1.3 8 B put with flush where a program (way): time / gsyncs alone
<=1.3 8 B put 64 a flush where a program (way): time / gsyncs alone
<=1.3 8 B blocking get with flush where a program (way): time / gsyncs alone
<=1.3 8 B blocking get 64 a flush where a program (way): time / gsyncs alone
<=1.3 4k put with flush where a program (way): time / gsyncs alone
<=1.3 4k put 64 a flush where a program (way): time / gsyncs alone
<=1.3 4k blocking get with flush where a program (way): time / gsyncs alone
<=1.3 4k blocking get 64 a flush where a program (way): time / gsyncs alone
>=0.97 put of 8 over tcp: rate logged / not logged (medians)
>=0.97 get of 8 over tcp: rate logged / not logged (medians)
>=0.97 put of 512 over tcp: rate logged / not logged (medians)
>=0.97 get of 512 over tcp: rate logged / not logged (medians)
>=0.97 put of 4k over tcp: rate logged / not logged (medians)
>=0.97 get of 4k over tcp: rate logged / not logged (medians)
>=0.85 put of 64k over tcp: rate logged / not logged (medians)
>=0.85 get of 64k over tcp: rate logged / not logged (medians)
>=0.85 put of 1m over tcp: rate logged / not logged (medians)
>=0.85 get of 1m over tcp: rate logged / not logged (medians)
<=1.053 8 B blocking get over tcp: time / raw UCX
>=5 8 B puts 64 a flush over tcp: rate / raw UCX
>=1.2 64k puts over tcp: rate / raw UCX with 64K segments
>=1.2 1m puts over tcp: rate / raw UCX with 64K segments
<=1.2 MPI get of 512 B and flush with logs: time / keel_perftest's
<=1.2 MPI get of 4k and flush with logs: time / keel_perftest's
<=1.2 MPI get of 32k and flush with logs: time / keel_perftest's
<=1.2 MPI get of 256k and flush with logs: time / keel_perftest's
<=1.2 MPI get of 1m and flush with logs: time / keel_perftest's
<=2 MPI accumulate of 4k and flush with logs: time / the faster MPI
<=2 MPI accumulate of 32k and flush with logs: time / the faster MPI
<=2 MPI accumulate of 256k and flush with logs: time / the faster MPI
<=2 MPI accumulate of 1m and flush with logs: time / the faster MPI
<=1.3 MPI put of 8 B and flush with logs: time / the faster MPI
<=1.3 MPI fetch_and_op and flush with logs: time / the faster MPI
<=1.3 MPI exclusive lock and unlock with logs: time / the faster MPI
<=1.5 MPI fence of 2 ranks without logs: time / the faster MPI
<=1.5 MPI message of 8 B without logs: time / the faster MPI
<=1.5 MPI barrier of 2 ranks without logs: time / the faster MPI
<=1.5 MPI allreduce of 8 B without logs: time / the faster MPI
<=2 SHMEM put of 512 B and quiet with logs: time / Open MPI
<=2.5 SHMEM get of 4k with logs: time / Open MPI
<=2.5 SHMEM get of 32k with logs: time / Open MPI
<=3 SHMEM 8 gets of 32k and quiet with logs: time / Open MPI
<=1 SHMEM fetch without logs: time / Open MPI
<=1 SHMEM swap without logs: time / Open MPI
<=1 SHMEM compare-and-swap without logs: time / Open MPI
<=1 SHMEM fetching add without logs: time / Open MPI
<=1 SHMEM fetching increment without logs: time / Open MPI
<=1 SHMEM random updates without logs: time / Open MPI
<=4 FT A 4 times: puts with logs of 936 MiB and no checkpoints (each) overhead %
<=4 FT A 4 times: all with logs of 936 MiB and no checkpoints (each) overhead %
<=4 FT A 4 times: all with default settings (each) overhead %
>=25 FT A 4 times: overhead of logging less than ML's (each) %
<=4 FT B: puts with logs of 3082 MiB and no checkpoints (each) overhead %
<=4 FT B: all with logs of 3082 MiB and no checkpoints (each) overhead %
<=4 FT B: all with default settings (each) overhead %
>=25 FT B: overhead of logging less than ML's (each) %
<=1 FT B: checkpoints at Daly's interval (seconds) overhead %
>=5 FT B: checkpoints of a run at Daly's interval
<=4 store with think time: puts (each) overhead %
<=8 store with think time: all (each) overhead %
>=25 store: overhead of logging less than ML's (each) %
<=1.0 store of 16m: submit / a copy of all copies
<=25 store of 16m: submit ms
<=1 store of 16m: load in equal shares ms
<=2.5 store of 16m: load by one rank ms
<=1.1 store of 16m: submit of 64 B blocks / of 4 KiB
<=1.1 store of 16m: load of 64 B blocks / of 4 KiB
<=1.05 store of 16m: submit protected / not
<=1.05 store of 16m: load in equal shares protected / not
<=1.0 store of 64m: submit / a copy of all copies
<=100 store of 64m: submit ms
<=4 store of 64m: load in equal shares ms
<=10 store of 64m: load by one rank ms
<=1.1 store of 64m: submit of 64 B blocks / of 4 KiB
<=1.1 store of 64m: load of 64 B blocks / of 4 KiB
<=1.05 store of 64m: submit protected / not
<=1.05 store of 64m: load in equal shares protected / not
<=1 checkpoint of 16m: time stopped with the gsync / memcpy by all ranks
<=1 checkpoint of 64m: time stopped with the gsync / memcpy by all ranks
<=0.5 parity of 16m at Daly's interval (MTBF 600 s): %
<=0.5 parity of 64m at Daly's interval (MTBF 600 s): %
<=8 checkpoint of 16m: until safe ms
<=30 checkpoint of 64m: until safe ms
<=25 SIGKILL to restored by a spare with 16m: ms
<=80 SIGKILL to restored by a spare with 64m: ms
END
    diff "$scratch/expected" "$scratch/bounds" >"$scratch/why" || fail "bounds: $(cat "$scratch/why")"
    has "$TOLD" 3 '^--timeout 300 -n 65 \(bash \|/\).* --rounds 1 -t put_mr --pattern star '
    # in three rounds; where no log is named none is set
    has "$TOLD" 12 '=off -x KEEL_OPLOG_SIZE=936m -x KEEL_OPLOG_SOFT=0 .*/ft[ml_]* -c A --warmup --repeat 4 --csv$'
    has "$TOLD" 12 '=off -x KEEL_OPLOG_SIZE=3082m -x KEEL_OPLOG_SOFT=0 .*/ft[ml_]* -c B --warmup --repeat 1 --csv$'
    has "$TOLD" 3 '^--timeout 300 -n 2 \(bash \|/\).*/ft -c A --warmup --repeat 4 --csv$'
    # all libraries in each round, with the promise and without
    has "$TOLD" 3 '^keel-mpirun --mpi mpich -n 2 -x KEEL_DETERMINISTIC=n -x KEEL_GETLOG_SIZE=256m .*/placed .*/mpi_times_mpich 20000$'
    has "$TOLD" 3 '^keel-mpirun --mpi mpich -n 2 -x KEEL_DETERMINISTIC=waits -x KEEL_GETLOG_SIZE=256m .*/placed .*/mpi_times_mpich 20000$'
    has "$TOLD" 3 '^mpirun.openmpi .* -np 2 .*/placed .*/mpi_times_openmpi 20000$'
    has "$TOLD" 3 '^mpiexec.mpich -n 2 .*/placed .*/mpi_times_mpich 20000$'
    has "$TOLD" 6 '^oshrun .*-np 2 -x SHMEM_KEEL_DETERMINISTIC=y .*/placed '
    has "$TOLD" 6 '^oshrun .*-np 2 -x KEEL_PROTECT=none .*/placed '
    # a job that tells fewer rounds than it was asked for
    sed -i 's/head -n "${rounds:-1}"/head -n 1/' "$scratch/fake/contrib/keelrun/keelrun"
    ! "$perf/numbers" --build "$scratch/fake" --out "$scratch/full" --rounds 4 shm >"$out" 2>"$err" || fail 'a lost round'
    one_line '^perf/numbers: not all rounds were measured of: 8 B puts 64 a flush: rate / raw UCX$'
}

# 0.8496 is shown as 0.850, which is no less than the goal of 0.85
goals_are_judged_as_they_are_shown()
{
    local ratio

    told_build "$scratch/fake"
    export TOLD=$scratch/told RATIO
    for ratio in 0.8494:0.849:NO 0.8496:0.850:yes 0.8504:0.850:yes; do
        RATIO=${ratio%%:*}
        "$perf/numbers" --build "$scratch/fake" --out "$scratch/shown" --rounds 2 large >"$out" 2>"$err" || fail "$(cat "$err")"
        ratio=${ratio#*:}
        has "$scratch/shown/goals.csv" 2 ",${ratio%:*},${ratio%:*},${ratio%:*},>=0.85,${ratio#*:},2,"
    done
}

# a run that takes four checkpoints where five were promised: all rounds are measured anew, with FT repeated more often
short_runs_are_measured_again()
{
    local fake=$scratch/fake

    told_build "$fake"
    # the first run that counts, behind the one that tries
    export TOLD=$scratch/told SHORT=2
    "$perf/numbers" --build "$fake" --out "$scratch/short" --pause 0 --rounds 2 daly >"$out" 2>"$err" || fail "$(cat "$err")"
    has "$TOLD" 3 ' --repeat 1$'
    has "$TOLD" 4 ' --repeat 2$'
    has "$scratch/short/daly.txt" 1 '^daly: 4 checkpoints in a run; all rounds anew, of FT A repeated 2 times$'
    has "$scratch/short/daly.rounds.csv" 2 ',daly,checkpoints,6$'
    has "$scratch/short/goals.csv" 1 'checkpoints of a run.*,6.000,6.000,6.000,>=5,yes,'
}

# no job, or none that prints anything: the measurement ends, and nothing is written of it
lost_jobs_end_the_measurement()
{
    local fake=$scratch/fake part file=$scratch/lost/goals.csv

    export TOLD=$scratch/told
    idle_build "$fake"
    told_adapters "$fake"
    for part in mpi shmem; do
        printf '#!/bin/sh\nexit 1\n' | tee "$fake/src/adapters/mpi/keel-mpirun" >"$fake/src/adapters/shmem/wrappers/bin/oshrun"
        ! PATH=$fake/bin:$PATH "$perf/numbers" --build "$fake" --out "$scratch/lost" --quick $part >"$out" 2>"$err" || fail "$part: no job"
        has "$err" 1 '^perf/numbers: a job failed: '
        printf '#!/bin/sh\nexit 0\n' | tee "$fake/src/adapters/mpi/keel-mpirun" >"$fake/src/adapters/shmem/wrappers/bin/oshrun"
        ! PATH=$fake/bin:$PATH "$perf/numbers" --build "$fake" --out "$scratch/lost" --quick $part >"$out" 2>"$err" || fail "$part: no rows"
        has "$file" 1 ''
        [ ! -e "$scratch/lost/$part.machine" ] || fail "$part has a machine"
    done
    for part in shm tcp ft daly store stores ckpt restore; do
        printf '#!/bin/sh\nexit 1\n' >"$fake/contrib/keelrun/keelrun"
        ! "$perf/numbers" --build "$fake" --out "$scratch/lost" --quick $part >"$out" 2>"$err" || fail "$part: no job"
        has "$err" 1 '^perf/numbers: a job failed: '
        printf '#!/bin/sh\nexit 0\n' >"$fake/contrib/keelrun/keelrun"
        ! "$perf/numbers" --build "$fake" --out "$scratch/lost" --quick $part >"$out" 2>"$err" || fail "$part: no rows"
        has "$file" 1 ''
        [ ! -e "$scratch/lost/$part.machine" ] || fail "$part has a machine"
    done
}

wrong_options_are_refused()
{
    local wrong

    for wrong in '--ranks 1' '--ranks two' '--rounds 0' everything '--class'; do
        # shellcheck disable=SC2086 # two words
        ! "$perf/numbers" --build "$build" --out "$scratch/none" $wrong >"$out" 2>"$err" || fail "not refused: $wrong"
        one_line '^perf/numbers: '
        [ ! -e "$scratch/none" ] || fail "a folder for $wrong"
    done
}

# groups of ranks beside Open MPI: each call and size, once
groups_are_compared()
{
    [ -x "$build/perf/mpi_group_times" ] || exit 77
    "$perf/groups/beside" -n 1 -p 3 -c 10 "$build" >"$out" 2>"$err" || fail "nothing is compared"
    has "$out" 1 '^ranks,call,bytes,keel_us,ompi_us,none_lower,none_median,none_upper,logs_lower,logs_median,logs_upper$'
    has "$out" 25 '^3,[a-z]*,[0-9]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*$'
    has "$out" 26 .
    ! "$perf/groups/beside" -p 3 "$scratch" >"$out" 2>"$err" || fail "a build is not looked for"
}

run_case
