#!/bin/bash
# Runs a kernel with one rank killed at a random moment, many times. Each run must end well, with the memory of an
# undisturbed run, with the victim as the only process that died, and with nothing left behind. Two other ends are right:
# deaths beyond parity, where that many of one group were planned, and a death when the job was over and only leaving.
set -u

usage()
{
    cat <<'END'
usage: kills.sh [options]
  --build DIR           where keelrun and the kernels were built (build)
  --program ft|stencil|stencil-atomics|sections|waits|dht|cg|kmeans|pagerank|hydro
                        what is run (ft)
  --lane direct|served|auto
                        KEEL_LANES; auto: direct inside a node, served between nodes (auto)
  --runs N              so many runs with deaths (25)
  --victims N           moments of death in each run (1)
  --together N          ranks killed at each moment (1)
  --spares N            dead ranks are replaced by processes that wait, so many, instead of by new ones (0)
  --node yes|no         a whole node is killed at each moment instead (no)
  --parities N          KEEL_PARITIES (1)
  --demand yes|no       logs far too small for the run and no coordinated checkpoints: every rank that dies comes back
                        alone, from images taken because logs were full; with stencil (no)
  --seed S              of victims, moments and checkpoint intervals (drawn and printed)
  --first N             number of the first run, to repeat one (1)
  --ranks N, --nodes N  size of the job (8, 4)
  --netns yes|no|auto   nodes in network namespaces: yes is status 77 where that is refused, auto goes on without (no)
  --timeout S           bound of each run (60)
  -x NAME=VALUE         for the program
  --keep DIR            keep the output of failed runs there
END
}

fail_usage()
{
    echo "kills.sh: $1 (see --help)" >&2
    exit 2
}

# All that a run could leave behind lies in namespaces of our own where the machine allows.
if [ -z "${KILLS_PRIVATE:-}" ]; then
    export KILLS_PRIVATE=no
    if [ "$(id -u)" -eq 0 ] && unshare --mount --ipc mount -t tmpfs tmpfs /dev/shm 2>/dev/null; then
        KILLS_PRIVATE=yes exec unshare --mount --ipc "$BASH" "$0" "$@"
    fi
fi
[ "$KILLS_PRIVATE" = no ] || mount -t tmpfs tmpfs /dev/shm || exit 1

build=build program=ft lane=auto runs=25 victims=1 together=1 node=no demand=no parities=1 spares=0 seed=$((SRANDOM % 1000000 + 1)) first=1 ranks=8 nodes=4 netns=no
timeout=60 keep='' variables=()
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage; exit 0 ;;
    esac
    [ $# -ge 2 ] || fail_usage "$1 needs a value"
    case $1 in
        --runs | --victims | --together | --parities | --spares | --seed | --first | --ranks | --nodes | --timeout)
            [[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || fail_usage "$1 needs a number from 1 on" ;;
    esac
    case $1 in
        --build) build=$2 ;;
        --program) program=$2 ;;
        --lane) lane=$2 ;;
        --runs) runs=$2 ;;
        --victims) victims=$2 ;;
        --together) together=$2 ;;
        --spares) spares=$2 ;;
        --node) node=$2 ;;
        --demand) demand=$2 ;;
        --parities) parities=$2 ;;
        --seed) seed=$2 ;;
        --first) first=$2 ;;
        --ranks) ranks=$2 ;;
        --nodes) nodes=$2 ;;
        --netns) netns=$2 ;;
        --timeout) timeout=$2 ;;
        --keep) keep=$2 ;;
        -x) variables+=(-x "$2") ;;
        *) fail_usage "unknown option $1" ;;
    esac
    shift 2
