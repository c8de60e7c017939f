#!/bin/bash
# Checkpoints in files, and restarts from them: files_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2154 # of proc_lib.sh
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun ring=$build/tests/proc/files_ring files=$build/src/tools/keel_files
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
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

# a rank cannot be rebuilt where more die than parity covers: once for each lane, over nodes, with ranks that hold parity
a_lost_job_goes_on_from_files()
{
    local options

    for options in "" "--nodes 2 -x KEEL_GROUP_SIZE=4" "-x KEEL_LANES=served --nodes 4" "-x KEEL_GROUP_SIZE=0"; do
        # shellcheck disable=SC2086 # several options
        right 60 -n 4 $options
        rm -rf "$dir"
        # shellcheck disable=SC2086
        run 0 -n 4 $options "${job[@]}" "$ring" 60 30 1 2
        has "$err" 1 'the job is started anew'
        begins_at_files 4
        is_right
    done
    # nobody is left, and the replacements learn that in keel_init()
    right 60 -n 3
    rm -rf "$dir"
    run 0 -n 3 "${job[@]}" "$ring" 60 30 0 1 2
    has "$err" 1 'the job is started anew'
    begins_at_files 3
    is_right
    right 60 -n 5 -x KEEL_PARITY=dedicated
    rm -rf "$dir"
    run 0 -n 5 -x KEEL_PARITY=dedicated "${job[@]}" "$ring" 60 30 1 2
    begins_at_files 4
    is_right
}

# nothing lives on: neither ranks nor keelrun
a_killed_job_goes_on_from_files()
{
    right 60 -n 4
    RING_MARK=reached start -n 4 "${job[@]}" "$ring" 100000 30
    wait_for reached "$out"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left "$pid"
    run 0 -n 4 "${job[@]}" "$ring" 60 30
    begins_at_files 4
    is_right
    # a job that has ended is not gone on with
    run 0 -n 4 "${job[@]}" "$ring" 60
    begins_at_files 0
    is_right
}

# deaths after a restart are recovered as before it
a_restarted_job_survives_deaths()
{
    right 90 -n 4
    run 0 -n 4 --kill 'random@marker:begins at step' "${job[@]}" "$ring" 90 30 1 2
    is_right
    run 0 -n 4 --seed 1 "${job[@]}" "$ring" 90
    is_right
}

a_signal_stops_the_job_with_a_checkpoint()
{
    local signal

    right 60 -n 3
    for signal in TERM USR1; do
        rm -rf "$dir"
        start -n 3 "${tier[@]}" -x "KEEL_FILE_DIR=$dir" -x KEEL_FILE_INTERVAL=3600 "$ring" 100000
        until [ -e "$dir/lock" ]; do sleep 0.05; done
        kill -"$signal" "$pid"
        wait "$pid"
        status=$?
        [ $status -eq 121 ] || fail "status $status"
        grep -q 'the job has stopped, and its checkpoint is in' "$err" || fail "nothing is said"
        [ -n "$(newest)" ] || fail "no checkpoint"
        run 0 -n 3 "${job[@]}" "$ring" 0
        begins_at_files 3
    done
    # without a folder a signal ends the job as it did
    start -n 2 "${tier[@]}" "$ring" 100000
    sleep 0.2
    kill -TERM "$pid"
    wait "$pid"
    [ $? -eq 143 ] || fail "ends otherwise"
}

# at any time, also when the rank that asked and then rank 0 die; the job ends at a later checkpoint, and goes on from there
a_program_stops_itself_with_a_checkpoint()
{
    local options

    right 60 -n 3
    for options in "" "--kill 1@anyone:asked" "--kill 0@anyone:asked"; do
        rm -rf "$dir"
        # shellcheck disable=SC2086 # several options
        run 121 -n 3 $options "${tier[@]}" -x KEEL_FILE_INTERVAL=3600 -x "KEEL_FILE_DIR=$dir" -x RING_STOP=y -x RING_MARK=asked "$ring" \
            100000 30
        [ "$("$files" list "$dir" | grep -c ' complete ')" -ge 1 ] || fail "no checkpoint"
        [ ! -e "$dir/stop" ] || fail "the request stays"
        run 0 -n 3 "${job[@]}" "$ring" 60 # less than the steps that it was asked for: those done count
        begins_at_files 3
    done
    # what an earlier job asked for is no request of this one
    rm -rf "$dir"
    mkdir "$dir"
    touch "$dir/stop"
    run 0 -n 3 "${job[@]}" "$ring" 60
    is_right
    # without a folder the call fails
    run 3 -n 3 "${tier[@]}" -x RING_STOP=y "$ring" 60 30
    has "$err" 1 'keel_checkpoint_and_stop: there is no KEEL_FILE_DIR'
}

