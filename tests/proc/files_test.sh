#!/bin/bash
# Checkpoints in files, and restarts from them: files_test.sh DIRECTORY-OF-THE-BUILD CASE.
# shellcheck disable=SC2154 # of the libraries
set -u

build=$1 name=$2
# shellcheck source=tests/proc/files_lib.sh
. "$(dirname "$0")/files_lib.sh"

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
    RING_MARK=reached start -n 4 "${job[@]}" "$ring" 1000000000 30
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

# a store has no files: after a restart loads say that, and the store can be submitted again
a_job_with_a_store_goes_on()
{
    local flags stored=$build/tests/proc/stored

    for flags in permuted consecutive; do
        rm -rf "$dir"
        LOST=0@13.0 start -n 4 --nodes 2 "${job[@]}" "$stored" 2 $flags -
        wait_for 'lost here' "$out"
        kill -9 "$pid"
        wait "$pid" 2>/dev/null
        check_nothing_left "$pid"
        run 0 -n 4 --nodes 2 "${job[@]}" -x KEEL_LOG_LEVEL=info "$stored" 2 $flags 2@17.0
        grep -q 'the job restarts from checkpoint [0-9]* in ' "$err" || fail "begins at its start"
        has "$out" 1 '^stored: 1 deaths, [0-9]* rollbacks: right$'
    done
}

# killed_with_a_set PROGRAM ARGUMENTS...: the whole job, when the first set is complete; sets generation
killed_with_a_set()
{
    rm -rf "$dir" && mkdir "$dir"
    start -n 4 --nodes 2 "${job[@]}" -x KEEL_LANES=$lane "$@"
    until [ -n "$(newest)" ]; do
        kill -0 "$pid" 2>/dev/null || fail "the job ended"
        sleep 0.02
    done
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left "$pid"
    generation=$("$files" list "$dir" | awk '$3 == "complete" { print $1; exit }')
}

# attached and detached memory, and a window of which only extents belong to an image
attached_memory_and_extents_return()
{
    local lane how generation programs=$build/tests/proc

    for lane in direct served; do
        for how in plain waits; do
            killed_with_a_set "$programs/attached" 100000000 - 3 $how
            # 3 gsyncs a step, and a safe one every 3 steps: no image is of a later step than 3 for each checkpoint
            run 0 -n 4 --nodes 2 "${job[@]}" -x KEEL_LANES=$lane -x KEEL_LOG_LEVEL=info "$programs/attached" $((generation * 3 + 30)) - 3 $how
            has "$out" 1 '^attached: 4 ranks, [0-9]* steps, 1 rollbacks: right$'
            grep -q "the job restarts from checkpoint $generation in " "$err" || fail "it does not begin at checkpoint $generation"
        done
        killed_with_a_set "$programs/extents" 100000000
        # the extents are those of the first half; rank 1 dies at a quarter and at three quarters
        run 0 -n 4 --nodes 2 "${job[@]}" -x KEEL_LANES=$lane -x KEEL_LOG_LEVEL=info "$programs/extents" $((8 * (generation * 3 + 10)))
        has "$out" 4 ' bytes an image: right$'
        grep -q "the job restarts from checkpoint $generation in " "$err" || fail "it does not begin at checkpoint $generation"
    done
}

# The rank came back, alone or, where a rank had no share of parity yet, with a job that began anew.
was_killed_after_its_restart()
{
    has "$err" 1 'incarnation 0 killed$'
    [ "$(grep -c '^rank [0-9]* begins at step [1-9]' "$out")" -ge 5 ] || fail "the rank did not come back"
}

# deaths after a restart are recovered as before it
a_restarted_job_survives_deaths()
{
    right 90 -n 4
    run 137 -n 4 --no-restart "${job[@]}" "$ring" 90 30 1
    run 0 -n 4 -v --kill 'random@marker:begins at step' "${job[@]}" -x RING_HOLD=0 "$ring" 90
    was_killed_after_its_restart
    is_right
}

# Other hosts and another placement than those of the job that wrote, and so other groups; a death after the restart is survived.
a_lost_job_goes_on_on_other_nodes()
{
    local options group=(-x KEEL_GROUP_SIZE=2)

    right 90 -n 4
    for options in "" "--nodes 4" "--nodes 2 --map cyclic"; do
        rm -rf "$dir"
        run 137 -n 4 --nodes 2 --no-restart "${job[@]}" "${group[@]}" "$ring" 90 30 0
        # shellcheck disable=SC2086 # several options
        run 0 -n 4 -v $options --kill 'random@marker:begins at step' "${job[@]}" "${group[@]}" -x RING_HOLD=0 "$ring" 90
        was_killed_after_its_restart
        is_right
    done
}

