#!/bin/bash
# One case of jobs that do what no log has, with deaths in the midst: unlogged_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun programs=$build/tests/proc
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=8m -x KEEL_GETLOG_SIZE=4m --timeout 100) # a job starts faster with small logs

# roll_back PROGRAM STEPS DEATHS PATTERN LANES...: without and with deaths, each of which is a rollback; PATTERN is said of both, @ stands
# for the number of rollbacks
roll_back()
{
    local program=$1 steps=$2 deaths=$3 pattern=$4 count lane declared

    shift 4
    count=$(tr , '\n' <<<"$deaths" | wc -l)
    for lane in "$@"; do
        if is_due; then
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/$program" "$steps" -
            has "$out" 1 "${pattern/@/0}"
        fi
        for declared in '' declared; do
            is_due || continue
            # shellcheck disable=SC2086
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/$program" "$steps" "$deaths" $declared
            has "$out" 1 "${pattern/@/$count}"
        done
    done
}

bad_arguments_are_refused()
{
    local lane

    for lane in direct served; do
        run 0 -n 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/bad_unlogged"
        has "$out" 2 '^bad_unlogged: [0-9]* calls refused, 0 wrong$'
    done
}

stores_by_address_roll_back()
{
    roll_back pointers 40 1@7.0,2@13.1,0@22.2,3@33.0 '^pointers: 4 ranks, 4 mapped, 40 steps, @ rollbacks: right$' direct
    roll_back pointers 20 1@7.0,2@13.1 '^pointers: 4 ranks, 2 mapped, 20 steps, @ rollbacks: right$' auto
    roll_back pointers 20 1@7.0,2@13.1 '^pointers: 4 ranks, 1 mapped, 20 steps, @ rollbacks: right$' served
}

accumulates_roll_back()
{
    roll_back accumulates 40 1@7.0,2@13.1,0@22.2,3@33.0 '^accumulates: 4 ranks, 40 steps, @ rollbacks: right$' direct served auto
}

# the ranks that die are not the last, which tells; two may die at once
threads_inside_at_once_roll_back()
{
    local lane

    for lane in direct served auto; do
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/many_threads" 12 -
        has "$out" 1 '^many_threads: 4 ranks, 12 steps, 0 rollbacks: right$'
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/many_threads" 12 1@2.0,2@6.1,0@9.2
        has "$out" 1 '^many_threads: 4 ranks, 12 steps, 3 rollbacks: right$'
    done
}

# rank 3 lives; it may be that a death writes off a rollback that another one asked for
memory_that_was_given_is_a_window()
{
    local lane kind

    for lane in direct served auto; do
        for kind in pages odd stack globals mixed; do
            is_due || continue
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/given" 20 - $kind full
            has "$out" 1 '^given: 4 ranks, 20 steps, 0 rollbacks: right$'
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/given" 20 1@2.1,2@9.0,0@14.2 $kind full
            has "$out" 1 '^given: 4 ranks, 20 steps, [0-3] rollbacks: right$'
        done
    done
    for lane in direct auto; do
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/given" 20 1@2.1,2@9.0,0@14.2 odd plain
        has "$out" 1 '^given: 4 ranks, 20 steps, 3 rollbacks: right$'
    done
}

pages_that_were_given_recover_locally()
{
    local lane kind

    for lane in direct served auto; do
        for kind in pages placed; do
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/given" 20 1@2.1,2@9.0,0@14.2 $kind plain
            has "$out" 1 '^given: 4 ranks, 20 steps, 0 rollbacks: right$'
        done
    done
    run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES=served -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/given" 20 1@2.1,2@9.0,0@14.2 odd plain
    has "$out" 1 '^given: 4 ranks, 20 steps, 0 rollbacks: right$'
}

# images while memory is attached (3) and while it is not (6); a rank dies before and after it attaches, and detaches, and one that puts there
attached_memory_recovers_locally()
{
    local lane deaths how

    for lane in direct served auto; do
        run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/attached" 20 - 3 plain
        has "$out" 1 '^attached: 4 ranks, 20 steps, 0 rollbacks: right$'
        for deaths in 1@7.0,2@8.2,0@10.0 0@7.1,1@10.1,2@16.3 2@1.1,1@4.0,0@11.2 1@0.9,0@7.1,2@11.2; do
            for how in '3 plain' '6 plain' '3 waits' '6 waits'; do
                is_due || continue
                # shellcheck disable=SC2086
                run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/attached" 20 "$deaths" $how
                has "$out" 1 '^attached: 4 ranks, 20 steps, 0 rollbacks: right$'
            done
        done
    done
}

# across an attach (6), a detach (3), and to the start
attached_memory_rolls_back()
{
    local lane deaths every

    for lane in direct served auto; do
        for deaths in 1@8.2,2@10.0,0@16.2 0@1.2,2@7.1,1@11.0 2@5.2,0@11.2,1@14.3; do
            for every in 3 6; do
                is_due || continue
                run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" -x KEEL_CKPT_INTERVAL=1gsyncs "$programs/attached" 20 "$deaths" $every roll
                has "$out" 1 '^attached: 4 ranks, 20 steps, 3 rollbacks: right$'
            done
        done
    done
}

# rank 3 lives: the rollbacks that it has seen are all
signals_are_logged_as_puts()
{
    local lane how

    for lane in direct served auto; do
        for how in set add list fetch; do # words that are added to, of one class, and whose values are fetched by others that do not die then
            is_due || continue
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/signals" 40 1@7.0,2@13.1,0@22.2,1@31.1 $how
            has "$out" 1 '^signals: 4 ranks, 40 steps, 0 rollbacks: right$'
        done
    done
}

# rank 3 lives; two that are neighbours die in one step, and a getter after what it got from has died
blocks_are_got_from_the_logs()
{
    local lane waits

    for lane in direct served auto; do
        for waits in '' waits; do
            # shellcheck disable=SC2086
            run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/got_blocks" 30 1@4.2,2@9.0,0@15.1,2@21.2 $waits
            has "$out" 1 '^got_blocks: 4 ranks, 30 steps, 0 rollbacks: right$'
        done
    done
}

locks_of_windows_roll_back()
{
    roll_back window_locks 30 1@7.0,2@13.1,0@22.2,3@25.0 '^window_locks: 4 ranks, 30 steps, @ rollbacks: right$' direct served auto
}

# more ranks than cores, and a number that is no power of two
groups_recover_locally()
{
    local lane

    for lane in direct served auto; do
        run 0 -n 7 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/groups" 30 -
        has "$out" 1 '^groups: 7 ranks, 30 steps, 0 rollbacks, 0 deaths: right$'
        run 0 -n 7 --nodes 2 "${small[@]}" -x KEEL_LANES="$lane" "$programs/groups" 30 1@7.0,2@13.1,0@22.2,5@26.1
        has "$out" 1 '^groups: 7 ranks, 30 steps, 0 rollbacks, 4 deaths: right$'
    done
}

"$name"
