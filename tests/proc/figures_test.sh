#!/bin/bash
# One case of the papers' figures: figures_test.sh DIRECTORY-OF-THE-BUILD CASE. How fast anything is is not judged here.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun
perf=$(cd "$(dirname "$0")/../../perf" && pwd)
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"

# figure NAME KEYS CONFIGS: both separated by commas. NAME.csv has numbers of one round for each key with each config, in any
# order and nothing else, its rounds are kept, and there are two pictures of it.
figure()
{
    local file=$scratch/figures/$1.csv

    awk -v keys="$2" -v configs="$3" 'BEGIN { k = split(keys, key, ","); c = split(configs, config, ",")
        for (i = 1; i <= k; i++) for (j = 1; j <= c; j++) print key[i] "," config[j] }' | sort >"$scratch/expected"
    sed 1d "$file" | cut -d, -f1,2 | sort | diff "$scratch/expected" - >"$scratch/why" || fail "$1: $(cat "$scratch/why")"
    has "$file" "$(wc -l <"$scratch/expected")" '^[^,]*,[^,]*\(,-*[0-9][0-9.e+-]*\)\{3\},1$'
    "$perf/lib/shown" "$scratch/figures" "$1" | cmp - "$file" || fail "$1: its rounds are not kept"
    [ "$1" = checkpoints.taken ] || { [ -s "${file%csv}svg" ] && [ -s "${file%csv}png" ]; } || fail "$1: no picture"
}

# value NAME KEY CONFIG: its median
value()
{
    awk -F, -v key="$2" -v config="$3" '$1 == key && $2 == config { print $3 }' "$scratch/figures/$1.csv"
}

all_parts_come_to_pictures_and_a_page()
{
    local part ranks="2 ranks,2 ranks: CPU,4 ranks,4 ranks: CPU" sizes=8,64,512,4096,16384,65536,262144,1048576,4194304
    command -v gnuplot >/dev/null || exit 77
    "$perf/figures/run" --build "$build" --out "$scratch/figures" --quick >"$out" 2>"$err" || fail "status $?"
    figure checkpoints "$ranks" daly,fixed
    figure checkpoints.taken '2 ranks: checkpoints,4 ranks: checkpoints' none,daly,fixed
    [ "$(value checkpoints.taken '2 ranks: checkpoints' none)" -eq 0 ] || fail 'checkpoints without any'
    figure checksums "16 ranks,16 ranks: CPU" 12.5-none,12.5-node,6.25-none,6.25-node
    figure cg "$ranks" puts,all,ml
    has "$scratch/figures/README.md" 1 '^## Checksum ranks and topology awareness'
    has "$scratch/figures/README.md" 1 '^## Logging, CG '
    figure demand "$(sed -n 's/^eighths.=//p' "$scratch/figures/demand.with" | paste -sd,)" 'images,more time %'
    figure logging "$ranks" puts,all,ml
    figure store "$ranks" puts,all,ml
    figure store_closed "$ranks" puts,all,ml
    has "$scratch/figures/store.with" 1 '^share=[0-9.]*$'
    has "$scratch/figures/logging.with" 1 '^oplog=42$'
    has "$scratch/figures/store.with" 1 '^oplog=128$'
    for part in $(sed -n 's/^eighths.=//p' "$scratch/figures/demand.with"); do
        grep -q "with $part MiB" -i "$scratch/figures/README.md" || fail "the page says nothing of logs of $part MiB"
    done
    figure groups 2,4 whole,rebuild,restore,replay
    figure sizes_shm $sizes 'Keel logged,Keel not logged,UCX'
    figure sizes_tcp $sizes 'Keel logged,Keel not logged,UCX'
    figure moments 0,1 none,local,global,capped,demand
    figure work 0,1 local,global,capped,demand
    # half an iteration, of one rank or of all, is 14 steps: the one in which it died is done again
    [ "$(value work 0 local) $(value work 1 local) $(value work 0 global)" = '0.518519 1.51852 2.07407' ] || fail 'work'
    # what the logs hold is told apart
    [ "$(value work 0 capped) $(value work 1 capped)" = '0.518519 6.07407' ] || fail 'work with logs that are too small'
    for part in checkpoints checksums demand logging cg store groups sizes moments; do
        has "$scratch/figures/$part.machine" 1 '^2[0-9-]* *, [0-9]* cores* (.*), load [0-9.]* before and [0-9.]* after, commit '
        has "$scratch/figures/README.md" 1 "^| $part | $(sed 's/[][\\.*^$]/\\&/g' "$scratch/figures/$part.machine") |\$"
    done
    has "$scratch/figures/README.md" 1 '^-*[0-9.]* % longer with puts logged, -*[0-9.]* % with gets too'
    has "$scratch/figures/README.md" 1 '^1 and a half, 1.52 iterations are done again by local rollback, of all ranks, and 6.07 by global'
    has "$scratch/figures/README.md" 0 '{{'
    has "$scratch/figures/README.md" 0 ', which has: \|[a-z0-9] not recorded)'
    has "$scratch/figures/README.md" 1 '(not recorded)' # of the goals
    has "$scratch/figures/README.md" 1 '^(not measured: perf/figures/run goals)$'
}

