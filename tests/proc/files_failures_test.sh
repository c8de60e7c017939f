#!/bin/bash
# Checkpoints in files: failures of file operations, and kills at each of them: files_failures_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2154 # of the libraries
set -u

build=$1 name=$2
# shellcheck source=tests/proc/files_lib.sh
. "$(dirname "$0")/files_lib.sh"

# more die than parity covers while the job begins from files, or soon after
deaths_in_a_restart_start_the_job_again()
{
    right 90 -n 3
    two_sets 90
    run 0 -n 3 --kill '1@anyone:begins at step' --kill '2@anyone:begins at step' "${job[@]}" -x RING_HOLD=0 "$ring" 90
    has "$err" 1 'the job is started anew'
    grep '^rank [0-9]*: ' "$out" | sort -u | cmp -s - "$scratch/right" || fail "wrong sums"
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

# each file operation fails once at each rank: the job goes on, says so, and a later checkpoint is complete
failures_of_the_file_system_are_survived()
{
    local plan

    right 40 -n 2 -x RING_LOOP=1
    for plan in mkdir:28 open:13 enter:5 write:28 write:5 write:4 short:1 fsync:5 fsync:122 fsync:4 read:5 read:4 flip:5 flip:5:2:0 \
        rename:5 rename:28 rename:4 stat:5; do
        is_due || continue
        rm -rf "$dir"
        run 0 -n 2 "${job[@]}" -x RING_LOOP=1 -x KEELTEST_FILE_FAILS=$plan \
            "${failing[@]}" "$ring" 40 20
        is_right
        case $plan in
        write:4 | read:4 | short:1) ! grep -q 'is not written' "$err" || fail "$plan is no failure" ;;
        *) grep -q 'checkpoint [0-9]* is not written to .* (rank [01]: ' "$err" || fail "nothing is said of $plan" ;;
        esac
        case $plan in
        write:4 | read:4 | short:1) counts "checkpoints > 0" "bytes > 8192" ;;
        *) counts "failures > 0" "checkpoints > 0" "bytes > 8192" ;;
        esac
        "$files" list "$dir" | grep -q ' ended ' || fail "no checkpoint came after $plan"
    done
}

# No file reads as it was written: no checkpoint counts, those before stay, and the job, which is lost then, goes on from them.
files_that_read_otherwise_do_not_count()
{
    local before

    right 90 -n 3
    two_sets 90
    before=$(newest)
    RING_MARK=reached start -n 3 "${job[@]}" -x KEEL_FILE_KEEP=1 -x KEELTEST_FILE_FAILS=flip:5:0 "${failing[@]}" "$ring" 1000000000 70
    wait_for 'is not written to .* (rank [0-2]: the bytes there are not those that were written)' "$err"
    wait_for reached "$out"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left "$pid"
    [ "$(newest)" = "$before" ] && [ "$("$files" list "$dir" | grep -c ' complete ')" -eq 2 ] || fail "another checkpoint counts"
    run 0 -n 3 "${job[@]}" "$ring" 90
    begins_at_files 3
    is_right
}

# Each operation of the first checkpoint fails at a rank: the job goes on, with a message unless what is older is removed only,
# and is lost when two later ones are complete: it goes on from these.
each_failure_of_a_checkpoint_is_survived()
{
    local n rank

    right 40 -n 2 -x RING_LOOP=1
    for rank in 0 1; do
        for ((n = 1; ; n += each)); do
            rm -rf "$dir"
            run 0 -n 2 "${job[@]}" -x RING_LOOP=1 -x RING_WRITTEN=2 -x KEELTEST_FILE_FAILS="any:5:$n:$rank" "${failing[@]}" \
                "$ring" 40 20 0 1
            begins_at_files 2
            is_right
            ! grep -q 'planned failure: .*, set 2' "$err" || break
            grep -q 'planned failure: ' "$err" || fail "rank $rank has no operation $n"
            grep -q -e 'planned failure: \(enter\|list\|access\)' -e "is not written to .* (rank $rank: Input/output error)" "$err" ||
                fail "nothing is said at operation $n"
        done
        [ $n -gt 7 ] || fail "rank $rank has only $n operations"
    done
}

