#!/bin/bash
# One case of processes outside a job that connect to its processes: outsiders_test.sh DIRECTORY-OF-THE-BUILD CASE. Each case runs in a
# network namespace of its own, which has an interface besides the loopback one.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun outsider=$build/tests/proc/outsider stencil=$build/perf/kernels/stencil

if [ -z "${KEELRUN_TEST_NETWORK:-}" ]; then
    export KEELRUN_TEST_NETWORK=own
    unshare --net true 2>/dev/null && command -v ip >/dev/null || { echo "no network namespaces, or no ip: skipped"; exit 77; }
    exec unshare --net --mount "$BASH" "$0" "$@"
fi
if [ "$KEELRUN_TEST_NETWORK" = own ]; then
    mount -t sysfs sysfs /sys || exit 1 # UCX finds its devices there
    ip link set lo up || exit 1
    ip link add outside type veth peer name other 2>/dev/null || { echo "no veth: skipped"; exit 77; }
    ip addr add 10.99.0.1/24 dev outside || exit 1
    ip link set outside up
    ip link set other up
    for ((tries = 0; tries < 400; tries++)); do # UCX takes a device that the kernel calls running
        ! ip -brief link show outside | grep -q ' UP ' || break
        sleep 0.05
    done
    export KEELRUN_TEST_NETWORK=ready
fi
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
export KEEL_OPLOG_SIZE=8m KEEL_GETLOG_SIZE=4m

# start_job ARGUMENTS...: rank 1 waits in sweep 50 until a rank dies; $ranks[] and $nodes are process numbers
start_job()
{
    local rank

    start -v -n 4 --nodes 2 "$@" "$stencil" -s 64x64 -n 100 --die 1@50.0:hold
    ranks=()
    for rank in 0 1 2 3; do
        wait_for "rank $rank incarnation 0 started" "$err"
        ranks[rank]=$(sed -n "s/.* rank $rank incarnation 0 started .*, pid //p" "$err")
    done
    wait_for 'all ranks have met' "$err"
    nodes=$(grep -lsxF keelrun-node /proc/[0-9]*/comm | tr -dc '0-9\n' | while read -r process; do
        grep -qszF "KEELRUN_TEST_ID=$KEELRUN_TEST_ID" "/proc/$process/environ" && echo "$process"
    done)
    [ -n "$nodes" ] || fail "no nodes"
}

# attack WHAT PID...: its connections stay open until leave()
attack()
{
    coproc OUTSIDER { exec env -u KEELRUN_TEST_ID "$outsider" "$@" 2>"$scratch/outsider.err"; }
    read -r connected <&"${OUTSIDER[0]}" || fail "the outsider failed"
    echo "$*: $connected, $(cat "$scratch/outsider.err")"
}

leave()
{
    local outsider_pid=$OUTSIDER_PID

    eval "exec ${OUTSIDER[1]}>&-"
    wait "$outsider_pid"
}

# end_job DEATHS: the result is right
end_job()
{
    local status

    wait $pid
    status=$?
    [ $status -eq 0 ] || fail "status $status"
    has "$out" 1 'verification PASSED$'
    has "$err" "$1" ' died: signal '
    check_nothing_left '*'
}

a_job_on_one_host_listens_on_the_loopback_interface()
{
    local count

    start_job
    # shellcheck disable=SC2086
    "$outsider" list $nodes "${ranks[@]}" >"$scratch/ports"
    count=$(wc -l <"$scratch/ports")
    [ "$count" -ge 10 ] || fail "$count ports, not two of each rank and one of each node"
    ! grep -v ' 127\.0\.0\.1 ' "$scratch/ports" >&3 || fail "these listen elsewhere"
    kill -KILL "${ranks[2]}"
    end_job 1
}

# an interface that is named is used, and no other; the setting of UCX goes ahead of Keel's
a_named_interface_is_the_one_that_listens()
{
    listens_outside -x UCX_NET_DEVICES=outside -x KEEL_INTERFACE=lo
}

keel_interface_is_the_one_that_listens()
{
    listens_outside -x KEEL_INTERFACE=outside
}