page_says_what_was_measured()
{
    local folder=$scratch/page
    mkdir -p "$folder/goals"
    printf 'few=3\nmany=5\nfixed=0.5\n' >"$folder/checkpoints.with"
    printf 'key,config,median,quartile1,quartile3,rounds\n3 ranks,fixed,1234.5,-3,2e3,5\n' >"$folder/checkpoints.csv"
    echo 'some day, 2 cores' >"$folder/checkpoints.machine"
    printf 'begun: another day\nended: at night\n' >"$folder/goals/shm.machine"
    printf '%s\n' part,what,value,quartile1,quartile3,goal,met,ranks,cores 'shm,a,1.5,0,0,>=2,NO,2,2' \
        'shm,b,5,4,6,<=4,NO,2,2' 'shm,c %,5,3,6,<=4,unclear,2+1,2' 'shm,d,3,1,4,<=4,yes,2,2' 'shm,e,3,1,4,,,2,2' \
        >"$folder/goals/goals.csv"
    "$perf/figures/page" "$folder" || fail "status $?"
    has "$folder/README.md" 1 ' and 1230 \[-3, 2000\] % with one of 0.5 s, with 3 ranks$'
    has "$folder/README.md" 1 '^(no 5 ranks of daly in checkpoints.csv, which has: 3 ranks) % and (no 5 ranks of fixed'
    has "$folder/README.md" 1 '^| checkpoints | some day, 2 cores |$'
    has "$folder/README.md" 1 '^| demand | (not recorded) |$'
    # parts that are measured by themselves are left out where they were not
    has "$folder/README.md" 0 'Checksum ranks and topology\|^| cg |\|{{'
    has "$folder/README.md" 1 '^| shm | begun: another day; ended: at night |$'
    has "$folder/README.md" 1 '^| a |  | 1.5 |  | at least 2 | \*\*no\*\* | 25 % | 2 |$'
    has "$folder/README.md" 1 '^| b |  | 5 | 4 to 6 | at most 4 | \*\*no\*\* | 25 % | 2 |$'
    has "$folder/README.md" 1 '^| c % |  | 5 | 3 to 6 | at most 4 | unclear | 1 points | 2+1 |$'
    has "$folder/README.md" 1 '^| d |  | 3 | 1 to 4 | at most 4 | yes |  | 2 |$'
    has "$folder/README.md" 1 '^| e |  | 3 | 1 to 4 |  |  |  | 2 |$'
    # cells of that table, and the parts of recoveries
    has "$folder/README.md" 1 'as fast, where (no row 8 B puts 64 a flush over tcp: rate / raw UCX in goals.csv) stands above'
    has "$folder/README.md" 1 '^(not measured)$'
    printf '%s\n' 'served,8 B puts 64 a flush over tcp: rate / raw UCX,17.1,17,18,>=5,yes,2,2' 'restore,x: ms,9,8,10,,,4,2' \
        "daly.B,FT B: checkpoints at Daly's interval (seconds) overhead %,0.71,-2,3,<=1,unclear,2,2" \
        'restore,SIGKILL to restored by a spare with 16m: ms,19,17,22,<=25,yes,4+9,2' >>"$folder/goals/goals.csv"
    printf 'test,detail\nrestore,whole=9:8:10;rebuild=2:1:3;replay=4.5:4:5\nrestore,whole=19:1:1;rebuild=7:1:1;replay=8:1:1\n' \
        >"$folder/goals/perftest.restore.csv"
    "$perf/figures/page" "$folder" || fail "status $?"
    has "$folder/README.md" 1 'as fast, where 17.1 stands above'
    has "$folder/README.md" 1 "^| FT B: checkpoints at Daly's interval (seconds) overhead % | 1-5 % | 0.71 |"
    has "$folder/README.md" 1 '^| SIGKILL to restored by a spare with 16m: ms | Fenix 87 | 19 |'
    has "$folder/README.md" 1 'differs by 0.71 \[-2, 3\] %'
    has "$folder/README.md" 1 '(reached with 16 MiB: yes, with 64 MiB: (no row'
    has "$folder/README.md" 1 '^| ms | whole | rebuild | replay | the rest |$'
    has "$folder/README.md" 1 '^| x | 9 | 2 | 4.5 | 2.5 |$'
    has "$folder/README.md" 1 '^| SIGKILL to restored by a spare with 16m | 19 | 7 | 8 | 4 |$'
}