# begins_or_is_refused COUNT: so many ranks begin at a checkpoint and end right, or the job says why it does not begin
begins_or_is_refused()
{
    if [ "$status" -eq 0 ]; then
        begins_at_files "$1"
        is_right
    else
        grep -q -e 'KEEL_FILE_DIR .*: Input/output error' -e 'no checkpoint in .* can be restarted from' "$err" || fail "nothing is said"
    fi
}

# each operation of a start fails at a rank, where two checkpoints are and where no folder is: the next job begins as this one would
each_failure_of_a_start_is_survived()
{
    local n count rank

    right 90 -n 3
    two_sets 90
    cp -r "$dir" "$scratch/sets"
    for count in 3 0; do
        for rank in 0 1; do
            for ((n = 1; ; n += each)); do
                rm -rf "$dir"
                [ $count -eq 0 ] || cp -r "$scratch/sets" "$dir"
                run_any -n 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x KEELTEST_START_FAILS="any:5:$n:$rank" "${failing[@]}" "$ring" 90
                grep -q 'planned failure: ' "$err" || break
                begins_or_is_refused $count
                if [ $status -ne 0 ]; then
                    run 0 -n 3 "${job[@]}" "$ring" 90
                    begins_at_files $count
                    is_right
                fi
            done
            [ $n -gt 2 ] || fail "rank $rank has only $n operations"
        done
    done
}