# the request is a pipe that no process reads: who opens it waits for ever, as in a file system that does not answer
a_folder_that_hangs_does_not_hold_the_launcher()
{
    local within

    for within in 1 3600; do
        rm -rf "$dir"
        mkdir "$dir"
        mkfifo "$dir/request"
        start -n 2 --stop-within $within -x "KEEL_FILE_DIR=$dir" sh -c 'echo begun; exec sleep 1000'
        wait_for begun "$out"
        kill -TERM "$pid"
        wait_for 'the job ends after a checkpoint' "$err"
        [ $within -eq 1 ] || kill -TERM "$pid"
        wait "$pid"
        status=$?
        [ $status -eq 143 ] || fail "status $status"
        [ $within -ne 1 ] || grep -q 'no checkpoint came within 1 s' "$err" || fail "nothing is said of the deadline"
        check_nothing_left "$pid"
    done
}

# the lines for Slurm of files.md, with the batch shell's signal
the_batch_script_of_the_documents_stops()
{
    local script=$scratch/batch shell

    mkdir "$scratch/bin"
    ln -s "$keelrun" "$scratch/bin/keelrun"
    # shellcheck disable=SC2016 # of the stub
    printf '#!/bin/sh\necho "requeue $2"\n' >"$scratch/bin/scontrol"
    printf '#!/bin/sh\nexec "%s" 100000\n' "$ring" >"$scratch/program"
    chmod +x "$scratch/bin/scontrol" "$scratch/program"
    sed -n '/^#SBATCH/,/^```/p' "$(dirname "$0")/../../contrib/doc/files.md" | grep -v '^```' >"$script"
    [ "$(wc -l <"$script")" -eq 6 ] || fail "no batch script in files.md"
    cd "$scratch" || fail "no scratch folder"
    env PATH="$scratch/bin:$PATH" SLURM_JOB_ID=17 KEEL_FILE_DIR="$dir" KEEL_CKPT_INTERVAL=3gsyncs KEEL_FILE_INTERVAL=3600 \
        KEEL_OPLOG_SIZE=1m KEEL_GETLOG_SIZE=1m bash "$script" >"$out" 2>"$err" &
    shell=$!
    until [ -e "$dir/lock" ]; do sleep 0.05; done
    kill -USR1 $shell
    wait $shell
    has "$out" 1 '^requeue 17$'
    [ -n "$(newest)" ] || fail "no checkpoint"
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

# more die than parity covers while the job begins from files, or soon after
deaths_in_a_restart_start_the_job_again()
{
    right 90 -n 3
    two_sets 90
    run 0 -n 3 --kill '1@anyone:begins at step' --kill '2@anyone:begins at step' "${job[@]}" -x RING_MARK=slowly "$ring" 90 8
    has "$err" 1 'the job is started anew'
    grep '^rank [0-9]*: ' "$out" | sort -u | cmp -s - "$scratch/right" || fail "wrong sums"
}

# flip FILE: another byte in its middle
flip()
{
    local at=$(($(stat -c %s "$1") / 2)) byte

    byte=$(od -An -tu1 -j $at -N 1 "$1")
    printf '%b' "\\x$(printf %02x $((byte ^ 1)))" | dd of="$1" bs=1 seek=$at conv=notrunc status=none
}

damaged_checkpoints_are_passed_over()
{
    local file

    right 90 -n 3
    for file in rank-0 rank-2 manifest; do
        two_sets 90
        flip "$dir/$(newest)/$file"
        ! "$files" check "$dir" >"$out" || fail "the tool finds no damage in $file"
        run 0 -n 3 "${job[@]}" "$ring" 90
        grep -q 'cannot be read.*an older one is looked for' "$err" || fail "nothing is said of $file"
        begins_at_files 3
        is_right
    done
    two_sets 90
    rm "$dir/$(newest)/rank-1"
    run 0 -n 3 "${job[@]}" "$ring" 90
    begins_at_files 3
    is_right
    two_sets 90
    flip "$dir/$(newest)/rank-1"
    for file in "$dir"/set-*/rank-1; do
        flip "$file"
    done
    flip "$dir/$(newest)/rank-2"
    run_any -n 3 "${job[@]}" "$ring" 90
    [ $status -ne 0 ] || fail "begins at the start without a word"
    grep -q 'no checkpoint in .* can be restarted from' "$err" || fail "nothing is said"
}

other_jobs_are_refused()
{
    two_sets 90
    run_any -n 4 "${job[@]}" "$ring" 90
    [ $status -ne 0 ] || fail "another number of ranks is taken"
    has "$err" 1 'is of 3 ranks, and this job has 4'
    # a setting of some ranks only
    printf '#!/bin/sh\n[ "$PMIX_RANK" != 1 ] || unset KEEL_FILE_DIR\nexec "%s" 90\n' "$ring" >"$scratch/uneven"
    chmod +x "$scratch/uneven"
    run_any -n 3 "${job[@]}" "$scratch/uneven"
    [ $status -ne 0 ] || fail "a folder of some ranks only is taken"
    grep -q 'one of both has no KEEL_FILE_DIR' "$err" || fail "nothing is said of the folder of some ranks only"
    cp "$ring" "$scratch/another"
    run_any -n 3 "${job[@]}" "$scratch/another" 90
    [ $status -ne 0 ] || fail "another program is taken"
    has "$err" 1 'is of the program files_ring, and this is another'
    RING_BYTES=8192 run_any -n 3 "${job[@]}" "$ring" 90
    [ $status -ne 0 ] || fail "other windows are taken"
    grep -q 'image of windows of other sizes' "$err" || fail "nothing is said of other windows"
    RING_MARK=reached start -n 3 "${job[@]}" "$ring" 100000 70
    wait_for reached "$out"
    "$keelrun" -n 3 "${job[@]}" "$ring" 90 >"$out.2" 2>"$err.2" && fail "a second job takes the folder"
    grep -q 'another job uses this folder' "$err.2" || fail "nothing is said of the second job"
    ! "$files" prune "$dir" 2>/dev/null || fail "the tool removes what a job uses"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left "$pid"
}

# each file operation fails once at each rank: the job goes on, says so, and a later checkpoint is complete
failures_of_the_file_system_are_survived()
{
    local plan

    right 40 -n 2 -x RING_LOOP=1
    for plan in mkdir:28 open:13 enter:5 write:28 write:5 write:4 short:1 fsync:5 fsync:122 fsync:4 \
        rename:5 rename:28 rename:4 stat:5; do
        rm -rf "$dir"
        run 0 -n 2 "${job[@]}" -x RING_LOOP=1 -x KEELTEST_FILE_FAILS=$plan \
            "${failing[@]}" "$ring" 40 20
        is_right
        case $plan in
        write:4 | short:1) ! grep -q 'is not written' "$err" || fail "$plan is no failure" ;;
        *) grep -q 'checkpoint [0-9]* is not written to .* (rank [01]: ' "$err" || fail "nothing is said of $plan" ;;
        esac
        case $plan in
        write:4 | short:1) counts "checkpoints > 0" "bytes > 8192" ;;
        *) counts "failures > 0" "checkpoints > 0" "bytes > 8192" ;;
        esac
        "$files" list "$dir" | grep -q ' ended ' || fail "no checkpoint came after $plan"
    done
}