bad_figures_are_refused()
{
    local bad text
    command -v gnuplot >/dev/null || exit 77
    while IFS=: read -r bad text; do
        # shellcheck disable=SC2086
        timeout 20 "$perf/figures/run" --build "$build" --out "$scratch/figures" $bad >"$out" 2>"$err" &&
            fail "not refused: $bad"
        one_line "$text"
    done <<END
--rounds 0:rounds 0 is no number
--every 8:every 8 is not 1 to 7
--ranks x:ranks x or
everything:neither an option nor a part
--out:needs a value
END
}

# and their part has no machine
jobs_that_fail_end_the_figures()
{
    command -v gnuplot >/dev/null || exit 77
    local part
    ! "$perf/figures/run" --build "$build" --out "$scratch/figures" --quick --ranks 3 logging >"$out" 2>"$err" ||
        fail 'FT on three ranks'
    has "$err" 1 'a job failed'
    [ ! -e "$scratch/figures/logging.machine" ] || fail 'measured on a machine, though nothing was measured'
    # so does one that says nothing
    idle_build "$scratch/fake"
    for part in checkpoints demand logging store groups moments sizes; do
        ! "$perf/figures/run" --build "$scratch/fake" --out "$scratch/figures" --quick $part >"$out" 2>"$err" ||
            fail "$part of nothing"
        [ ! -e "$scratch/figures/$part.machine" ] || fail "$part was measured on a machine, though it was not"
    done
    # and one that leaves something out
    printf '#!/bin/sh\nprintf "test,detail\\nrestore,whole=1:1:1;rebuild=2:2:2;replay=3:3:3\\n"\n' \
        >"$scratch/fake/contrib/keelrun/keelrun"
    ! "$perf/figures/run" --build "$scratch/fake" --out "$scratch/figures" --quick groups >"$out" 2>"$err" ||
        fail 'groups without a restore'
    one_line "no number was measured of restore, 2: ''"
}

# to perf/numbers, and nothing else
goals_are_passed_what_was_given()
{
    command -v gnuplot >/dev/null || exit 77
    mkdir -p "$scratch/copy" && cp -r "$perf/figures" "$perf/lib" "$scratch/copy"
    printf '#!/bin/sh\necho "passed $*"\n' >"$scratch/copy/numbers"
    chmod +x "$scratch/copy/numbers"
    "$scratch/copy/figures/run" --build "$build" --out "$scratch/figures" goals >"$out" 2>"$err" || fail "status $?"
    has "$out" 1 "^passed --build $build --out $scratch/figures/goals$"
    "$scratch/copy/figures/run" --build "$build" --out "$scratch/figures" --mtbf 7 --rounds 3 goals >"$out" 2>"$err" ||
        fail "status $?"
    has "$out" 1 '/goals --rounds 3 --mtbf 7$'
}

# and every row that is named is there
costs_show_what_is_missed()
{
    local copy=$scratch/copy goals=$scratch/copy/perf/figures/goals/goals.csv

    mkdir -p "$copy/perf/lib" "$copy/contrib/doc" "${goals%/*}"
    cp "$perf/lib/costs" "$copy/perf/lib"
    printf '%s\n' text '<!-- costs: -->' old '<!-- end of costs -->' more >"$copy/contrib/doc/costs.md"
    awk -F, -v OFS=, 'NR > 1 { $7 = "" } $2 ~ /^posted add/ { $7 = "NO"; $6 = ">=9" } $2 ~ /^blocking fetch-add/ { $7 = "unclear" } 1' \
        "$perf/figures/goals/goals.csv" >"$goals"
    cp "$perf"/figures/goals/*.machine "${goals%/*}"
    printf '%s\n' 'commit: 123456789a' 'code: 1' >"${goals%/*}/shm.machine"
    printf '%s\n' 'commit: 123456789b' 'code: 2' >"${goals%/*}/ckpt.machine"
    printf '%s\n' '#!/bin/sh' 'echo 1' >"$copy/perf/lib/code"
    chmod +x "$copy/perf/lib/code"
    "$copy/perf/lib/costs" >"$out" 2>"$err" || fail "status $?"
    has "$out" 1 '^| checkpoint of 64m: until safe ms | .* | 12345678, older code |$'
    has "$out" 1 '^| posted add 64 a flush: rate / raw UCX | [0-9.]* \[[0-9.]*, [0-9.]*\] | at least 9 | \*\*no\*\* | 2 | 12345678 |$'
    has "$out" 1 '\*\*no\*\*'
    has "$out" 1 '^| blocking fetch-add: .* | at least 1.0 | unclear | 2 | 12345678 |$'
    has "$out" 0 '^| put of 8 over tcp'
    has "$out" 1 '^text$'
    has "$out" 0 '^old$'
    sed -i '/^store,store: overhead/d' "$goals"
    ! "$copy/perf/lib/costs" >"$out" 2>"$err" || fail 'a row is lost'
    one_line '^perf/lib/costs: no row of the goals: store: overhead'
}

# a part's sum follows each change of its code, and no change of a comment
code_of_a_part_has_a_sum()
{
    local copy=$scratch/copy before part

    mkdir -p "$copy/perf/lib"
    cp -r "$perf/../src" "$perf/../transports" "$copy"
    cp "$perf/lib/code" "$copy/perf/lib"
    before=$("$copy/perf/lib/code" shm)
    echo "$before" >"$out"
    has "$out" 1 '^[0-9a-f]\{16\}$'
    printf '%s\n' '/* a comment /', ' * and * more **/' '' >>"$copy/src/rma/put.c"
    [ "$("$copy/perf/lib/code" shm)" = "$before" ] || fail 'a comment counts'
    echo 'int more;' >>"$copy/src/rma/put.c"
    [ "$("$copy/perf/lib/code" shm)" != "$before" ] || fail 'code does not count'
    [ "$("$copy/perf/lib/code" ckpt)" = "$("$perf/lib/code" ckpt)" ] || fail 'code of another part counts'
    before=$("$copy/perf/lib/code" mpi)
    echo 'int more;' >>"$copy/src/peer/combine/combine_plain.c"
    [ "$("$copy/perf/lib/code" mpi)" != "$before" ] || fail 'code of accumulates does not count'
    ! "$copy/perf/lib/code" none >"$out" 2>"$err" || fail 'a part of no name'
    for part in $(sed -n 's/^parts="\(.*\)"$/\1/p' "$perf/numbers"); do
        "$copy/perf/lib/code" "$part" >"$out" 2>"$err" || fail "no sum of $part"
    done
}

