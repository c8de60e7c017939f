# shellcheck shell=bash disable=SC2154
# What perf/numbers and perf/figures/run share: running jobs and keeping what they print. Whoever sources it sets me (its
# name), build, out, rounds.

die() {
    echo "$me: $*" >&2
    exit 2
}

# find_programs: sets keelrun, perftest, kernels
find_programs() {
    keelrun=$build/contrib/keelrun/keelrun
    perftest=$build/perf/keel_perftest
    kernels=$build/perf/kernels
    [ -x "$keelrun" ] && [ -x "$perftest" ] && [ -x "$kernels/ft" ] ||
        die "nothing built in $build (--build names another folder)"
}

# job KEELRUN_OPTIONS... PROGRAM...: its output. Whatever it complains about is shown and ends the measurement, unless
# job_may_warn is set. job_pause: seconds before it, where the job before frees much memory: some virtual machines give that
# back to their host two seconds later, which takes a part of a core from the job that runs then. Of a kernel, the user time of
# all its processes is left in $out/cpu, and with what the system took for them in $out/cpu_all.
job() {
    sleep "${job_pause:-0}"
    # without what UCX writes among it: its connections to a rank that was killed fail
    KERNEL_CPU=y "$keelrun" --timeout "${job_timeout:-300}" "$@" 2> "$out/stderr" |
        sed '/^\[[0-9.]*\] \[.* UCX  [A-Z]/d' || {
        cat "$out/stderr" >&2
        die "a job failed: $*"
    }
    awk -v all="$out/cpu_all" '/^kernel: .* of user time$/ { user += $2; lines++ }
        /^kernel: .* of system time$/ { system_s += $2; lines-- }
        END { print user + 0; print user + system_s > all; exit lines != 0 }' "$out/stderr" > "$out/cpu" ||
        die "a process told one of its two times only: $*"
    if [ -z "${job_may_warn:-}" ] && grep -E 'error|warn' "$out/stderr" >&2; then
        die "a job complained: $*"
    fi
}

# allowed_cores: the numbers of the cores that this script may use
allowed_cores() {
    local part
    for part in $(taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
        seq "${part%-*}" "${part#*-}"
    done
}

# place RANKS: sets on, what goes ahead of a program: each of so many ranks on a core of its own, with its service thread, as
# launchers bind them, where there are cores enough. Where the scheduler may put three threads that spin on one of two cores, a
# message now and then waits for a time slice of 4 ms. Ranks after those, which log for others, go where the scheduler puts them.
# shellcheck disable=SC2016,SC2034
place() {
    local -a allowed
    mapfile -t allowed < <(allowed_cores)
    on=()
    [ "$1" -gt ${#allowed[@]} ] || on=(bash -c 'cores=($0) core=${cores[PMIX_RANK]:-}
        [ -z "$core" ] || exec taskset -c "$core" "$@"
        exec "$@"' "${allowed[*]:0:$1}")
}

# turned ROUND WORD...: the words in an order that the round's number alone gives: what one job leaves to the next, memory that
# the kernel is still freeing, is to fall on all alike. In so many rounds as there are words each comes first once; in twice as
# many each follows each other one twice (Williams' square, then the same backwards).
turned() {
    local round=$1 count=$(($# - 1)) i at
    local -a words=("${@:2}") order=()
    for ((i = 0; i < count; i++)); do
        at=$((round / count % 2 ? count - 1 - i : i))
        at=$((at % 2 ? (at + 1) / 2 : count - at / 2)) # 0, 1, the last, 2, the one before that, ...
        order+=("${words[(at + round) % count]}")
    done
    echo "${order[@]}"
}

# commit: what is measured, and whether it was changed; what the scripts write is no change
commit() {
    local name
    name=$(git -C "$perf" rev-parse --short=10 HEAD 2> /dev/null) || name=unknown
    [ "$name" = unknown ] || git -C "$perf/.." diff --quiet HEAD -- . ':(exclude)perf/figures' || name="$name and changes"
    echo "$name"
}

box() { # TITLE CSV
    awk -v title="$1" -f "$perf/lib/box.awk" "$2"
    echo
}

# appends CSV to a file, its header only once
gather() { # FILE
    if [ -s "$1" ]; then
        sed 1d >> "$1"
    else
        cat > "$1"
    fi
}

# column NAME: of CSV with a header, one value a line
column() {
    awk -F, -v name="$1" 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == name) at = c; next } { print $at }'
}

# detail PART: of keel_perftest's last column, "median quartile1 quartile3"
detail() {
    column detail | tr ';' '\n' | sed -n "s/^$1=//p" | tr : ' '
}

# quartiles: of numbers, one a line: "median quartile1 quartile3"
quartiles() {
    sort -g | awk '{ v[NR] = $1 } END { if (NR > 0) print v[int(NR / 2) + (NR % 2)], v[int((NR + 3) / 4)], v[int((3 * NR + 3) / 4)] }'
}

# kernel_round ROUND CONFIG FILE JOB...: lines for lib/rounds.awk: its seconds, and those that its processes computed, in user
# mode and in all
kernel_round() {
    local round=$1 config=$2 file=$3
    shift 3
    job "$@" > "$out/kernel"
    echo "$round,$config,seconds,$(column seconds < "$out/kernel")" >> "$file"
    echo "$round,$config,user seconds,$(cat "$out/cpu")" >> "$file"
    echo "$round,$config,CPU seconds,$(cat "$out/cpu_all")" >> "$file"
}

# ft_log CLASS TIMES: room for the log of a rank of FT that is done so often and of which no image is taken. 2 and 4 ranks log as
# much each, more ranks less.
ft_log() {
    local mib
    case $1 in
    A) mib=226 ;;
    B) mib=3050 ;;
    W) mib=19 ;;
    S) mib=10 ;;
    esac
    echo $((mib * $2 + 32))m
}

# kernel_of KERNEL CONFIG: its program
kernel_of() {
    [ "$2" = ml ] && echo "$kernels/$1_ml" || echo "$kernels/$1"
}

# configure CONFIG RANKS: sets launch, keelrun's options for a configuration: none, ckpt, puts, all, ml, which adds a rank that
# logs, default, which sets nothing; and on (place)
# shellcheck disable=SC2034
configure() {
    case $1 in
    ml) launch=(-n $(($2 + 1)) -x ML_LOGGERS=1 -x KEEL_CKPT_INTERVAL=off) ;;
    default) launch=(-n "$2") ;;
    *) launch=(-n "$2" -x "KEEL_PROTECT=$1" -x KEEL_CKPT_INTERVAL=off) ;;
    esac
    place "$2"
}
