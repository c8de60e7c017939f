#!/bin/bash
# Real jobs on emulated nodes and racks: topo_test.sh DIRECTORY-OF-THE-BUILD DATA CASE. A rack is killed by killing its
# nodes, all ranks at once.
set -u

build=$1 data=$2 name=$3
keelrun=$build/contrib/keelrun/keelrun moments=$build/tests/proc/moments stencil=$build/perf/kernels/stencil
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=8m -x KEEL_GETLOG_SIZE=4m --timeout 50) # a job starts faster with small logs
# twelve ranks on six nodes of three racks, groups of three; node 0 and node 2 are a rack
machine=(-n 12 --nodes 6 -x KEEL_GROUP_SIZE=3 "${small[@]}")
racks=(-x "KEEL_TOPO_FILE=$data/racks_of_6_nodes.topo")
# with a checkpoint taken: before its first one a job begins again, whoever dies
amid="anyone:step 100" amid_stencil="anyone:sweep 60 of"
rack_dies=(--kill-node "0@$amid" --kill-node "2@$amid" --kill-node "0@$amid_stencil" --kill-node "2@$amid_stencil")

# the rack died while the program ran: all of its four ranks
all_died()
{
    [ "$(grep -c 'keelrun: .* rank [0145] incarnation 0 died: signal 9$' "$err")" -eq 4 ]
}

# ---- a rack dies ------------------------------------------------------------------------------------------------------

rack_death_is_recovered_where_racks_are_known()
{
    local level

    for level in rack auto; do
        run 0 "${machine[@]}" "${racks[@]}" -x KEEL_TOPO_LEVEL=$level "${rack_dies[@]}" -v \
            "$stencil" -s 128x128 -n 300 --ckpt-every 20 -v --die 0@61.1:hold
        has "$out" 1 'verification PASSED'
        all_died || fail "the rack never died"
    done
}

# the same death, with groups that know nodes only, or nothing
rack_death_is_catastrophic_where_racks_are_not_known()
{
    run 3 "${machine[@]}" "${rack_dies[@]}" "$moments" plain 1000000
    has "$err" 1 'error: catastrophic failure: ranks \(0, 4 of group 0\|1, 5 of group 1\) are lost together and its parity covers 1 (KEEL_PARITIES)$'
    run 3 "${machine[@]}" "${racks[@]}" -x KEEL_TOPO_LEVEL=node "${rack_dies[@]}" "$moments" plain 1000000
    has "$err" 1 'error: catastrophic failure: ranks \(0, 4 of group 0\|1, 5 of group 1\) are lost together and its parity covers 1 (KEEL_PARITIES)$'
    run 3 "${machine[@]}" "${racks[@]}" -x KEEL_TOPO_LEVEL=none "${rack_dies[@]}" "$moments" plain 1000000
    has "$err" 1 'error: catastrophic failure: ranks \(0, 1 of group 0\|4, 5 of group 1\) are lost together and its parity covers 1 (KEEL_PARITIES)$'
}

# parity on ranks of its own: node 3 runs a rank of the program and one with parity, node 4 two of the latter
nodes_with_checksum_ranks_are_survived()
{
    local node

    for node in 3 4; do
        run 0 -n 10 --nodes 5 "${small[@]}" -x KEEL_PARITY=dedicated -x KEEL_CHECKSUM_RANKS=3 -x KEEL_TOPO_LEVEL=node \
            --kill-node "$node@$amid_stencil" -v "$stencil" -s 128x128 -n 300 --ckpt-every 20 -v --die 0@61.1:hold
        has "$out" 1 'verification PASSED'
        has "$err" 2 "keelrun: .* rank [0-9] incarnation 0 died: signal 9$"
    done
}

# with default settings, where groups of 4 would lose two ranks or more
a_node_of_a_small_job_is_survived()
{
    local ranks

    for ranks in 4 8; do
        run 0 -n $ranks --nodes 2 "${small[@]}" --kill-node "0@$amid_stencil" -v \
            "$stencil" -s 128x128 -n 300 --ckpt-every 20 -v --die 0@61.1:hold
        has "$out" 1 'verification PASSED'
        has "$err" $((ranks / 2)) "keelrun: .* rank [0-9] incarnation 0 died: signal 9$"
        has "$err" 0 'a lost node'
    done
    run 0 -n 3 --nodes 2 "${small[@]}" -x KEEL_PARITIES=2 --kill-node "0@$amid_stencil" -v \
        "$stencil" -s 128x128 -n 300 --ckpt-every 20 -v --die 0@61.1:hold
    has "$out" 1 'verification PASSED'
    has "$err" 2 "keelrun: .* rank [0-9] incarnation 0 died: signal 9$"
    has "$err" 0 'a lost node'
}

