#!/bin/bash
# What a replacement does again is compared with what others have of it: redone_test.sh DIRECTORY-OF-THE-BUILD CASE.
set -u

build=$1 name=$2
keelrun=$build/contrib/keelrun/keelrun redone=$build/tests/proc/redone
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/proc_lib.sh"
small=(-x KEEL_OPLOG_SIZE=16m -x KEEL_GETLOG_SIZE=4m --timeout 50) # a job starts faster with small logs

# job LANE ROLLBACKS ARGUMENTS...: rank 1 died once, and the result is right
job()
{
    local lane=$1 rollbacks=$2
    shift 2

    run 0 -n 3 --nodes 3 "${small[@]}" -x KEEL_CKPT_INTERVAL=2gsyncs -x "KEEL_LANES=$lane" "$redone" "$@"
    has "$out" 1 "^rank 0: $rollbacks rollbacks, 0 differences$"
}

said() # PATTERN: once, by the replacement alone
{
    has "$err" 1 'this process did otherwise at rank 0 than before its death: '
    has "$err" 1 "in phase [0-9]* this process did otherwise at rank 0 than before its death: $1: the job rolls back; is the "
    has "$out" 1 '^rank 1: 1 rollbacks, 1 differences$'
}

rank_that_does_the_same_is_brought_back_alone()
{
    job served 0 right
    has "$err" 0 'did otherwise'
    job direct 0 right waits
    has "$err" 0 'did otherwise'
}

clock_and_pid_are_rolled_back()
{
    job served 1 clock
    said '4 records now and 4 or more before, and they differ'
    job served 1 pid
    said '4 records now and 4 or more before, and they differ'
}

fewer_puts_are_rolled_back()
{
    job served 1 fewer
    said '3 records now and 4 or more before'
    job direct 1 fewer waits
    said '3 records now and 4 or more before'
}

forgotten_protection_is_reported()
{
    job served 1 forgotten
    said '4 records now and 4 or more before, and they differ'
}

program_that_says_so_is_rolled_back_without_a_word()
{
    job served 1 clock declared
    has "$err" 0 'did otherwise'
}

own_memory_polled_by_loads_is_right_without_the_promise()
{
    local lane

    for lane in served direct; do
        job $lane 1 loads declared
        has "$err" 0 'did otherwise'
    done
}

run_case