# what cannot be looked at or removed stays, and is removed later; what is complete is not given up for that
failures_of_a_removal_are_survived()
{
    local plan before

    right 90 -n 3
    for plan in unlink:5 unlink:4 access:5; do
        two_sets 90
        before=$(newest)
        before=${before#set-}
        run 0 -n 3 "${job[@]}" -x RING_LOOP=1 -x "RING_AFTER=${before%-*}" -x KEEL_FILE_KEEP=1 -x KEELTEST_FILE_FAILS=$plan \
            "${failing[@]}" "$ring" 90 75
        begins_at_files 3
        is_right
        ! grep -q 'is not written' "$err" || fail "$plan gives a checkpoint up"
        "$files" list "$dir" | grep -q ' ended ' || fail "no checkpoint is complete after $plan"
    done
}

# The first file is not synced for long: that is said once for this checkpoint, those due meanwhile are skipped, and it is complete.
a_slow_folder_is_said()
{
    right 40 -n 2 -x RING_LOOP=1
    touch "$scratch/gate"
    start -n 2 "${job[@]}" -x RING_LOOP=1 -x RING_WRITTEN=2 -x "KEELTEST_FILE_WAITS=$scratch/gate" "${failing[@]}" "$ring" 40 20
    wait_for 'is still being written to' "$err"
    sleep 0.2 # any time: more checkpoints are due
    rm "$scratch/gate"
    wait "$pid" || fail "status $?"
    is_right
    [ -z "$(grep -o 'checkpoint [0-9]* is still being written' "$err" | sort | uniq -d)" ] || fail "said twice of one checkpoint"
    counts "skips > 0" "checkpoints > 1" "failures == 0" "bytes > 2 * 2 * 4096"
    # a number that Keel chooses asks for no set too early
    rm -rf "$dir"
    touch "$scratch/gate"
    start -n 2 "${job[@]}" -x KEEL_FILE_INTERVAL=auto -x RING_LOOP=1 -x RING_WRITTEN=1 -x "KEELTEST_FILE_WAITS=$scratch/gate" \
        "${failing[@]}" "$ring" 40 20
    until compgen -G "$dir/set-*" >"$scratch/begun"; do sleep 0.05; done
    sleep 1.5 # longer than what is reported
    rm "$scratch/gate"
    wait "$pid" || fail "status $?"
    is_right
    has "$err" 0 'still being written'
    counts "skips == 0" "checkpoints > 0" "failures == 0"
    run 0 -n 2 "${tier[@]}" -x "KEEL_STATS=$scratch/stats.json" "$ring" 40
    counts "skips + checkpoints + failures + bytes == 0"
}

# process_of RANK: the number of its newest process
process_of()
{
    local file

    for file in $(own_processes); do
        ! tr '\0' '\n' 2>/dev/null <"$file" | grep -qx "PMIX_RANK=$1" || echo "${file//[^0-9]/}"
    done | sort -n | tail -n 1
}

# The folder is gone, with its parent, then another job has it, and then it is free: the job says so twice, a rank 0 that is
# replaced meanwhile does as well, and checkpoints are complete there again.
a_folder_that_is_gone_is_found_again()
{
    local other steps

    mkdir "$scratch/parent"
    dir=$scratch/parent/files
    job=("${tier[@]}" -x "KEEL_FILE_DIR=$dir" -x "KEEL_STATS=$scratch/stats.json")
    RING_MARK=reached start -n 3 "${job[@]}" "$ring" 100000 30
    wait_for reached "$out"
    mv "$scratch/parent" "$scratch/away"
    wait_for 'is not written to .*No such file or directory' "$err"
    kill -9 "$(process_of 0)"
    wait_for 'the replacement tries again with the next checkpoint' "$err"
    # the other job: a process that holds the lock
    mkdir "$scratch/made" "$scratch/made/files"
    python3 -c 'import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(1000)' "$scratch/made/files/lock" >"$out.2" &
    other=$!
    wait_for held "$out.2"
    mv "$scratch/made" "$scratch/parent"
    wait_for 'is not written to .*another job uses this folder' "$err"
    kill "$other"
    until [ -n "$(newest)" ]; do sleep 0.05; done
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left "$pid"
    steps=$(newest | tr -- - ' ' | awk '{ print $2 + 60 }') # a checkpoint's number is at least its step
    right "$steps" -n 3
    run 0 -n 3 "${job[@]}" "$ring" "$steps"
    begins_at_files 3
    is_right
}

# Each operation of the start fails once at each rank: all take the older checkpoint, or read the file in parts.
failures_of_a_restart_take_an_older_checkpoint()
{
    local plan

    right 90 -n 3
    two_sets 90
    cp -r "$dir" "$scratch/sets"
    for plan in look:5 look:13 read:5:2:0 read:5:1:2 read:4 short:1; do
        rm -rf "$dir"
        cp -r "$scratch/sets" "$dir"
        run 0 -n 3 "${job[@]}" -x KEELTEST_START_FAILS=$plan "${failing[@]}" "$ring" 90
        case $plan in
        read:4 | short:1) ! grep -q 'cannot be read' "$err" || fail "$plan is no failure" ;;
        *) grep -q 'cannot be read (rank [0-2]: .*): an older one is looked for' "$err" || fail "nothing is said of $plan" ;;
        esac
        begins_at_files 3
        is_right
    done
}