done
[[ $lane =~ ^(direct|served|auto)$ ]] || fail_usage "--lane is direct, served or auto"
[[ $netns =~ ^(yes|no|auto)$ ]] || fail_usage "--netns is yes, no or auto"
[[ $node =~ ^(yes|no)$ ]] || fail_usage "--node is yes or no"
[[ $demand =~ ^(yes|no)$ ]] || fail_usage "--demand is yes or no"
[ "$together" -lt "$ranks" ] || fail_usage "--together is less than the ranks"
[ "$spares" -eq 0 ] || [ $((victims * together)) -le "$spares" ] || fail_usage "--spares is not less than those killed"
keelrun=$build/contrib/keelrun/keelrun
# logs that are large enough: a job with smaller ones starts faster
case $program in
    ft) command=("$build/perf/kernels/ft" -c S --repeat 4 --json) oplog=48m ;;
    stencil) # a sweep between nodes takes many times as long as one inside a node
        command=("$build/perf/kernels/stencil" -s 256x256 --json -n) oplog=8m
        if [ "$lane" = direct ] || [ "$demand" = yes ]; then command+=(400); else command+=(150); fi ;;
    stencil-atomics)
        command=("$build/perf/kernels/stencil" -s 128x128 --atomics --json -n) oplog=8m
        if [ "$lane" = direct ]; then command+=(200); else command+=(100); fi ;;
    cg) command=("$build/perf/kernels/cg" -c S --json) oplog=48m ;;
    kmeans) command=("$build/perf/kernels/kmeans" -n 500 --json) oplog=48m ;;
    pagerank) command=("$build/perf/kernels/pagerank" -n 1000 --json) oplog=48m ;;
    hydro) command=("$build/perf/kernels/hydro" --no-verify --json) oplog=48m ;; # its energy is the published one
    sections) # a lock between nodes is some messages, one inside a node some instructions
        command=("$build/tests/proc/sections" --json -n) oplog=48m
        if [ "$lane" = direct ]; then command+=(6000 --unit 250); else command+=(30); fi ;;
    waits) # the same of a flag
        command=("$build/tests/proc/waits" --json -n) oplog=8m
        if [ "$lane" = direct ]; then command+=(1200); else command+=(200); fi ;;
    dht) # the same of an insert
        command=("$build/perf/kernels/dht" --closed --json -n) oplog=48m
        if [ "$lane" = direct ]; then command+=(40000 --batch 1000); else command+=(1000 --batch 25); fi ;;
    *) fail_usage "--program is ft, stencil, stencil-atomics, sections, waits, dht, cg, kmeans, pagerank or hydro" ;;
esac
if [ "$demand" = yes ]; then # an image is in use some gsyncs after it was asked for
    [ "$program" = stencil ] || fail_usage "--demand goes with stencil"
    oplog=256k
    variables+=(-x KEEL_CKPT_INTERVAL=off -x KEEL_OPLOG_SOFT=15)
fi
for file in "$keelrun" "${command[0]}"; do
    [ -x "$file" ] || fail_usage "$file is not built"
done

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
mkdir "$scratch/tmp"
export KILLS_ID=kills.$$.$SRANDOM # by it our processes are known
launch=("$keelrun" -n "$ranks" --nodes "$nodes" --timeout "$timeout" -v -x "KEEL_OPLOG_SIZE=$oplog" -x KEEL_GETLOG_SIZE=4m
    -x "KEEL_PARITIES=$parities"
    "${variables[@]}")
spares_again=''
if [ "$spares" -gt 0 ]; then
    launch+=(--spares "$spares")
    spares_again=" --spares $spares"
fi

if [ "$netns" != no ]; then
    "$keelrun" --netns true >/dev/null 2>&1
    case $? in
        0) launch+=(--netns) ;;
        77)
            echo "kills: no network namespaces on this machine"
            [ "$netns" = auto ] || exit 77 ;;
        *)
            echo "kills: keelrun --netns true failed" >&2
            exit 1 ;;
    esac
fi

# launch_job OUTPUT ARGUMENTS-OF-KEELRUN... -- ARGUMENTS-OF-PROGRAM...: stdout to OUTPUT, stderr to OUTPUT.err
launch_job()
{
    local output=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    # the outer bound is for a launcher that hangs itself
    TMPDIR=$scratch/tmp KEEL_LANES=$lane KEEL_VERBOSE=y timeout -k 5 $((timeout + 20)) \
        "${launch[@]}" "${options[@]}" "${command[@]}" "$@" >"$output" 2>"$output.err" </dev/null
}

value_of() { sed -n "s/.*\"$2\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$1" | tail -n 1; }

own_processes() { grep -slzF "KILLS_ID=$KILLS_ID" /proc/[0-9]*/environ 2>/dev/null | grep -v -e "/$$/" -e "/$BASHPID/"; }

shm_files() { ls -A /dev/shm; }