a_signal_stops_the_job_with_a_checkpoint()
{
    local signal

    right 60 -n 3
    for signal in TERM USR1; do
        rm -rf "$dir"
        start -n 3 "${tier[@]}" -x "KEEL_FILE_DIR=$dir" -x KEEL_FILE_INTERVAL=3600 "$ring" 1000000000
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
    start -n 2 "${tier[@]}" "$ring" 1000000000
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
    for options in "" "--kill 1@anyone:asked -x RING_HOLD=0" "--kill 0@anyone:asked -x RING_HOLD=0" "-x RING_STOP=0" \
        "-x RING_STOP=0 --kill 0@anyone:asked -x RING_HOLD=0"; do
        rm -rf "$dir"
        # shellcheck disable=SC2086 # several options
        run 121 -n 3 -x RING_STOP=1 $options "${tier[@]}" -x KEEL_FILE_INTERVAL=3600 -x "KEEL_FILE_DIR=$dir" -x RING_MARK=asked "$ring" \
            1000000000 30
        [ "$("$files" list "$dir" | grep -c ' complete ')" -ge 1 ] || fail "no checkpoint"
        run 0 -n 3 "${job[@]}" "$ring" 60 # less than the steps that it was asked for: those done count
        begins_at_files 3
        ! grep -q '^rank [0-9]* begins at step \([0-9]\|[12][0-9]\|30\)$' "$out" || fail "the image is older than the call"
    done
    # what an earlier job asked for is no request of this one
    rm -rf "$dir"
    mkdir "$dir"
    touch "$dir/stop"
    run 0 -n 3 "${job[@]}" "$ring" 60
    is_right
    # without a folder the call fails
    run 3 -n 3 "${tier[@]}" -x RING_STOP=1 "$ring" 60 30
    has "$err" 1 'keel_checkpoint_and_stop: there is no KEEL_FILE_DIR'
}

# The files of a stop cannot be written, or the file system does not answer from the first checkpoint or from the call on: the job
# ends when its time is over, and is not started again. Any rank calls.
a_stop_without_files_ends_in_time()
{
    local plan rank

    touch "$scratch/gate"
    for plan in KEELTEST_FILE_FAILS=fsync:5:0 "KEELTEST_FILE_WAITS=$scratch/gate" "KEELTEST_STOP_WAITS=$scratch/gate"; do
        for rank in 0 1; do
            rm -rf "$dir"
            run 143 -n 3 "${job[@]}" -x KEEL_FILE_STOP_WITHIN=500ms -x RING_STOP=$rank -x RING_MARK=asked -x "$plan" \
                "${failing[@]}" "$ring" 1000000000 30
            has "$err" 1 'no checkpoint is complete in .* within 0.5 s of the stop'
            has "$err" 0 'the job is started anew'
            [ "${plan%%=*}" = KEELTEST_STOP_WAITS ] || [ -z "$(newest)" ] || fail "a checkpoint is complete"
        done
    done
    # the removal of an older checkpoint is no part of a stop
    two_sets 90
    run 121 -n 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x KEEL_FILE_KEEP=1 -x KEEL_FILE_STOP_WITHIN=50 -x RING_STOP=1 -x RING_MARK=asked \
        -x "KEELTEST_REMOVAL_WAITS=$scratch/gate" "${failing[@]}" "$ring" 1000000000 75
    # a job that waits for its last rank is complete
    rm -rf "$dir"
    right 60 -n 3
    run 0 -n 3 "${job[@]}" -x KEEL_FILE_STOP_WITHIN=15 -x RING_STOP=1 -x RING_LATE=16000 -x KEELTEST_FILE_FAILS=fsync:5:0 "${failing[@]}" \
        "$ring" 60 59
    is_right
    # by the file alone, and the next job is asked for nothing
    rm -rf "$dir"
    start -n 3 "${job[@]}" -x KEEL_FILE_STOP_WITHIN=500ms -x RING_MARK=begun -x RING_SETS=0 -x KEELTEST_FILE_FAILS=fsync:5:0 \
        "${failing[@]}" "$ring" 1000000000 1
    wait_for begun "$out"
    touch "$dir/stop"
    wait "$pid"
    status=$?
    [ $status -eq 143 ] || fail "status $status"
    check_nothing_left "$pid"
    right 60 -n 3
    run 0 -n 3 "${job[@]}" -x KEEL_FILE_STOP_WITHIN=500ms "$ring" 60
    is_right
}