listens_outside()
{
    start_job "$@"
    "$outsider" list "${ranks[@]}" >"$scratch/ports"
    [ -s "$scratch/ports" ] || fail "no ports"
    ! grep -v ' 10\.99\.0\.1 ' "$scratch/ports" >&3 || fail "these listen elsewhere"
    kill -KILL "${ranks[2]}"
    end_job 1
}

# launcher_lives_with WHAT: deaths and ends are told while strangers hold connections to the launcher's server
launcher_lives_with()
{
    start_job
    # shellcheck disable=SC2086
    attack "$1" $nodes
    kill -KILL "${ranks[2]}"
    end_job 1
    leave
    has "$err" 2 'a connection from 127\.0\.0\.1:[0-9]* to the launcher.s server is refused'
}

the_launcher_lives_with_silent_strangers()
{
    launcher_lives_with silent
}

the_launcher_lives_with_random_bytes()
{
    launcher_lives_with random
}

# one_death_or_none: rank 2 was attacked, and dies only by an assertion of UCX; if it does not, rank 3 is killed, for which rank 1 waits
one_death_or_none()
{
    local tries asserted

    for ((tries = 0; tries < 40; tries++)); do
        ! grep -q ' died: signal ' "$err" || break
        sleep 0.05
    done
    [ $tries -lt 40 ] || kill -KILL "${ranks[3]}"
    end_job 1
    leave
    asserted=$(grep -c '\.c:[0-9]* *Assertion' "$err")
    [ "$asserted" -gt 0 ] || has "$err" 1 ' rank 3 incarnation 0 died: signal 9'
}

a_rank_lives_with_random_bytes()
{
    start_job
    attack random "${ranks[2]}"
    one_death_or_none
}

a_rank_lives_with_silent_strangers()
{
    start_job
    attack silent "${ranks[2]}"
    one_death_or_none
}

# nothing is written to any rank but strangers' bytes: no rank dies of them
all_ranks_live_with_random_bytes()
{
    start_job
    attack random "${ranks[@]}"
    [ "${connected#connected }" -ge 8 ] || fail "not all ranks were attacked: $connected"
    kill -KILL "${ranks[3]}"
    end_job 1
    leave
}

# UCX's assertion in all ranks at once: the job ends soon, says so, and leaves nothing
all_ranks_that_assert_at_once_end_the_job()
{
    local tries status

    start_job --job-restarts 0
    attack magic "${ranks[@]}"
    for ((tries = 0; tries < 200; tries++)); do
        ! grep -q ' died: signal ' "$err" || break
        sleep 0.05
    done
    [ $tries -lt 200 ] || kill -KILL "${ranks[@]}" # a UCX that does not assert
    wait $pid
    status=$?
    leave
    if [ $status -eq 0 ]; then # one after the other on a busy machine
        has "$out" 1 'verification PASSED$'
    else
        grep -q ' died: signal ' "$err" && grep -q 'the job ended with status [1-9]' "$err" || fail "no reason is given"
    fi
    check_nothing_left '*'
}

# what each rank sent to rank 2 since its start: greetings, requests and answers, with valid sums
captured_messages_are_not_taken_again()
{
    attack replay
    [ "$connected" = captures ] || fail "no capture"
    start_job
    echo "${ranks[2]} 0" >&"${OUTSIDER[1]}"
    read -r connected <&"${OUTSIDER[0]}" || fail "the outsider failed"
    echo "replay: $connected"
    [ "${connected#connected }" -gt 0 ] || fail "nothing was captured"
    one_death_or_none
}

# UCX takes the length of a message for right, and asserts: no backtrace is written, and the rank is replaced
an_assertion_in_ucx_is_a_death_like_others()
{
    local tries

    start_job
    # shellcheck disable=SC2086
    attack magic $nodes "${ranks[2]}"
    for ((tries = 0; tries < 200; tries++)); do
        ! grep -q ' died: signal ' "$err" || break
        sleep 0.05
    done
    [ $tries -lt 200 ] || kill -KILL "${ranks[3]}" # a UCX that does not assert: rank 1 still waits
    end_job 1
    leave
    ! grep -q '==== backtrace' "$err" || fail "a backtrace was written"
}

run_case