# What a run left behind, as words; empty when nothing.
left_behind()
{
    local tries=10 file left=()

    for (( ; tries > 0; tries--)); do
        left=()
        for file in $(own_processes); do
            # a process that ran the checks above in a subshell is gone by now
            [ -e "$file" ] && left+=("process:$(tr '\0' ' ' <"${file%environ}cmdline" 2>/dev/null)")
        done
        [ ${#left[@]} -gt 0 ] || break
        sleep 0.1 # a killed process may still be going
    done
    for file in $(comm -13 "$scratch/shm" <(shm_files)); do
        left+=("/dev/shm/$file")
    done
    while IFS= read -r file; do
        left+=("TMPDIR/$file")
    done < <(find "$scratch/tmp" -mindepth 1 -printf '%P\n')
    if [ "$KILLS_PRIVATE" = yes ] && [ "$(wc -l </proc/sysvipc/shm)" -gt 1 ]; then
        left+=("sysv-segments")
    fi
    echo "${left[*]}"
}

# is_planned ERR VICTIMS...: the catastrophe it tells of is of more ranks than parity covers, all of them victims
is_planned()
{
    local file=$1 lost rank
    local -a list
    shift
    lost=$(sed -n 's/^keel .* error: catastrophic failure: ranks \([0-9, ]*\) of group .*/\1/p' "$file" | head -n 1)
    read -r -a list <<<"${lost//,/}"
    [ ${#list[@]} -gt "$parities" ] || return 1
    for rank in "${list[@]}"; do
        [[ " $* " == *" $rank "* ]] || return 1
    done
}

# what this run's end is called when it was not that of an undisturbed one but is right all the same, or nothing
declared_end()
{
    if is_planned "$scratch/out.err" "${victim_ranks[@]}"; then
        echo "beyond parity"
    elif grep -qE 'nothing is recovered( any more| then)?$' "$scratch/out.err"; then
        echo "while leaving"
    fi
}

# one death of a program whose every access can be done again, or has a record: rank 0 of the stencil with atomics has none of
# what it fetches from its own memory, sections have atomics, and inserts swap
must_be_local()
{
    [ "$killed" -eq 1 ] || return 1
    case $program,$lane in
        ft,* | stencil,* | cg,* | kmeans,* | pagerank,* | hydro,* | waits,* | sections,served) ;;
        stencil-atomics,served) [[ " ${victim_ranks[*]} " != *" 0 "* ]] ;;
        *) return 1 ;;
    esac
}

milliseconds_now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# from the ranks' meeting to the end, in which the deaths fall: of the shortest run without one so far. Others share the machine.
span=0 # microseconds
measure_span()
{
    local seconds
    seconds=$(value_of "$1" seconds)
    seconds=$((10#${seconds/./}))
    [ $span -ne 0 ] && [ $span -le $seconds ] || span=$seconds
}

shm_files >"$scratch/shm"
reference=''
for run in 1 2; do
    launch_job "$scratch/reference" --
    status=$?
    memory=$(value_of "$scratch/reference" memory)
    if [ $status -ne 0 ] || [ -z "$memory" ] || [ "${reference:-$memory}" != "$memory" ]; then
        echo "kills: the undisturbed run $run ended with status $status, memory ${memory:-?}, expected ${reference:-any}" >&2
        tail -n 30 "$scratch/reference" "$scratch/reference.err" >&2
        exit 1
    fi
    reference=$memory
    measure_span "$scratch/reference"
done
leftover=$(left_behind)
if [ -n "$leftover" ]; then
    echo "kills: the undisturbed run left behind: $leftover" >&2
    exit 1
fi
echo "kills: $program, lane $lane, $ranks ranks on $nodes nodes, $parities parities, seed $seed; undisturbed $((span / 1000)) ms, memory $reference"

passed=0 failed=0 late=0 declared=0 demanded=0
# one that was over before its death is none of the runs
for ((run = first; run < first + runs + late && late <= 2 * runs + 4; run++)); do
    RANDOM=$(((seed + run * 7919) % 32768))
    kills=() plan='' victim_ranks=()
    for ((i = 0; i < victims; i++)); do
        at=$((span * RANDOM / 32768))
        rank=$((RANDOM % ranks))
        printf -v moment '%d.%06d' $((at / 1000000)) $((at % 1000000))
        if [ "$node" = yes ]; then
            kills+=(--kill-node "$((rank % nodes))@$moment")
            plan+=" node ${kills[-1]}"
            mapfile -t victim_ranks < <(seq 0 $((ranks - 1))) # who is where after a node was lost is keelrun's affair
            continue
        fi
        for ((j = 0, step = 1 + RANDOM % (ranks / together); j < together; j++)); do # step times together is at most ranks
            victim=$(((rank + j * step) % ranks))
            victim_ranks+=("$victim")
            kills+=(--kill "$victim@$moment")
            plan+=" $victim@$moment"
        done
    done
    arguments=()
    every=$((RANDOM % 4)) # none, or every so many iterations
    [ $every -eq 0 ] || [ "$demand" = yes ] || arguments=(--ckpt-every $((every == 3 ? 20 : every)))

    begun=$(milliseconds_now)
    launch_job "$scratch/out" "${kills[@]}" -- "${arguments[@]}"
    status=$?
    took=$(($(milliseconds_now) - begun))
    memory=$(value_of "$scratch/out" memory)
    verified=$(value_of "$scratch/out" verified)
    killed=$(grep -c '^keelrun: .* rank [0-9]* incarnation [0-9]* killed$' "$scratch/out.err")
    deaths=$(grep -c '^keelrun: .* died: signal' "$scratch/out.err")
    leftover=$(left_behind)

    wrong='' end=''
    case $status in
        0 | 124 | 134 | 139) ;; # a hang and the death of a survivor are never right
        *) end=$(declared_end) ;;
    esac
    if [ -z "$end" ]; then
        [ $status -eq 0 ] || wrong+=" status $status"
        [[ $verified =~ ^(true|yes)$ ]] || wrong+=" verified ${verified:-nothing}"
        [ "$memory" = "$reference" ] || wrong+=" memory ${memory:-none}"
        [ "$deaths" -eq "$killed" ] || wrong+=" $killed killed but $deaths died"
        [ "$deaths" -eq 0 ] || [ "$(grep -c "^keel: $deaths deaths\?, " "$scratch/out.err")" -eq 1 ] || wrong+=" not told of $deaths deaths"
        [ "$spares" -eq 0 ] || [ "$(grep -c '^keelrun: .* spare [0-9]* is rank [0-9]*$' "$scratch/out.err")" -eq "$deaths" ] ||
            wrong+=" not each was replaced by a spare"
        ! must_be_local || [ "$(value_of "$scratch/out" rollbacks)" = 0 ] || wrong+=" rolled back"
    fi
    if [ "$demand" = yes ] && [ -z "$end" ]; then
        [ "$(value_of "$scratch/out" rollbacks)" = 0 ] || wrong+=" rolled back"
        ! grep -q 'log is full\|log towards .* is full' "$scratch/out.err" || wrong+=" a log ran over"
        demanded=$((demanded + $(grep -c 'began at its own image of position' "$scratch/out.err")))
    fi
    [ -z "$leftover" ] || wrong+=" left behind: $leftover"
    if [ -z "$wrong" ] && [ -n "$end" ]; then
        declared=$((declared + 1))
        echo "ok   $run: kill$plan ${arguments[*]}: $took ms, $deaths deaths, the job ended: $end"
    elif [ -z "$wrong" ]; then
        passed=$((passed + 1))
        if [ "$deaths" -eq 0 ]; then
            late=$((late + 1))
            measure_span "$scratch/out"
        fi
        echo "ok   $run: kill$plan ${arguments[*]}: $took ms, $deaths deaths, $(value_of "$scratch/out" rollbacks) rollbacks"
    else
        failed=$((failed + 1))
        echo "FAIL $run: kill$plan ${arguments[*]}: $took ms,$wrong"
        echo "     again: $0 --build $build --program $program --lane $lane --ranks $ranks --nodes $nodes" \
            "--netns $netns --victims $victims --together $together${spares_again} --node $node --demand $demand --parities $parities ${variables[*]} --seed $seed --first $run --runs 1"
        tail -n 25 "$scratch/out" "$scratch/out.err" | sed 's/^/     | /'
        if [ -n "$keep" ]; then
            mkdir -p "$keep" && cp "$scratch/out" "$keep/$program.$lane.$run.out" &&
                cp "$scratch/out.err" "$keep/$program.$lane.$run.err"
        fi
        # what this run left must not be held against the next one
        shm_files >"$scratch/shm"
        rm -rf "$scratch/tmp" && mkdir "$scratch/tmp"
    fi
done
echo "kills: $program, lane $lane: $passed recovered, $failed failed, $declared ended as declared; $late of them over before the death"
if [ $((passed + failed + declared - late)) -lt "$runs" ] || { [ $(((late + declared) * 2)) -gt "$runs" ] && [ "$runs" -gt 4 ]; }; then
    echo "kills: too many runs without a death: this tests nothing" >&2
    exit 1
fi
if [ "$demand" = yes ]; then
    echo "kills: $demanded began at an image of their own"
    if [ "$demanded" -eq 0 ] && [ "$runs" -ge 20 ]; then
        echo "kills: none began at an image of its own: this tests nothing" >&2
        exit 1
    fi
fi
[ "$failed" -eq 0 ]
