# What the tests of checkpoints in files share; sourced by a script that has set build and name.
# shellcheck shell=bash disable=SC2034,SC2154
keelrun=$build/contrib/keelrun/keelrun ring=$build/tests/proc/files_ring files=$build/src/tools/keel_files
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/proc_lib.sh"
dir=$scratch/files
tier=(-x KEEL_OPLOG_SIZE=1m -x KEEL_GETLOG_SIZE=1m -x KEEL_CKPT_INTERVAL=3gsyncs -x KEEL_FILE_INTERVAL=0)
job=("${tier[@]}" -x "KEEL_FILE_DIR=$dir" -x "KEEL_STATS=$scratch/stats.json")
failing=(-x "LD_PRELOAD=$build/tests/proc/libfailing_file.so")

# right OPTIONS...: the sums of a job that nothing happens to
right() # STEPS OPTIONS...
{
    local steps=$1
    shift

    run 0 "${tier[@]}" "$@" "$ring" "$steps"
    sort "$out" >"$scratch/right"
    [ -s "$scratch/right" ] || fail "no sums"
}

# the job has printed the right sums
is_right()
{
    grep '^rank [0-9]*: ' "$out" | sort | cmp -s - "$scratch/right" || fail "wrong sums"
}

# newest: the folder of the newest complete checkpoint
newest()
{
    "$files" list "$dir" | awk '$3 == "complete" { print "set-" $1 "-" $2; exit }'
}

# begins_at_files COUNT: so many ranks began at a step that an image in files has
begins_at_files()
{
    has "$out" "$1" '^rank [0-9]* begins at step [1-9]'
}

# counts PATTERN...: what the last job counted of its checkpoints in files: completed, given up, skipped, bytes
counts()
{
    python3 -c 'import json, sys
job = json.load(open(sys.argv[1]))["job"]
for condition in sys.argv[2:]:
    if not eval(condition, {}, {n: job["file_" + n] for n in ("checkpoints", "failures", "skips", "bytes")}):
        sys.exit("not " + condition + ": " + str({n: job[n] for n in job if n.startswith("file_")}))' \
        "$scratch/stats.json" "$@" 2>>"$err" || fail "wrong counts"
}

# two_sets STEPS: a job that is lost when two checkpoints are complete
two_sets()
{
    rm -rf "$dir"
    run 137 -n 3 --no-restart "${job[@]}" "$ring" "$1" 30 0
    run 137 -n 3 --no-restart "${job[@]}" -x RING_SETS=2 "$ring" "$1" 60 0
    "$files" prune "$dir" >"$out"
    [ "$("$files" list "$dir" | grep -c ' complete ')" -eq 2 ] || fail "not two checkpoints"
}

# flip FILE: another byte in its middle
flip()
{
    local at=$(($(stat -c %s "$1") / 2)) byte

    byte=$(od -An -tu1 -j $at -N 1 "$1")
    printf '%b' "\\x$(printf %02x $((byte ^ 1)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}

# process_of RANK: the number of its newest process
process_of()
{
    local file

    for file in $(own_processes); do
        ! tr '\0' '\n' 2>/dev/null <"$file" | grep -qx "PMIX_RANK=$1" || echo "${file//[^0-9]/}"
    done | sort -n | tail -n 1
}

# killed ARGUMENTS...: a job whose processes may be killed at once; the rest of them ends soon. Sets status.
killed()
{
    rm -f "$scratch/deaths"
    {
        KEELTEST_DEATHS=$scratch/deaths timeout -k 1 60 "$keelrun" "$@" >"$out" 2>"$err" </dev/null
        status=$?
    } 2>/dev/null # the shell's word
    [ ! -e "$scratch/deaths" ] || cat "$scratch/deaths" >>"$err"
    check_nothing_left '*'
}
