#!/bin/bash
# One case of jobs at the limits of the machine, or with settings it cannot serve: limits_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun limits=$build/tests/proc/limits
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m --timeout 40)

# ---- memory ---------------------------------------------------------------------------------------------------------------

# memory_group MIB: a control group of that size, which $group enters; skips where none can be made
memory_group()
{
    local path top

    path=$(sed -n 's/^[0-9]*:\([^:]*,\)\{0,1\}memory\(,[^:]*\)\{0,1\}://p' /proc/self/cgroup)
    if [ -n "$path" ]; then
        top=/sys/fs/cgroup/memory$path limit=memory.limit_in_bytes
    else
        top=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup) limit=memory.max
    fi
    group=$top/keel_test.$$
    mkdir "$group" 2>/dev/null || { echo "no control group can be made: skipped"; exit 77; }
    trap 'rmdir "$group"; rm -rf "$scratch"' EXIT
    echo $(($1 << 20)) 2>/dev/null >"$group/$limit" || { echo "no limit can be set: skipped"; exit 77; }
}

# run_in_group STATUS ARGUMENTS...: keelrun and all its processes are in the group
run_in_group()
{
    # shellcheck disable=SC2016
    printf '#!/bin/sh\necho $$ >"%s/cgroup.procs" && exec "%s" "$@"\n' "$group" "$build/contrib/keelrun/keelrun" >"$scratch/in_group"
    chmod +x "$scratch/in_group"
    keelrun=$scratch/in_group
    run "$@"
}

# alone more than the group has; together; and what fits, with all that Keel takes besides
windows_beyond_the_groups_memory_are_refused()
{
    local lanes

    memory_group 512
    run_in_group 11 -n 1 "${small[@]}" "$limits" window $((600 << 20))
    has "$err" 1 'error: memory is short: [0-9]* bytes are available'
    for lanes in direct served auto; do
        run_in_group 11 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=$lanes "$limits" window $((200 << 20))
        grep -q 'error: memory is short: [0-9]* bytes are available' "$err" || fail "no reason given"
    done
    run_in_group 11 -n 1 -x KEEL_OPLOG_SIZE=600m --timeout 40 "$limits"
    has "$err" 1 'KEEL_OPLOG_SIZE of 629145600 bytes is too large: out of memory'
    run_in_group 0 -n 2 --nodes 2 "${small[@]}" "$limits" window $((100 << 20))
    has "$out" 2 'has its window$'
}

# ---- open files -------------------------------------------------------------------------------------------------------------

# every limit up to one with which the job runs: named, by one or by all, or too low for the launcher's library
limits_on_open_files_are_named()
{
    local files needed

    for files in 10 14 18 22 26 28 30 32 33 34 36 38 40 44 48 56; do
        # shellcheck disable=SC2016
        run_any -n 2 --timeout 20 "${small[@]}" sh -c 'ulimit -n '$files'; exec "$0"' "$limits"
        if [ $status -eq 124 ] || [ $status -ge 128 ]; then
            fail "ulimit -n $files: status $status"
        fi
        [ $status -eq 0 ] || grep -qE 'the limit on open files is too low: it is [0-9]+|cannot reach the launcher' "$err" ||
            fail "ulimit -n $files: no reason given"
    done
    needed=$(sed -n 's/.*; \([0-9]*\) are open and \([0-9]*\) more are needed in a job of 2 ranks$/\1 + \2/p' "$err" | head -n 1)
    [ -n "$needed" ] || fail "a limit of $files is enough: this tests nothing"
    # what it asks for is enough, through a death too
    # shellcheck disable=SC2016
    run 0 -n 2 "${small[@]}" sh -c 'ulimit -n '$((needed + 4))'; exec "$0" "$@"' "$limits" lost 0
}

# ---- what fails at the start ------------------------------------------------------------------------------------------------

# named FILES-OR-SPACE OPTION: the job has run, or its standard error says which limit was too low
named()
{
    [ $status -eq 0 ] || grep -q "(ulimit -$2)\|error while loading shared libraries" "$err" || fail "ulimit -$2 $1: no limit is named"
    ! grep -q 'Protocol error' "$err" || fail "ulimit -$2 $1: a protocol error, and none was made"
}

# of keelrun and its nodes
limits_of_the_launcher_are_named()
{
    local limit

    for limit in 5 8 10 12 14 16 18 20 22 24 28; do
        (
            ulimit -n $limit
            exec "$keelrun" --timeout 20 -n 2 --nodes 2 true
        ) >"$out" 2>"$err" </dev/null
        status=$?
        named $limit n
        check_nothing_left '*'
    done
    for limit in 20000 25000 30000 40000 60000 100000; do
        (
            ulimit -v $limit
            exec "$keelrun" --timeout 20 -n 2 --nodes 2 true
        ) >"$out" 2>"$err" </dev/null
        status=$?
        named $limit v
        check_nothing_left '*'
    done
}

