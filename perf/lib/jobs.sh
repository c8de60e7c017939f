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
# job_may_warn is set. Of a kernel, the user time of all its processes is left in $out/cpu.
job() {
    KERNEL_CPU=y "$keelrun" --timeout "${job_timeout:-300}" "$@" 2> "$out/stderr" || {
        cat "$out/stderr" >&2
        die "a job failed: $*"
    }
    awk '/^kernel: .* of user time$/ { sum += $2 } END { print sum + 0 }' "$out/stderr" > "$out/cpu"
    if [ -z "${job_may_warn:-}" ] && grep -E 'error|warn' "$out/stderr" >&2; then
        die "a job complained: $*"
    fi
}

# place PROCESSES: sets on, what goes ahead of a program: each rank on a core of its own, with its service thread, as launchers
# bind them, where there are cores enough. Where the scheduler may put three threads that spin on one of two cores, a message
# now and then waits for a time slice of 4 ms.
# shellcheck disable=SC2016,SC2034
place() {
    on=(sh -c 'exec taskset -c $((PMIX_RANK % $(nproc))) "$0" "$@"')
    [ "$1" -le "$(nproc)" ] || on=()
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

# kernel_round ROUND CONFIG FILE JOB...: a line for its seconds and the user seconds of its processes, for lib/ratios.awk
kernel_round() {
    local round=$1 config=$2 file=$3
    shift 3
    job "$@" > "$out/kernel"
    echo "$round,$config,seconds,$(column seconds < "$out/kernel")" >> "$file"
    echo "$round,$config,user seconds,$(cat "$out/cpu")" >> "$file"
}

# kernel_of KERNEL CONFIG: its program
kernel_of() {
    [ "$2" = ml ] && echo "$kernels/$1_ml" || echo "$kernels/$1"
}

# configure CONFIG RANKS: sets launch, keelrun's options for a configuration: none, ckpt, puts, all, ml, which adds a rank that
# logs; and on (place)
# shellcheck disable=SC2034
configure() {
    if [ "$1" = ml ]; then
        launch=(-n $(($2 + 1)) -x ML_LOGGERS=1 -x KEEL_CKPT_INTERVAL=off)
        place $(($2 + 1))
    else
        launch=(-n "$2" -x "KEEL_PROTECT=$1" -x KEEL_CKPT_INTERVAL=off)
        place "$2"
    fi
}