# killed ARGUMENTS...: a job whose processes may be killed at once; the rest of them ends soon. Sets status.
killed()
{
    {
        timeout -k 1 60 "$keelrun" "$@" >"$out" 2>"$err" </dev/null
        status=$?
    } 2>/dev/null # the shell's word
    check_nothing_left '*'
}

# At each operation of the start of rank 0 and of another one the rank, keelrun or the whole job is killed. Of a dead rank the
# launcher starts the job again, with one line that says why; else the next job begins where that one would have.
killed_in_a_restart() # rank|keelrun|job
{
    local n rank

    right 90 -n 3
    two_sets 90
    cp -r "$dir" "$scratch/sets"
    for rank in 0 2; do
        for ((n = 1; ; n++)); do
            rm -rf "$dir"
            cp -r "$scratch/sets" "$dir"
            killed -n 3 "${job[@]}" -x KEELTEST_START_DIES=$rank:$n:"$1" "${failing[@]}" "$ring" 90
            grep -q 'planned death' "$err" || break
            if [ "$1" = rank ]; then
                [ $status -eq 0 ] || fail "status $status"
                [ "$(grep -c 'a rank died while the job began from files' "$err")" -le 1 ] || fail "several ranks say the same"
            else
                run 0 -n 3 "${job[@]}" "$ring" 90
                begins_at_files 3
            fi
            is_right
        done
        [ $n -gt 6 ] || fail "rank $rank has only $n operations"
    done
}