# of ranks; a library that crashes, or a rank that hears nobody, is not the start's
address_space_of_ranks_is_named()
{
    local limit

    for limit in 14000 18000 30000 34000 38000 42000; do
        # shellcheck disable=SC2016
        run_any -n 2 --timeout 10 "${small[@]}" bash -c 'ulimit -v '$limit'; exec "$0"' "$limits"
        [ $status -ge 124 ] || named $limit v
    done
}

# ---- transports -------------------------------------------------------------------------------------------------------------

# whatever does not do is named beside what there is, at once
transports_that_do_not_do_are_named()
{
    local tls

    for tls in foo self shm posix ^tcp; do
        run 25 -n 2 --nodes 2 "${small[@]}" -x KEEL_TLS_SERVED=$tls "$limits"
        grep -q " error: KEEL_TLS_SERVED=${tls}[,:] .*; on this host there are, between nodes:.* tcp.* and inside one:.* posix" "$err" ||
            fail "KEEL_TLS_SERVED=$tls: no reason given"
    done
    run 25 -n 2 --nodes 2 "${small[@]}" -x UCX_NET_DEVICES=none0 "$limits"
    grep -q ' error: KEEL_TLS_SERVED=tcp, .*UCX_NET_DEVICES=none0[,:] ' "$err" || fail "no reason given"
    run 25 -n 2 --nodes 2 "${small[@]}" -x KEEL_INTERFACE=none0 "$limits"
    grep -q ' error: KEEL_INTERFACE=none0: this host has no such network interface' "$err" || fail "KEEL_INTERFACE: no reason given"
    run 12 -n 2 "${small[@]}" -x KEEL_TRANSPORT=rdma "$limits"
    grep -q " error: invalid value for KEEL_TRANSPORT: 'rdma', expected \[auto|ucp|verbs\]" "$err" || fail "KEEL_TRANSPORT=rdma: no reason given"
    run 25 -n 2 "${small[@]}" -x KEEL_TRANSPORT=verbs -x KEEL_VERBS_DEVICE=none0 "$limits"
    grep -q ' error: KEEL_TRANSPORT=verbs[,:]' "$err" || fail "KEEL_TRANSPORT=verbs: no reason given"
    [ -e /sys/class/infiniband ] || {
        run 25 -n 2 "${small[@]}" -x KEEL_TRANSPORT=verbs "$limits"
        grep -q ' error: KEEL_TRANSPORT=verbs: ibv_get_device_list: .*; KEEL_TRANSPORT=ucp needs no RDMA device$' "$err" ||
            fail "KEEL_TRANSPORT=verbs: not said what to do"
    }
    for tls in tcp all '' tcp,foo; do
        run 0 -n 2 --nodes 2 "${small[@]}" -x KEEL_TLS_SERVED=$tls "$limits"
    done
}

# UCX says so when a context asks for a setting that none of its transports has: the names differ between versions
ucx_knows_all_settings()
{
    run 0 -n 2 --nodes 2 "${small[@]}" -x UCX_LOG_LEVEL=warn "$limits"
    ! grep -hE 'UCX +(WARN|ERROR)' "$out" "$err" || fail 'UCX warns'
}

# ---- replacements that do not come to life ------------------------------------------------------------------------------------

restarts_inside_init_end_after_two()
{
    local options=(-n 3 --nodes 3 "${small[@]}")

    run 134 "${options[@]}" "$limits" lost 9
    has "$err" 1 'rank 1 (incarnation 2) was killed by signal 6 (Aborted) inside keel_init, as the one before it'
    run 0 "${options[@]}" "$limits" lost 1
    run 0 "${options[@]}" --restarts 3 "$limits" lost 2
    run 134 "${options[@]}" --restarts 3 "$limits" lost 9
    has "$err" 1 'rank 1 (incarnation 3) was killed by signal 6 (Aborted) once too often'
}

# ---- programs whose ranks do not agree ----------------------------------------------------------------------------------------

collective_calls_that_differ_are_named()
{
    local rank usual other lane

    while read -r usual other; do
        for rank in 0 2; do
            for lane in direct served; do
                run 19 -n 3 --nodes 3 "${small[@]}" -x KEEL_LANES=$lane -x KEEL_CKPT_INTERVAL=1gsyncs \
                    "$limits" differ $rank "$usual" "$other"
                grep -q 'ranks have to make the same collective calls$' "$err" || fail "rank $rank in $other, others in $usual: no word"
            done
        done
    done <<'END'
gsync alloc
safe gsync
safe checkpoint
alloc safe
checkpoint gsync
gsync finalize
END
}

run_case