# ---- what is said -----------------------------------------------------------------------------------------------------

# once, by rank 0, and not by its replacement
what_would_cover_a_node_is_said()
{
    run 0 -n 3 --nodes 2 "${small[@]}" "$moments" plain 3
    has "$err" 1 'a lost node'
    has "$err" 1 'keel 0.0 warn: a lost node takes up to 2 ranks of a group, more than parity replaces (1), and ends the job: KEEL_PARITIES=2 covers it$'
    run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_GROUP_SIZE=4 --kill "0@$amid" "$moments" awaited 200
    has "$err" 1 'a lost node'
    has "$err" 1 'keel 0.0 warn: .* KEEL_GROUP_SIZE=3 covers it$'
    run 0 -n 4 --nodes 1 "${small[@]}" "$moments" plain 3
    [ ! -s "$err" ] || fail "not silent on one node"
}

impossible_levels_are_refused_with_the_best_possible()
{
    run 3 "${machine[@]}" "${racks[@]}" -x KEEL_GROUP_SIZE=4 -x KEEL_TOPO_LEVEL=rack "$moments" plain 3
    grep -q 'KEEL_TOPO_LEVEL=rack: with groups of 4 some rack has to hold 2 of a group, and parity covers 1; groups of 3 would do$' "$err" ||
        fail "no reason given"
    run 3 "${machine[@]}" "${racks[@]}" -x KEEL_TOPO_LEVEL=row "$moments" plain 3
    grep -q "KEEL_TOPO_LEVEL=row: there is no level 'row': known are none auto node rack$" "$err" || fail "no reason given"
}

wrong_files_are_named()
{
    printf 'levels rack\nrack r0: node[0\n' >"$scratch/open"
    printf 'SwitchName=a Nodes=node0\n' >"$scratch/part"
    run 3 -n 2 --nodes 2 "${small[@]}" -x "KEEL_TOPO_FILE=$scratch/open" "$moments" plain 3
    grep -q "error: $scratch/open:2: a bracket is not closed$" "$err" || fail "no line named"
    run 3 -n 2 --nodes 2 "${small[@]}" -x "KEEL_TOPO_SLURM=$scratch/none" "$moments" plain 3
    grep -q "error: KEEL_TOPO_SLURM: cannot read $scratch/none: No such file" "$err" || fail "no file named"
    run 0 -n 4 --nodes 4 "${small[@]}" -x "KEEL_TOPO_SLURM=$scratch/part" "$moments" plain 3
    has "$err" 1 "warn: $scratch/part: 3 of 4 hosts are not in it: they count as one element of each of its levels: node1, node2, node3$"
    printf 'levels rack row\nrack r1: node[0-1]\nrack r2: node[2-3]\nrow a: r1\nrow b: rr2\n' >"$scratch/typo"
    run 0 -n 4 --nodes 4 "${small[@]}" -x "KEEL_TOPO_FILE=$scratch/typo" "$moments" plain 3
    has "$err" 1 "warn: $scratch/typo:3: in no element of a coarser level: rack r2$"
    printf 'levels row rack\nrack r1: node[0-1]\nrack r2: node[2-3]\nrow a: r1 r2\n' >"$scratch/swapped"
    run 3 -n 2 --nodes 2 "${small[@]}" -x "KEEL_TOPO_FILE=$scratch/swapped" "$moments" plain 3
    grep -q "error: $scratch/swapped:4: r1 is a rack: it cannot be in row a$" "$err" || fail "no reason given"
}

# the same as from a list of its hosts
a_job_shows_its_own_topology()
{
    run 0 -n 12 --nodes 6 --timeout 50 "${racks[@]}" -x KEEL_GROUP_SIZE=3 "$build/src/tools/keel_info" -t
    diff -u "$data/golden/racks.text" "$out" >&3 || fail "not what keel_info tells of a list of the same hosts"
    [ ! -s "$err" ] || fail "not silent"
}

ranks_that_form_other_groups_do_not_run_together()
{
    local lane

    for lane in auto served; do
        # shellcheck disable=SC2016
        run 3 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES=$lane \
            sh -c 'KEEL_GROUP_SIZE=$((PMIX_RANK == 2 ? 2 : 4)) exec "$0" "$@"' "$moments" plain 1000000
        grep -q 'error: rank [0-3] forms other groups than this one' "$err" || fail "no reason given"
    done
}

# node 0 dies and its ranks move to node 1, where another member of their group lives
replacements_say_when_their_group_is_less_safe()
{
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_GROUP_SIZE=4 --kill-node "0@$amid" "$moments" awaited 200
    has "$err" 1 'keel 0.1 warn: this replacement runs on node node1, which now holds 2 of group 0: losing it would lose more than parity covers$'
}

run_case