a_rank_killed_in_a_restart_starts_the_job_again()
{
    killed_in_a_restart rank
}

a_launcher_killed_in_a_restart_is_started_again()
{
    killed_in_a_restart keelrun
}

a_job_killed_in_a_restart_is_started_again()
{
    killed_in_a_restart job
}

# dies_at RANK rank|keelrun|job SET: at each operation of the writer of a rank, up to that set, one is killed, and the job with it
dies_at()
{
    local n before

    for ((n = 1; ; n++)); do
        rm -rf "$dir"
        killed -n 2 --no-restart "${job[@]}" -x RING_LOOP=1 -x RING_WRITTEN="$3" -x KEEL_FILE_KEEP=1 \
            -x KEELTEST_FILE_DIES="$1:$n:$2" "${failing[@]}" "$ring" 40 20
        [ $status -eq 137 ] || fail "rank $1 does not die at operation $n"
        ! grep -q "planned death: mkdir, set $3" "$err" || break
        before=$(newest)
        run 0 -n 2 "${job[@]}" "$ring" 40
        begins_at_files $((${#before} > 0 ? 2 : 0))
        is_right
    done
    [ $n -gt 6 ] || fail "rank $1 has only $n operations"
}

# rank 0 writes its file, the manifest, and removes the first set when the second one is complete
killed_while_it_writes() # rank|keelrun|job
{
    right 40 -n 2
    dies_at 0 "$1" 3
    dies_at 1 "$1" 2
}

a_job_killed_while_it_writes_goes_on()
{
    killed_while_it_writes job
}

a_job_of_a_dead_rank_that_wrote_goes_on()
{
    killed_while_it_writes rank
}

a_launcher_killed_while_a_rank_writes_goes_on()
{
    killed_while_it_writes keelrun
}

# a rank that dies while it writes is recovered alone, and the checkpoint is complete nevertheless
a_rank_killed_while_it_writes_is_recovered()
{
    local n rank

    right 40 -n 3
    for rank in 0 2; do
        for ((n = 1; ; n++)); do
            rm -rf "$dir"
            run 0 -n 3 "${job[@]}" -x RING_LOOP=1 -x RING_WRITTEN=2 -x KEELTEST_FILE_DIES="$rank:$n" "${failing[@]}" "$ring" 40 20
            is_right
            "$files" list "$dir" | grep -q ' ended ' || fail "no checkpoint is complete"
            ! grep -q "planned death: mkdir, set 2" "$err" || break
            grep -q "planned death" "$err" || fail "rank $rank does not die at operation $n"
        done
        [ $n -gt 6 ] || fail "rank $rank has only $n operations"
    done
}

# The leader marks checkpoints as ended, and is killed amid that, and all ranks with it: the newest is the last to be marked.
a_job_killed_at_its_end_goes_on_from_the_newest()
{
    local n newest left marked=0

    right 90 -n 3
    two_sets 90
    newest=$(newest)
    cp -r "$dir" "$scratch/sets"
    for ((n = 1; ; n++)); do
        rm -rf "$dir"
        cp -r "$scratch/sets" "$dir"
        killed -n 3 --no-restart "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x KEELTEST_END_DIES=0:$n:job "${failing[@]}" "$ring" 90
        [ $status -ne 0 ] || break
        left=$(newest)
        [ -z "$left" ] || [ "$left" = "$newest" ] || fail "at operation $n the newest one is marked first"
        marked=$((marked + ($("$files" list "$dir" | grep -c ' complete ') == 1)))
        run 0 -n 3 "${job[@]}" "$ring" 90
        begins_at_files $((${#left} > 0 ? 3 : 0))
        is_right
    done
    [ $n -gt 6 ] && [ $marked -gt 0 ] || fail "no death between two marks, of $n"
}

# cut_disks WORDS...: the states that a power cut can leave at every step of a job that writes several checkpoints
cut_disks()
{
    rm -rf "$scratch/disks" "$dir" "$scratch/record"
    run 0 -n 2 "${job[@]}" -x RING_LOOP=1 -x RING_SETS=2 -x "KEELTEST_RECORD=$scratch/record" \
        -x LD_PRELOAD="$build/tests/proc/librecorded_disk.so" "$ring" 40 20
    is_right
    python3 "$(dirname "$0")/power_cut.py" "$scratch/record" "$scratch/disks" "$@" >"$scratch/states"
}

# Data, names and removals that were not synced are dropped, or names survive alone. Whatever the state: what seems complete is
# whole, and from each checkpoint that is the newest in some state the job goes on, or from its start where none is.
a_power_cut_leaves_whole_checkpoints()
{
    local state generation done=" "

    right 40 -n 2 -x RING_LOOP=1
    cut_disks || fail "all checkpoints may be gone at some step"
    [ "$(wc -l <"$scratch/states")" -gt 20 ] || fail "only $(wc -l <"$scratch/states") states"
    [ "$(awk '{ print $2 }' "$scratch/states" | sort -u | wc -l)" -gt 2 ] || fail "not three checkpoints"
    while read -r state generation; do
        [ "$generation" -eq 0 ] || "$files" check "$scratch/disks/$state/folder" >"$out" || fail "damage in state $state"
        [[ $done != *" $generation "* ]] || continue
        done+="$generation "
        rm -rf "$dir"
        cp -r "$scratch/disks/$state/folder" "$dir" 2>/dev/null || mkdir "$dir"
        run 0 -n 2 "${job[@]}" "$ring" 40
        begins_at_files $((generation > 0 ? 2 : 0))
        is_right
    done <"$scratch/states"
    # the states show it if nothing is synced
    cut_disks unsynced
    while read -r state generation; do
        [ "$generation" -eq 0 ] || "$files" check "$scratch/disks/$state/folder" >"$out" || return 0
    done <"$scratch/states"
    fail "without syncs all checkpoints are whole"
}

# a checkpoint at every third gsync, with a number of its own: the fourth one comes at number 16
every_fourth_checkpoint_is_written()
{
    local first

    right 40 -n 2 -x RING_LOOP=1
    run 0 -n 2 "${job[@]}" -x KEEL_FILE_INTERVAL=4checkpoints -x KEEL_FILE_KEEP=1000 -x RING_LOOP=1 "$ring" 40 20
    is_right
    first=$("$files" list "$dir" | awk '$3 == "ended" { print $1 }' | sort -n | head -n 1)
    [ "${first:-0}" -ge 16 ] && [ "$first" -lt 20 ] || fail "the first one is that of gsync ${first:-none}"
    rm -rf "$dir"
    run 0 -n 2 "${job[@]}" -x KEEL_FILE_INTERVAL=1000checkpoints "$ring" 40
    is_right
    [ -z "$("$files" list "$dir" | grep -e ended -e complete)" ] || fail "one is written too early"
}

# The message has the inputs, from which the same function computes the number. After a number that no job reaches, only the
# checkpoint of the stop goes to files.
the_number_of_checkpoints_is_chosen()
{
    local interval mtbf chosen inputs seconds='\([0-9.]*\) s'

    for interval in 3gsyncs 2ms daly; do
        for mtbf in 1000 1e10; do
            rm -rf "$dir"
            start -n 2 "${job[@]}" -x KEEL_CKPT_INTERVAL=$interval -x KEEL_MTBF=500 -x KEEL_FILE_INTERVAL=auto \
                -x KEEL_FILE_MTBF=$mtbf -x KEEL_LOG_LEVEL=info "$ring" 100000000
            wait_for 'KEEL_FILE_INTERVAL=auto: one of' "$err"
            kill -TERM "$pid"
            wait "$pid"
            status=$?
            [ $status -eq 121 ] || fail "status $status, not 121"
            check_nothing_left "$pid"
            sed -n "s/.*KEEL_FILE_INTERVAL=auto: one of \([0-9]*\) checkpoints .* costs $seconds .* after $seconds, .* take $seconds and\
 $seconds of a processor, KEEL_MTBF is \(.*\)s, KEEL_FILE_MTBF \(.*\)s$/\1 \2 \3 \4 \5 \6 \7/p" "$err" >"$scratch/chosen"
            [ -s "$scratch/chosen" ] || fail "no message with the inputs"
            while read -r chosen inputs; do
                # shellcheck disable=SC2086 # several numbers
                [ "$chosen" = "$("$build/tests/proc/file_interval" $inputs)" ] || fail "$chosen is not the number of $inputs"
                [ "${inputs#* * * * }" = "500 $mtbf" ] || [ "${inputs#* * * * }" = "500 1e+10" ] || fail "other rates: $inputs"
            done <"$scratch/chosen"
            [ $mtbf = 1000 ] || [ "$(sed '1,/KEEL_FILE_INTERVAL=auto: one of/d' "$err" | grep -c 'checkpoint [0-9]* is in')" -eq 1 ] ||
                fail "checkpoints go to files that are not due: $(cat "$scratch/chosen")"
        done
    done
}

# no time is judged: each row is there with its numbers
costs_are_compared()
{
    "$(dirname "$0")/../../perf/files" -n 1 -s 1 -i 1 -k 50 -d "$scratch" "$build" >"$out" 2>"$err" || fail "nothing is compared"
    has "$out" 3 '^\(program\|write\|restart\)\(,[0-9]*\.[0-9]*\)\{5\}$'
    "$(dirname "$0")/../../perf/files" -n 0 2>"$err" && fail "no round is taken"
    has "$err" 1 "is no whole number above 0"
}

the_tool_tells_what_is_there()
{
    "$files" --help | grep -q '^Usage: keel_files' || fail "no help"
    "$files" --version | grep -q '^keel_files [0-9]' || fail "no version"
    two_sets 90
    "$files" list "$dir" >"$out"
    has "$out" 2 ' complete .* files_ring$'
    "$files" check "$dir" >"$out" || fail "damage"
    has "$out" 2 'checkpoint [0-9]*: 3 files, [0-9]* bytes, all right'
    "$files" show "$dir" >"$out" || fail "damage"
    has "$out" 6 'rank [0-2]: [0-9]* bytes, 1 windows with 4096, 2 protected regions with 16'
    "$files" --json list "$dir" | python3 -c 'import json, sys; assert len(json.load(sys.stdin)) == 2' || fail "list is no JSON"
    "$files" --json show "$dir" |
        python3 -c 'import json, sys; assert [len(s["files"]) for s in json.load(sys.stdin)] == [3, 3]' || fail "show is no JSON"
    "$files" -k 1 prune "$dir" >"$out"
    grep -q '1 kept' "$out" || fail "not one is kept"
    [ "$(find "$dir" -name 'set-*' | wc -l)" -eq 1 ] || fail "more than one is there"
    "$files" -g 1 check "$dir" >"$out" && fail "a missing checkpoint is right"
    "$files" list "$dir/none" >"$out" 2>&1
    [ $? -eq 3 ] || fail "a missing folder is listed"
    "$files" what "$dir" >"$out" 2>&1
    [ $? -eq 2 ] || fail "a wrong command is taken"
}

"$name"