# At this rate a file takes minutes; a requested checkpoint does not keep to the rate, nor the one that is in its way.
a_rate_does_not_hold_for_a_stop()
{
    RING_BYTES=2097152 start -n 3 "${job[@]}" -x KEEL_FILE_RATE=4k -x RING_MARK=begun -x RING_SETS=0 "$ring" 1000000000 1
    wait_for 'is still being written to' "$err"
    [ -z "$(newest)" ] || fail "the rate does not hold"
    kill -TERM "$pid"
    wait "$pid"
    status=$?
    [ $status -eq 121 ] || fail "status $status"
    [ -n "$(newest)" ] || fail "no checkpoint"
    # nor does the end of a job wait for it
    rm -rf "$dir"
    RING_BYTES=2097152 right 40 -n 3
    RING_BYTES=2097152 run 0 -n 3 "${job[@]}" -x KEEL_FILE_RATE=4k -x RING_WRITES=y "$ring" 40 20
    is_right
}

# One checkpoint from before the call is being written, and another one is taken by then: both do not meet the call. So the next job
# begins behind the call, and does not stop again.
a_stop_is_met_by_a_later_checkpoint()
{
    right 60 -n 3
    touch "$scratch/gate"
    start -n 3 "${job[@]}" -x RING_STOP=1 -x RING_SETS=1 -x RING_MARK=asked -x "KEELTEST_FILE_WAITS=$scratch/gate" "${failing[@]}" \
        "$ring" 1000000000 30
    wait_for asked "$out"
    until [ -e "$dir/stop" ]; do sleep 0.02; done
    rm "$scratch/gate"
    wait "$pid"
    status=$?
    [ $status -eq 121 ] || fail "status $status"
    run 0 -n 3 "${job[@]}" -x RING_STOP=1 "$ring" 60 30
    begins_at_files 3
    ! grep -q '^rank [0-9]* begins at step \([0-9]\|[12][0-9]\|30\)$' "$out" || fail "the image is older than the call"
    is_right
}

# What is asked for when a job begins from files: a checkpoint is one of this job, with or without a set that had begun for it, and a
# stop was one of the job before.
requests_are_there_when_a_job_begins()
{
    local request before

    right 90 -n 3
    for request in request request.taken; do
        two_sets 90
        before=$(newest)
        before=${before#set-}
        touch "$dir/$request"
        run 0 -n 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 -x RING_LOOP=1 -x "RING_AFTER=${before%-*}" "$ring" 90 75
        begins_at_files 3
        is_right
        [ ! -e "$dir/request" ] && [ ! -e "$dir/request.taken" ] || fail "$request stays"
        counts "checkpoints == 1"
    done
    two_sets 90
    touch "$dir/stop"
    run 0 -n 3 "${job[@]}" -x KEEL_FILE_INTERVAL=3600 "$ring" 90
    begins_at_files 3
    is_right
    [ ! -e "$dir/stop" ] || fail "the stop stays"
    counts "checkpoints == 0"
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
    printf '#!/bin/sh\nexec "%s" 1000000000\n' "$ring" >"$scratch/program"
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

# the loop of files.md: the first job is lost, the second one is stopped, the third one ends, and the fourth fails
the_loop_of_the_documents_goes_on()
{
    local script=$scratch/loop

    mkdir "$scratch/bin"
    cat >"$scratch/bin/keelrun" <<END
#!/bin/bash
echo begins >>"$scratch/begun"
case \$(wc -l <"$scratch/begun") in
1) exec "$keelrun" --job-restarts 0 -n 3 ${job[*]} "$ring" 60 30 0 1 2 ;;
2) RING_STOP=1 exec "$keelrun" -n 3 ${job[*]} -x KEEL_FILE_INTERVAL=3600 "$ring" 1000000 30 ;;
3) exec "$keelrun" -n 3 ${job[*]} "$ring" 60 ;;
*) exit 17 ;;
esac
END
    chmod +x "$scratch/bin/keelrun"
    sed -n '/^until keelrun/,/^```/p' "$(dirname "$0")/../../contrib/doc/files.md" | grep -v '^```' >"$script"
    [ "$(wc -l <"$script")" -eq 3 ] || fail "no loop in files.md"
    PATH=$scratch/bin:$PATH timeout -k 1 100 bash "$script" >"$out" 2>"$err" </dev/null || fail "the loop ends with $?"
    check_nothing_left '*'
    begins_at_files 6
    has "$scratch/begun" 3 begins
    has "$err" 1 'the job has stopped, with a checkpoint in files'
    PATH=$scratch/bin:$PATH bash "$script"
    [ $? -eq 1 ] || fail "the loop goes on after a failure"
    has "$scratch/begun" 4 begins
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
    grep -q 'window 0 has 8192 bytes, and in the image 4096$' "$err" || fail "the window is not named"
    grep -q 'cannot be restored: image of windows of other sizes' "$err" || fail "nothing is said of other windows"
    RING_MARK=reached start -n 3 "${job[@]}" "$ring" 1000000000 70
    wait_for reached "$out"
    "$keelrun" -n 3 "${job[@]}" "$ring" 90 >"$out.2" 2>"$err.2" && fail "a second job takes the folder"
    grep -q 'another job uses this folder' "$err.2" || fail "nothing is said of the second job"
    ! "$files" prune "$dir" 2>/dev/null || fail "the tool removes what a job uses"
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    check_nothing_left "$pid"
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
    "$(dirname "$0")/../../perf/files" -n 1 -s 1 -i 1 -k 50 -c S -f 6 -d "$scratch" "$build" >"$out" 2>"$err" || fail "nothing is compared"
    has "$out" 7 '^\(stencil\|ft\|write\|counted\|verified\|restart\|cached\)\(,[0-9]*\.[0-9]*\)\{5\}$'
    "$(dirname "$0")/../../perf/files" -n 0 2>"$err" && fail "no round is taken"
    has "$err" 1 "is no whole number above 0"
}