# each operation of the end fails: the job has ended right, and says which checkpoints stay
each_failure_of_an_end_is_survived()
{
    local n left

    right 90 -n 3
    two_sets 90
    cp -r "$dir" "$scratch/sets"
    for ((n = 1; ; n += each)); do
        rm -rf "$dir"
        cp -r "$scratch/sets" "$dir"
        run 0 -n 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x KEELTEST_FILE_FAILS="any:5:$n:0" "${failing[@]}" "$ring" 90
        is_right
        grep -q 'planned failure: ' "$err" || break
        left=$(newest)
        [ -z "$left" ] || grep -q 'stays\?, and the next job would restart from .*: Input/output error' "$err" || fail "nothing is said of $left"
        run 0 -n 3 "${job[@]}" "$ring" 90
        begins_at_files $((${#left} > 0 ? 3 : 0))
        is_right
    done
    [ $n -gt 6 ] || fail "only $n operations"
    # a request that cannot be made: the call fails, and the job goes on from its checkpoint
    for n in 0 1; do
        rm -rf "$dir"
        cp -r "$scratch/sets" "$dir"
        run 3 -n 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x RING_STOP=$n -x KEELTEST_END_FAILS=open:28:1:1 \
            -x KEELTEST_FILE_FAILS=open:28:1:0 "${failing[@]}" "$ring" 90 80
        has "$err" 1 'keel_checkpoint_and_stop: KEEL_FILE_DIR .*: No space left on device'
        run 0 -n 3 "${job[@]}" "$ring" 90
        begins_at_files 3
        is_right
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

# A replacement of rank 0 says that it has no thread for files, makes one later, and meets the stop.
a_replacement_without_a_writer_makes_one_later()
{
    run 121 -n 3 --kill 0@anyone:asked "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x RING_STOP=1 -x RING_MARK=asked -x RING_HOLD=0 \
        -x KEELTEST_THREAD_FAILS=0 "${failing[@]}" "$ring" 1000000000 30
    has "$err" 1 'planned failure: thread'
    has "$err" 1 'KEEL_FILE_DIR .*: no thread can write files: the replacement tries again with the next checkpoint'
    [ -n "$(newest)" ] || fail "no checkpoint"
}

# The folder is removed or emptied while a stop or a request waits for its checkpoint. The launcher asks again, and the tool says
# that the request is lost.
a_request_is_lost_with_its_folder()
{
    local how

    for how in removed emptied; do
        rm -rf "$dir"
        touch "$scratch/gate"
        start -n 2 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x "KEELTEST_FILE_WAITS=$scratch/gate" "${failing[@]}" "$ring" 1000000000
        until [ -e "$dir/lock" ]; do sleep 0.02; done
        kill -TERM "$pid"
        until compgen -G "$dir/set-*/rank-*.tmp" >"$scratch/begun"; do sleep 0.02; done
        "$files" -w 60 checkpoint "$dir" >"$out.2" 2>"$err.2" &
        until [ -e "$dir/request" ]; do sleep 0.02; done
        if [ $how = removed ]; then
            mv "$dir" "$scratch/away"
            rm -r "$scratch/away"
        else
            find "$dir" -mindepth 1 ! -name lock -delete
        fi
        wait $! && fail "the tool says that the checkpoint is complete"
        has "$out.2" 1 'was removed or emptied, and the request with it'
        rm "$scratch/gate"
        wait "$pid"
        status=$?
        [ $status -eq 121 ] || fail "status $status"
        [ -n "$(newest)" ] || fail "no checkpoint, where the folder is $how"
        check_nothing_left "$pid"
    done
}

# A stop is asked for when the folder is another job's: no checkpoint there counts.
a_stop_in_the_folder_of_another_job_ends_in_time()
{
    local other

    start -n 2 --stop-within 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 "$ring" 1000000000
    until [ -e "$dir/lock" ]; do sleep 0.02; done
    mv "$dir" "$scratch/away"
    "$keelrun" --timeout 60 -n 2 "${tier[@]}" -x "KEEL_FILE_DIR=$dir" -x KEEL_FILE_INTERVAL=3600 "$ring" 1000000000 >"$out.2" 2>"$err.2" &
    other=$!
    until [ -e "$dir/lock" ]; do sleep 0.02; done
    kill -TERM "$pid"
    wait "$pid"
    status=$?
    [ $status -eq 143 ] || fail "status $status"
    has "$err" 1 'no checkpoint came within 3 s'
    [ ! -e "$dir/request" ] && [ ! -e "$dir/request.taken" ] && [ -z "$(newest)" ] || fail "the other job was asked"
    kill -TERM "$other"
    wait "$other"
    status=$?
    [ $status -eq 121 ] || fail "status $status of the other job"
    [ -n "$(newest)" ] || fail "no checkpoint of the other job"
    check_nothing_left "$pid"
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
    counts "skips > 0" "checkpoints > 1" "bytes > 2 * 2 * 4096" # a rank may come too late for one: a failure
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
    counts "skips == 0" "checkpoints > 0"
    run 0 -n 2 "${tier[@]}" -x "KEEL_STATS=$scratch/stats.json" "$ring" 40
    counts "skips + checkpoints + failures + bytes == 0"
}

# The folder is gone, with its parent, then another job has it, and then it is free: the job says so twice, a rank 0 that is
# replaced meanwhile does as well, and checkpoints are complete there again.
a_folder_that_is_gone_is_found_again()
{
    local other steps

    mkdir "$scratch/parent"
    dir=$scratch/parent/files
    job=("${tier[@]}" -x "KEEL_FILE_DIR=$dir" -x "KEEL_STATS=$scratch/stats.json")
    RING_MARK=reached start -n 3 "${job[@]}" "$ring" 1000000000 30
    wait_for reached "$out"
    mv "$scratch/parent" "$scratch/away"
    wait_for 'is not written to .*No such file or directory' "$err"
    kill -9 "$(process_of 0)"
    wait_for 'the replacement tries again with the next checkpoint' "$err"
    # the other job: a process that holds the lock
    mkdir "$scratch/made" "$scratch/made/files"
    touch "$scratch/made/files/request" "$scratch/made/files/stop"
    python3 -c 'import fcntl, sys, time
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(1000)' "$scratch/made/files/lock" >"$out.2" &
    other=$!
    wait_for held "$out.2"
    mv "$scratch/made" "$scratch/parent"
    wait_for 'is not written to .*another job uses this folder' "$err"
    sleep 0.5 # several looks
    [ -e "$dir/request" ] && [ -e "$dir/stop" ] || fail "what the other job was asked for is taken"
    rm "$dir/request" "$dir/stop"
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

# Each operation of the start fails once at each rank: all take the older checkpoint, or read the file in parts. Where a file is
# only to be read ahead, no failure has an effect.
failures_of_a_restart_take_an_older_checkpoint()
{
    local plan

    right 90 -n 3
    two_sets 90
    cp -r "$dir" "$scratch/sets"
    for plan in look:5:2 look:13:2 look:5:1 list:5:1 read:5:2:0 read:5:1:2 read:4 short:1; do
        rm -rf "$dir"
        cp -r "$scratch/sets" "$dir"
        run 0 -n 3 "${job[@]}" -x KEELTEST_START_FAILS=$plan "${failing[@]}" "$ring" 90
        case $plan in
        read:4 | short:1 | look:5:1 | list:5:1) ! grep -q 'cannot be read' "$err" || fail "$plan is no failure" ;;
        *) grep -q 'cannot be read (rank [0-2]: .*): an older one is looked for' "$err" || fail "nothing is said of $plan" ;;
        esac
        begins_at_files 3
        is_right
    done
}

# At each operation of the start of rank 0 and of another one the rank, keelrun or the whole job is killed. Of a dead rank the
# launcher starts the job again, with one line that says why; else the next job begins where that one would have.
killed_in_a_restart() # rank|keelrun|job
{
    local n rank before

    right 90 -n 3
    two_sets 90
    cp -r "$dir" "$scratch/sets"
    for rank in 0 2; do
        for ((n = 1; ; n += each)); do
            rm -rf "$dir"
            cp -r "$scratch/sets" "$dir"
            killed -n 3 "${job[@]}" -x KEELTEST_START_DIES=$rank:$n:"$1" "${failing[@]}" "$ring" 90
            grep -q 'planned death' "$err" || break
            if [ "$1" = rank ]; then
                [ $status -eq 0 ] || fail "status $status"
                [ "$(grep -c 'a rank died while the job began from files' "$err")" -le 1 ] || fail "several ranks say the same"
            else
                # without keelrun the ranks go on for a moment, and may come to their end
                before=$(newest)
                [ -n "$before" ] || { [ "$1" = keelrun ] && compgen -G "$dir/set-*/manifest-ended" >/dev/null; } ||
                    fail "rank $rank, operation $n: no checkpoint is left"
                run 0 -n 3 "${job[@]}" "$ring" 90
                begins_at_files $((${#before} > 0 ? 3 : 0))
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

    for ((n = 1; ; n += each)); do
        rm -rf "$dir"
        killed -n 2 --no-restart "${job[@]}" -x RING_LOOP=1 -x RING_WRITTEN="$3" -x KEEL_FILE_KEEP=1 \
            -x KEELTEST_FILE_DIES="$1:$n:$2" "${failing[@]}" "$ring" 40 20
        [ $status -eq 137 ] || fail "rank $1 does not die at operation $n"
        ! grep -q "planned death: .*, set $3" "$err" || break
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
        for ((n = 1; ; n += each)); do
            rm -rf "$dir"
            run 0 -n 3 "${job[@]}" -x RING_LOOP=1 -x RING_WRITTEN=2 -x KEELTEST_FILE_DIES="$rank:$n" "${failing[@]}" "$ring" 40 20
            is_right
            "$files" list "$dir" | grep -q ' ended ' || fail "no checkpoint is complete"
            ! grep -q "planned death: .*, set 2" "$err" || break
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
    for ((n = 1; ; n += each)); do
        rm -rf "$dir"
        cp -r "$scratch/sets" "$dir"
        killed -n 3 --no-restart "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x KEELTEST_FILE_DIES=0:$n:job "${failing[@]}" "$ring" 90
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

# The first file is never synced: the program ends right, with a message of each rank that waits, and the next job begins at the start,
# because no checkpoint is complete. Later the newest one cannot be marked.
a_folder_that_hangs_at_the_end_is_left()
{
    local gate=(-x "KEELTEST_FILE_WAITS=$scratch/gate" -x KEEL_FILE_STOP_WITHIN=1)

    right 90 -n 3
    touch "$scratch/gate"
    run 0 -n 3 "${job[@]}" "${gate[@]}" -x RING_WRITES=y "${failing[@]}" "$ring" 90 60
    is_right
    grep -q 'the end of this rank waits for a file operation in ' "$err" || fail "nothing is said of the wait"
    grep -q 'a file operation in .* does not end within 1 s (KEEL_FILE_STOP_WITHIN)' "$err" || fail "nothing is said of the end"
    has "$err" 1 'the checkpoints in .* stay, and the next job would restart from them: the file system does not answer'
    run 0 -n 3 "${tier[@]}" -x "KEEL_FILE_DIR=$dir" "$ring" 90
    begins_at_files 0
    two_sets 90
    run 0 -n 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 "${gate[@]}" "${failing[@]}" "$ring" 90
    is_right
    has "$err" 1 'the end of this rank waits for a file operation in '
    has "$err" 1 'the checkpoints in .* stay, and the next job would restart from them: '
    run 0 -n 3 "${job[@]}" "$ring" 90
    begins_at_files 3
    is_right
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

"$name"
