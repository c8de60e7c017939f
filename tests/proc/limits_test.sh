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

run_case
