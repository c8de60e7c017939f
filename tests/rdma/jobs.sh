# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by cases.sh in the guest, and by device_cases.sh where there is a device: jobs over it, and what is looked for in what they
# say. `verbs` has keelrun's arguments for a job over verbs, `on` what goes before its program.
devices='[^ ]+:[0-9]+'
zeta='zeta 9\.99864415791' # of one iteration of CG S, which is not published

# job STATUS PATTERN KEELRUN'S ARGUMENTS...: ends with that status, with a line that matches; without any of an assertion
job()
{
    local expected=$1 pattern=$2 status
    shift 2

    ./keelrun -n 4 --nodes 2 -v --timeout 300 "$@" >out 2>&1 </dev/null
    status=$?
    kills=$((kills + $(grep -cE '^keelrun: .* died: signal 9' out)))
    [ $status -eq "$expected" ] && grep -qE -- "$pattern" out && ! grep -qE 'Assertion|died: signal ([^9]|9.)' out
}

# one ITS-NAME COMMAND...
one()
{
    local name=$1 begin=$SECONDS
    shift

    [[ $name =~ ${only:-.} ]] || return 0
    begun=$((${begun:-0} + 1))
    if "$@"; then
        echo "rdma: $name: ok ($((SECONDS - begin)) s)"
    else
        echo "rdma: $name: failed"
        cat out
        failed=1
    fi
}

# hello_killed RANK@TIME KEELRUN'S ARGUMENTS...: rank 2 to 0 add up the same as without a death; seconds after all have met: they still shake hands at first
hello_killed()
{
    local kill=$1
    shift

    job 0 '^rank 0, life [01]: 524288$' --kill "$kill" "$@" ./hello_keel && [ "$(grep -c ': 524288$' out)" -eq 4 ]
}

# by_the_device_that PATTERN ARGUMENTS...: a job over verbs in which puts, and reads of windows or images, are the device's own
by_the_device_that()
{
    local pattern=$1
    shift

    job 0 "$pattern" "${verbs[@]}" -x KEEL_LOG_LEVEL=info "$@" &&
        [ "$(grep -cE " info: $devices: [1-9][0-9]* puts of [1-9][0-9]* bytes by the device, [1-9][0-9]* gets of [1-9][0-9]*," out)" -eq 4 ]
}

by_the_device()
{
    by_the_device_that 'verification PASSED' "$@"
}

# reads COUNT ARGUMENTS...: gets and puts whose answers are right on so many ranks, all by the device between nodes
reads()
{
    local count=$1
    shift

    by_the_device_that 'rank 3: all right' "${on[@]}" ./one_sided -n 12 --ckpt-every 5 "$@" && [ "$(grep -c ': all right$' out)" -eq "$count" ]
}

# device_adds DEATHS ARGUMENTS...: all ranks add to a word of each, their own, too, by the device alone; a death is a rollback
device_adds()
{
    local deaths=$1
    shift

    job 0 '^rank 3: all right$' "${verbs[@]}" -x KEEL_LOG_LEVEL=info "${on[@]}" ./one_sided -n 1 --adds 60 --device "$@" &&
        [ "$(grep -c ': all right$' out)" -eq 4 ] && [ "$(grep -cE 'died: signal 9' out)" -eq "$deaths" ] &&
        awk '/ info: [^ ]+: [0-9]+ puts of .*, [0-9]+ atomics;/ { for (i = 1; i < NF; i++) if ($(i + 1) == "atomics;") ranks += ($i >= 60 * 4) }
            END { exit !(ranks == 4) }' out
}

# with the target's process stopped puts and gets complete, up to the room granted for records; then it is said what they wait for
stopped_target()
{
    job 0 '^rank 0: [0-9]+ more when it goes on$' "${verbs[@]}" -x KEEL_LOG_LEVEL=info -x KEEL_HEARTBEAT_TIMEOUT=0 "${on[@]}" \
        ./one_sided -n 2 --stopped &&
        awk '/puts and a flush to a process that is stopped/ { put = NR } /gets from it/ { got = NR } /more when it goes on/ { more = NR }
            /a get waits for rank 3: the room that was granted there for records of gets is used up/ { said = NR }
            END { exit !(put && got > put && said > got && more > said) }' out
}

verbs_cases()
{
    one verbs_hello job 0 '^rank 3, life 0: 524288$' "${verbs[@]}" "${on[@]}" ./hello_keel
    one verbs_stencil by_the_device -x KEEL_LANES=served "${on[@]}" ./stencil -s 64x64 -n 20 --ckpt-every 5 --die 3@12.1
    one verbs_ft by_the_device "${on[@]}" ./ft -c S --die 2@4.1
    one verbs_cg by_the_device_that "$zeta" "${on[@]}" ./cg -c S -n 1 --die 1@14.1
    one verbs_locks job 0 'verification PASSED' "${verbs[@]}" "${on[@]}" ./sections -n 24 --ckpt-every 8 --die 3@13.1
    one verbs_waits job 0 'verification PASSED' "${verbs[@]}" "${on[@]}" ./waits -n 24 --ckpt-every 8 --die 3@12.2
    one verbs_hello_killed hello_killed 2@0 "${verbs[@]}" "${on[@]}"
}

verbs_one_sided_cases()
{
    one verbs_reader_killed reads 4 --die 3@9.1
    one verbs_target_killed reads 4 --die 0@8.2
    one verbs_adds job 0 '^rank 3: all right$' "${verbs[@]}" "${on[@]}" ./one_sided -n 1 --adds 1000
    one verbs_device_adds device_adds 0
    one verbs_device_adder_killed device_adds 1 --die 3@2.1
    one verbs_stopped stopped_target
}