# by lint, in a copy with those parts only that are quick
numbers_changed_by_hand_are_found()
{
    local copy=$scratch/copy goals=perf/figures/goals file edit

    mkdir -p "$copy/tests/lint"
    cp -r "$perf" "$copy/perf"
    cp "$perf/../tests/lint/lint.sh" "$copy/tests/lint"
    cd "$copy" || fail 'no copy'
    find $goals -name '*.machine' -not -name 'shm.*' -not -name 'daly.*' -delete
    sed -i -E '/^(part|shm|daly[.B]*),/!d' $goals/goals.csv
    # replayed once, and that is written down
    : >tests/lint/replayed
    ! tests/lint/lint.sh measured >"$out" 2>"$err" || fail 'what was never replayed passes'
    sed -n 's/.*tests\/lint\/replayed is to be //p' "$out" "$err" >tests/lint/replayed
    tests/lint/lint.sh measured >"$out" 2>"$err" || fail 'what is committed does not follow from its raw data'
    cp -r perf "$scratch/whole"
    while read -r file edit; do
        sed -i "$edit" "perf/figures/$file"
        ! cmp -s "perf/figures/$file" "$scratch/whole/figures/$file" || fail "changes nothing: $file $edit"
        ! tests/lint/lint.sh measured >"$out" 2>"$err" || fail "not found: $file $edit"
        ! grep -q 'replayed is to be' "$out" "$err" || fail "replayed as it was: $file $edit"
        cp "$scratch/whole/figures/$file" "perf/figures/$file"
    done <<'END'
goals/goals.csv /^shm.*fetch-add/s/,[0-9.]*/,9.999/2
goals/goals.csv /^shm.*fetch-add/s/,[0-9.]*,>=/,9.999,>=/
goals/goals.csv /^shm.*fetch-add/s/>=1.0/>=0.1/
goals/goals.csv /^daly.*(seconds)/s/\(yes\|NO\|unclear\),/reached,/
goals/goals.csv /^daly.*: share of a run/d
goals/perftest.shm.csv 2d
goals/daly.B.rounds.csv $d
goals/shm.machine /^settings/d
logging.csv 2s/,[-0-9.e]*/,99/2
demand.rounds.csv 1d
END
    # nor does a page that lacks something pass
    cp "$perf/figures/goals/"* $goals
    tests/lint/lint.sh figures >"$out" 2>"$err" || fail 'what is committed lacks something'
    sed -i 's/^SIGKILL to restored by a spare/another/' perf/lib/peers
    ! tests/lint/lint.sh figures >"$out" 2>"$err" || fail 'peers of no row'
    has "$out" 2 '^perf/lib/peers: no row of the goals: another'
    rm perf/figures/logging.with
    perf/figures/page perf/figures
    ! tests/lint/lint.sh figures >"$out" 2>"$err" || fail 'a page without a setting'
    has "$out" 1 'what page.md asks for is not there$'
}

run_case