# begins_where SET TEXT: the last line of the tool names that checkpoint
begins_where()
{
    local generation=${1#set-}

    tail -n 1 "$out" | grep -qx "a job begins at checkpoint ${generation%-*} ([0-9T:-]*)$2" || fail "a job begins elsewhere than at $1"
}

the_tool_tells_what_is_there()
{
    local file

    "$files" --help | grep -q '^Usage: keel_files' || fail "no help"
    "$files" --version | grep -q '^keel_files [0-9]' || fail "no version"
    two_sets 90
    "$files" list "$dir" >"$out"
    has "$out" 2 ' complete .* files_ring$'
    begins_where "$(newest)" ''
    "$files" check "$dir" >"$out" || fail "damage"
    has "$out" 2 'checkpoint [0-9]*: 3 files, [0-9]* bytes, all right'
    begins_where "$(newest)" ''
    "$files" show "$dir" >"$out" || fail "damage"
    has "$out" 6 'rank [0-2]: [0-9]* bytes, 1 windows with 4096, 2 protected regions with 16'
    "$files" --json list "$dir" | python3 -c 'import json, sys; assert [s["begins"] for s in json.load(sys.stdin)] == [True, False]' || fail "list is no JSON"
    "$files" --json show "$dir" |
        python3 -c 'import json, sys; assert [len(s["files"]) for s in json.load(sys.stdin)] == [3, 3]' || fail "show is no JSON"
    # a job takes the older one if the newer one is damaged, and none if both are
    cp -r "$dir" "$scratch/damaged"
    flip "$scratch/damaged/$(newest)/rank-1"
    "$files" list "$scratch/damaged" >"$out" # looks into no file
    begins_where "$(newest)" ''
    "$files" check "$scratch/damaged" >"$out" && fail "no damage"
    begins_where "$(basename "$(find "$dir" -name 'set-*' ! -name "$(newest)")")" '; newer ones are lost'
    "$files" --json check "$scratch/damaged" |
        python3 -c 'import json, sys; assert [s["begins"] for s in json.load(sys.stdin)] == [False, True]' || fail "check is no JSON"
    for file in "$scratch"/damaged/set-*/manifest; do
        flip "$file"
    done
    "$files" list "$scratch/damaged" >"$out"
    tail -n 1 "$out" | grep -q '^no checkpoint can be restarted from: ' || fail "a job begins"
    rm -r "$scratch"/damaged/*
    "$files" list "$scratch/damaged" >"$out"
    tail -n 1 "$out" | grep -qx 'no checkpoint: a job begins at its start' || fail "a job begins elsewhere"
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
