#!/bin/bash
# One case of programs for MPI: mpi_test.sh DIRECTORY-OF-THE-BUILD openmpi|mpich CASE.
# shellcheck disable=SC2015,SC2034,SC2154 # the last command of such a line is to run in both cases
set -u

build=$1 mpi=$2 name=$3 here=$(dirname "$0")
# run() of proc_lib.sh uses it
# shellcheck disable=SC2034
keelrun=$build/src/adapters/mpi/keel-mpirun
programs=$build/tests/adapters/mpi
# shellcheck source=tests/proc/proc_lib.sh
. "$(dirname "$0")/../../proc/proc_lib.sh"
chapters=(mpi_windows mpi_accesses mpi_messages mpi_collectives mpi_objects mpi_types mpi_kinds mpi_derived mpi_epochs mpi_shared_memory mpi_topologies mpi_nonblocking mpi_intercomms mpi_polls mpi_freed mpi_adjacent mpi_local mpi_files mpi_turns mpi_profiled mpi_pipeline)
# many messages are longer than such a ring
small=(-x KEEL_OPLOG_SIZE=4m -x KEEL_GETLOG_SIZE=1m -x KEELMPI_ARENA=16m -x KEELMPI_RING=64k --timeout 50)

# each program says once for each rank that it is right, and nothing else: chapters_are_right LANES RING FETCH RANKS...
chapters_are_right()
{
    local lanes=$1 ring=$2 fetch=$3 ranks program

    shift 3
    for program in "${chapters[@]}"; do
        for ranks; do
            # memory hooks of UCX 1.18 redirect the dlopen() of mpi_profiled, and then search no directory of the program
            run 0 -n "$ranks" --nodes $(((ranks + 1) / 2)) "${small[@]}" -x KEEL_LANES="$lanes" -x KEELMPI_RING="$ring" -x KEELMPI_FETCH="$fetch" -x UCX_MEM_EVENTS=n \
                "$programs/${program}_$mpi"
            has "$out" "$ranks" "^$program: rank [0-9]* of $ranks: right\$"
            has "$out" "$ranks" ''
        done
    done
}
chapters_are_right_direct() { chapters_are_right direct 1m 128k 1 4; }
chapters_are_right_served() { chapters_are_right served 64k 4k 2 3; }
chapters_are_right_with_both_lanes() { chapters_are_right auto 64k 64 8; }

survives=$programs/mpi_survives_$mpi

deaths_are_rolled_back()
{
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES="$1" -x KEEL_VERBOSE=y "$survives" 40 1@8.0,2@15.1,0@23.2,3@31.3
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    has "$err" 4 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
}
deaths_are_rolled_back_direct() { deaths_are_rolled_back direct; }
deaths_are_rolled_back_served() { deaths_are_rolled_back served; }

stores_survive()
{
    run 0 -n 4 --nodes 2 "${small[@]}" -x KEEL_LANES="$1" -x KEEL_VERBOSE=y "$programs/mpi_stores_$mpi" 30 1@5.0,2@9.1,0@15.2,3@22.3
    has "$out" 1 '^mpi_stores: 4 ranks, 30 steps: right$'
    has "$err" 4 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
    [ "$1" != direct ] || return 0
    run 1 -n 2 "${small[@]}" -x KEEL_DETERMINISTIC=y "$programs/mpi_stores_$mpi" 3 -
    # the first rank may end the job before the other one has come so far
    grep -q 'error: keel_mpi_context: not in deterministic mode (KEEL_DETERMINISTIC)$' "$err" || fail 'nothing is said'
}
stores_survive_direct() { stores_survive direct; }
stores_survive_served() { stores_survive served; }

files=(-x "KEEL_FILE_DIR=$scratch/files" -x KEEL_FILE_INTERVAL=0 -x KEEL_LOG_LEVEL=info)

# goes_on RIGHT-LINE POINT PROMISE LANES PROGRAM ARGUMENTS...: all ranks are lost at that point, keelrun too; the same command goes on
goes_on()
{
    local right=$1 point=$2 job=(-n 4 --nodes 4 "${small[@]}" "${files[@]}" -x KEEL_DETERMINISTIC="$3" -x KEEL_LANES="$4")

    shift 4
    rm -rf "$scratch/files"
    lost "$point" "${job[@]}" "$@"
    LOST=${point//?/-} run 0 "${job[@]}" "$@" # of the same length: the window on the stack has the same address
    has "$out" 1 "$right"
    has "$err" 1 'the job restarts from checkpoint [1-9][0-9]* in'
}

# amid an epoch, a critical section and fences; messages are on their way at the checkpoint, handles of all kinds come back
a_lost_job_goes_on_from_files()
{
    local promise lanes point

    while read -r promise lanes point; do
        goes_on '^mpi_survives: 4 ranks, 40 steps: right$' "$point" "$promise" "$lanes" "$survives" 40 -
    done <<'END'
n direct 1@2.0,1@14.1
n served 0@3.1,0@23.2
y direct 3@2.0,3@13.0
waits direct 2@3.3,2@14.3
waits served 1@2.0,1@13.1
END
}

lost_programs_go_on_from_files()
{
    local seed promise

    for seed in 1 2 3; do
        for promise in n waits; do
            goes_on "^mpi_random: seed $seed, 4 ranks, 40 steps: right\$" "$seed@2.0,$seed@$((20 + seed)).0" $promise \
                "$([ $((seed % 2)) -eq 0 ] && echo direct || echo served)" "$programs/mpi_random_$mpi" $seed 40 -
        done
    done
}

# the record of what precedes the restart point depends on the promise
another_promise_is_refused()
{
    local promise

    lost 1@2.0,1@14.1 -n 4 --nodes 4 "${small[@]}" "${files[@]}" -x KEEL_DETERMINISTIC=waits "$survives" 40 -
    for promise in n y; do
        run 1 -n 4 --nodes 4 "${small[@]}" "${files[@]}" -x KEEL_DETERMINISTIC=$promise "$survives" 40 -
        grep -q '^mpi [0-3] error: MPI_Init_thread: the checkpoint in files is of a job with another KEEL_DETERMINISTIC$' "$err" ||
            fail "nothing is said of another promise"
    done
    run 0 -n 4 --nodes 4 "${small[@]}" "${files[@]}" -x KEEL_DETERMINISTIC=waits "$survives" 40 -
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    has "$err" 1 'the job restarts from checkpoint [1-9][0-9]* in'
}

another_layout_is_refused()
{
    local promise job

    for promise in n y; do
        job=(-n 4 --nodes 4 "${small[@]}" "${files[@]}" -x "KEEL_DETERMINISTIC=$promise")
        rm -rf "$scratch/files"
        lost 1@2.0,1@14.1 "${job[@]}" -x "LD_PRELOAD=$programs/libanother_layout.so" "$survives" 40 -
        run 1 "${job[@]}" "$survives" 40 -
        grep -q '^mpi [0-3] error: MPI_Init: the checkpoint in files is of another version of Keel$' "$err" ||
            fail "nothing is said of another layout"
    done
}

# and a job that has ended is not gone on with
deaths_after_a_restart_are_recovered()
{
    rm -rf "$scratch/files"
    lost 1@2.0,1@14.1 -n 4 --nodes 4 "${small[@]}" "${files[@]}" "$survives" 40 -
    run 0 -n 4 --nodes 4 "${small[@]}" "${files[@]}" -x KEEL_VERBOSE=y "$survives" 40 1@25.2,0@33.1
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    has "$err" 1 'the job restarts from checkpoint [1-9][0-9]* in'
    has "$err" 2 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
    run 0 -n 4 --nodes 4 "${small[@]}" "${files[@]}" "$survives" 40 -
    has "$err" 0 'the job restarts from checkpoint'
}

# handles of all kinds were freed by then, which the restored program has again; what it printed may be there twice
deaths_behind_the_last_call_are_rolled_back()
{
    local promise steps deaths

    while read -r promise steps deaths; do
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_DETERMINISTIC="$promise" -x KEEL_LOG_LEVEL=error "$survives" "$steps" "$deaths"
        grep -q "^mpi_survives: 4 ranks, $steps steps: right\$" "$out" || fail "$deaths: not right"
        has "$err" 0 'started anew'
    done <<'END'
n 40 0@40.9,3@39.1
n 42 0@41.1,2@42.9
waits 42 1@41.1,3@42.9
END
}

# the program's callbacks run in MPI_Finalize: some have done what none can take back
deaths_amid_the_last_call_restart_the_job()
{
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_DETERMINISTIC=n "$survives" 40 1@40.10
    has "$err" 1 'the job is started anew (1 of 1)$'
    grep -q 'MPI_Finalize: a rank died, and what the program has to be done at its end was begun: ' "$err" || fail "no rank says why"
    grep -q '^mpi_survives: 4 ranks, 40 steps: right$' "$out" || fail "n: not right"
    # there the replacement alone comes to its end again, as nothing was done since the checkpoint that stands in the way
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_DETERMINISTIC=waits "$survives" 40 1@40.10
    has "$err" 0 'started anew'
    grep -q '^mpi_survives: 4 ranks, 40 steps: right$' "$out" || fail "waits: not right"
}

# before the first checkpoint, and a program that has no restart point: once, by keelrun
jobs_without_a_checkpoint_are_restarted()
{
    run 0 -n 4 --nodes 4 "${small[@]}" "$survives" 40 1@0.8
    has "$err" 1 'the job is started anew (1 of 1)$'
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    run 0 -n 4 --nodes 4 "${small[@]}" "$survives" 40 2@17.2 plain
    has "$err" 1 'the job is started anew (1 of 1)$'
    has "$out" 1 '^mpi_survives: 4 ranks, 40 steps: right$'
    has "$err" 1 '^keelrun: rank [0-3] ends the job: .*MPI_.*: a rank died, and there is no .*: the job has to be started anew$'
    has "$err" 1 'a rank died' # once a job
    run 75 -n 4 --nodes 4 --job-restarts 0 "${small[@]}" "$survives" 40 2@17.2 plain
}

# Every function that mpi.h declares or the MPI exports is in one of the lists, under its profiling name, too. A function of Keel's and a refused
# one are exported, and a test calls each of Keel's.
every_function_is_listed()
{
    local lists package=$mpi missing library

    [ "$mpi" != openmpi ] || package=ompi-c
    lists=$here/../../../src/adapters/mpi/mpi_functions.h
    # shellcheck disable=SC2046 # flags are several words
    echo '#include <mpi.h>' | cc -E -P -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX $(pkg-config --cflags "$package") -xc - | tr '\n' ' ' |
        grep -oE '\bMPI_[A-Z][A-Za-z0-9_]+ *\(' | tr -d ' (' | grep -vxE 'MPI_(Aint|Comm|Count|Datatype|Errhandler|File|Fint|Group|Info|Message|Offset|Op|Request|Session|Win)' | sort -u >"$scratch/declared"
    [ "$(wc -l <"$scratch/declared")" -gt 350 ] || fail "mpi.h declares only $(wc -l <"$scratch/declared") functions"
    # constants and predefined callbacks have no lower-case letters
    library=$(ldd "$programs/mpi_windows_$mpi" | awk '$1 ~ /^libmpi(ch)?\.so/ { print $3 }')
    nm -D --defined-only "$library" | awk '$2 ~ /[TW]/ { print $3 }' | sed 's/^P//' | grep -E '^MPIX?_.*[a-z]' | sort -u >>"$scratch/declared"
    sort -u -o "$scratch/declared" "$scratch/declared"
    grep -qx 'MPIX_[A-Za-z_]*' "$scratch/declared" || fail "$library exports no extension"
    grep -oE '_\(MPIX?_[A-Za-z0-9_]+\)' "$lists" | tr -d '_()' | sort | uniq -d >"$scratch/twice"
    [ ! -s "$scratch/twice" ] || fail "listed twice: $(cat "$scratch/twice")"
    grep -oE '_\(MPIX?_[A-Za-z0-9_]+\)' "$lists" | sed 's/_(//; s/)//' | sort >"$scratch/listed"
    missing=$(comm -23 "$scratch/declared" "$scratch/listed")
    [ -z "$missing" ] || fail "in no list of mpi_functions.h: $missing"
    nm -D --defined-only "$build/src/adapters/mpi/$mpi/libkeel-mpi.so" | awk '{ print $3 }' | grep '^MPIX\?_' | sort >"$scratch/there"
    sed -n '/KEEL_MPI_COVERED/,/^$/p; /KEEL_MPI_REFUSED/,/^$/p' "$lists" | grep -oE '\bMPIX?_[A-Z][a-z][A-Za-z0-9_]+' | sort >"$scratch/covered"
    [ -z "$(comm -23 "$scratch/covered" "$scratch/there")" ] || fail "not there: $(comm -23 "$scratch/covered" "$scratch/there")"
    while read -r call; do
        grep -qE "\b$call\b" "$here"/*.[ch] || fail "no test calls $call"
    done < <(sed -n '/KEEL_MPI_COVERED/,/^$/p; /KEEL_MPI_NATIVE/,/^$/p' "$lists" | grep -oE 'MPI_[A-Z][a-z][A-Za-z0-9_]+')
}

refused_functions_are_named()
{
    local count

    run 0 -n 2 "${small[@]}" "$programs/mpi_refusals_$mpi"
    count=$(sed -n 's/^mpi_refusals: \([0-9]*\) functions$/\1/p' "$out")
    [ "${count:-0}" -gt 150 ] || fail "only ${count:-0} are refused"
    has "$out" 2 'right$'
    has "$err" $((2 * count)) "^mpi [01]: MPIX\\?_[A-Za-z_]*: not there in Keel's MPI\$"
    run 1 -n 2 "${small[@]}" "$programs/mpi_wrong_$mpi" port
    grep -q "^mpi [01] error: MPI_Open_port: not there in Keel's MPI\$" "$err" || fail "not named"
    run 1 -n 2 --nodes 2 "${small[@]}" -x KEEL_LANES=served "$programs/mpi_wrong_$mpi" shared
    grep -q '^mpi [01] error: MPI_Win_allocate_shared: ranks that do not share memory: see MPI_Comm_split_type$' "$err" || fail "not named"
    run 1 -n 2 "${small[@]}" "$programs/mpi_wrong_$mpi" native
    grep -q '^mpi [01] error: MPI: ' "$err" || fail "not named"
    run 9 -n 2 "${small[@]}" "$programs/mpi_wrong_$mpi" abort
    run 0 -n 2 "${small[@]}" "$programs/mpi_wrong_$mpi" abort 0 # so STOP ends a program of coarrays
    run 1 -n 2 "${small[@]}" "$programs/mpi_wrong_$mpi" abort 256
}

# modules mpi and mpi_f08, and mpif.h in fixed form; compiled here, as a build needs no compiler for Fortran
fortran_programs_are_right()
{
    local source program

    type "mpifort.$mpi" >/dev/null 2>&1 && type gfortran >/dev/null 2>&1 || exit 77
    for source in mpi_fortran.f90 mpi_modern.f90 mpi_fixed.f; do
        program=${source%.*}
        "mpifort.$mpi" -o "$scratch/$program" -J "$scratch" "$here/$source" || fail "$source is not compiled"
        for ranks in 1 3; do
            run 0 -n "$ranks" "${small[@]}" "$scratch/$program"
            has "$out" "$ranks" "^$program: rank [0-9]* of $ranks: right\$"
        done
    done
}

# client_survives LINES PROGRAM ARGUMENTS...: right on each lane, and right again after a death; LINES say so in each job
client_survives()
{
    local lines=$1 lanes

    shift
    for lanes in direct served; do
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES=$lanes "$@"
        has "$out" "$lines" ': right$'
    done
    run 0 -n 4 --nodes 4 "${small[@]}" -x KILLED=2@5 --kill "2@anyone:step 5" "$@"
    has "$out" "$lines" ': right$'
    has "$err" 1 'the job is started anew (1 of 1)$'
}

# coarrays of Fortran, which OpenCoarrays runs over MPI: libcoarrays-openmpi-dev, libcoarrays-mpich-dev
coarray_programs_survive()
{
    local source

    type "caf.$mpi" >/dev/null 2>&1 || { echo "skipped: no caf.$mpi (OpenCoarrays)" >&3; exit 77; }
    source=$(realpath "$here/mpi_coarrays.f90")
    (cd "$scratch" && "caf.$mpi" -o coarrays "$source") || fail "not compiled"
    client_survives 1 "$scratch/coarrays" 6
    printf '%s\n' 'program stops' 'integer :: cell[*]' 'cell = this_image()' 'sync all' 'stop' 'end program' >"$scratch/stops.f90"
    "caf.$mpi" -o "$scratch/stops" "$scratch/stops.f90" || fail "not compiled"
    run 0 -n 2 "${small[@]}" "$scratch/stops"
}

# Global Arrays over ARMCI-MPI: libglobalarrays-dev, libarmci-mpi-dev, libscalapack-openmpi-dev, libscalapack-mpich-dev
global_arrays_survive()
{
    local libraries

    libraries=$("$(type -P "mpicc.$mpi")" -print-file-name="ga/$mpi/bin/ga-config" 2>/dev/null)
    [ -x "$libraries" ] || { echo "skipped: no ga-config of $mpi (Global Arrays)" >&3; exit 77; }
    # shellcheck disable=SC2046 # options are several words
    "mpicc.$mpi" -O1 -o "$scratch/arrays" "$here/mpi_global_arrays.c" $("$libraries" --ldflags) $("$libraries" --libs) -lgfortran -lm || fail "not compiled"
    client_survives 4 -x KEELMPI_ARENA=64m "$scratch/arrays" 6
}

# killed RANK WHAT-IT-CAUSES ARGUMENTS...: the rank waits for its kill at a step, the others are anywhere then, and the job is right
killed()
{
    local rank=$1 caused=$2

    shift 2
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_VERBOSE=y -x KILLED="$rank@50" --kill "$rank@anyone:step 50" "$@"
    has "$err" 1 "$caused"
    grep -q ': right$' "$out" || fail "not right"
}

# as they are: started anew; with a restart point: back to a checkpoint, of their own or of their barriers
kernels_survive_kills()
{
    local kernel how

    while read -r kernel how; do
        # shellcheck disable=SC2086 # how is words
        {
            killed 1 'the job is started anew (1 of 1)$' "$programs/${kernel}_$mpi" $how
            killed 1 ': image of generation [1-9][0-9]* rebuilt: ' "$programs/${kernel}_survives_$mpi" $how
            has "$err" 0 'started anew'
            killed 2 ': image of generation \([2-9]\|[1-9][0-9]*[0-9]\) rebuilt: ' -x KEELMPI_BARRIER_SAVES=2 "$programs/${kernel}_barriers_$mpi" $how
            has "$err" 0 'started anew'
        }
    done <<'END'
mpi_stencil fence 100
mpi_stencil groups 100
mpi_hash 80
mpi_fft 100
END
}

# with the promise the replacement alone goes back
kernels_recover_locally()
{
    local kernel how

    while read -r kernel how; do
        # shellcheck disable=SC2086 # how is words
        killed 1 ': image of generation [1-9][0-9]* rebuilt: ' -x KEEL_DETERMINISTIC=waits "$programs/${kernel}_survives_$mpi" $how
        has "$err" 0 'started anew'
        has "$err" 0 ' decided: roll back'
        grep -q ' decided: local' "$err" || fail "nothing was decided"
    done <<'END'
mpi_stencil fence 100
mpi_stencil groups 100
mpi_fft 100
END
}

# costs LANES GROUP PROMISE COST: what it costs when three ranks die one after the other
costs()
{
    local deaths=1@4.0,2@6.1,0@8.2

    [ "$2" != crowded_saves ] || deaths=0@4.2,1@9.2,3@11.1 # those who send, before their checkpoints
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_GETLOG_SIZE=4m -x KEELMPI_ARENA=3m -x KEEL_VERBOSE=y -x KEEL_LANES="$1" ${3:+-x KEEL_DETERMINISTIC="$3"} "$programs/mpi_costs_$mpi" \
        "$2" 12 $deaths
    grep -q "^mpi_costs: $2: right\$" "$out" || fail "$*: no result"
    check_cost "$4" "$*"
}

# each line of the table in contrib/doc/mpi.md, on one lane with one promise and on the other with the other: where both MPIs are there, each
# has one of these, and the first line both. Without the promise one of them, as all are the same then.
deaths_cost_as_documented()
{
    local without promised waits group lines=0

    # shellcheck disable=SC2016 # backticks of the page
    while IFS='|' read -r without promised waits group; do
        [ "$without" = rollback ] || fail "without the promise $group costs '$without'"
        lines=$((lines + 1))
        [ "$mpi" = openmpi ] && [ -e "$programs/mpi_costs_mpich" ] && [ $lines -gt 1 ] || costs direct "$group" y "$promised"
        [ "$mpi" = mpich ] && [ -e "$programs/mpi_costs_openmpi" ] && [ $lines -gt 1 ] || costs served "$group" waits "$waits"
    done < <(sed -n 's/^| [^|]* | \([a-z]*\) | \([a-z]*\) | \([a-z]*\) | `\([a-z_]*\)` |$/\1|\2|\3|\4/p' "$here/../../../contrib/doc/mpi.md")
    [ $lines -eq 23 ] || fail "$lines lines in mpi.md"
    costs direct fences n rollback
    costs direct given n local
    has "$err" 0 'started anew'
    costs direct said '' local
    has "$err" 1 '^keelrun: .*the job is started anew with KEEL_DETERMINISTIC=y$'
    costs served said_waits '' local
    has "$err" 1 '^keelrun: .*the job is started anew with KEEL_DETERMINISTIC=waits$'
    costs direct said y local
    has "$err" 0 'started anew'
    costs direct said n rollback
    has "$err" 0 'started anew'
    grep -q '^mpi 0: MPI_Win_allocate: keel_deterministic is true, but KEEL_DETERMINISTIC is n: deaths are rollbacks$' "$err" || fail "nothing is said"
    costs direct unclear y rollback
    grep -q "^mpi 0: MPI_Win_allocate: keel_deterministic is 'no', none of true, waits and false: deaths are rollbacks\$" "$err" || fail "nothing is said"
    run 1 -n 1 "${small[@]}" -x KEEL_DETERMINISTIC=maybe "$programs/mpi_costs_$mpi" fences 1 -
    grep -q '^mpi error: MPI_Init: KEEL_DETERMINISTIC is n, y or waits$' "$err" || fail "not named"
}

# nobody looks what has come, and results are the same
chapters_are_right_with_the_promise()
{
    small+=(-x KEEL_DETERMINISTIC=waits -x KEEL_LOG_LEVEL=error)
    chapters_are_right auto 64k 4k 4
    run 0 -n 3 --nodes 3 "${small[@]}" -x KEELMPI_ARENA=4m -x KEELMPI_PREFIX=64k "$programs/mpi_crowded_$mpi" 4
    has "$out" 3 '^mpi_crowded: rank [0-2] of 3: right$'
    small+=(-x KEEL_DETERMINISTIC=y)
    chapters=(mpi_kinds)
    chapters_are_right direct 1m 128k 4
    chapters_are_right served 64k 4k 2
}

# what the arena has no room for is sent all the same
messages_need_no_room()
{
    local promise

    for promise in n waits; do
        run 0 -n 3 --nodes 3 "${small[@]}" -x KEELMPI_ARENA=3m -x KEELMPI_PREFIX=64k -x KEEL_DETERMINISTIC=$promise -x KEEL_LOG_LEVEL=error "$programs/mpi_full_$mpi" 3
        has "$out" 3 '^mpi_full: rank [0-2] of 3: right$'
        has "$out" 3 ''
    done
}

# the third death is amid a step whose checkpoint is behind what was freed
what_is_gone_stays_gone()
{
    local promise lanes

    mkdir "$scratch/files"
    for promise in n y; do
        for lanes in direct served; do
            run 0 -n 3 --nodes 3 "${small[@]}" -x KEELMPI_ARENA=16m -x KEEL_DETERMINISTIC=$promise -x KEEL_LANES=$lanes -x KEEL_LOG_LEVEL=error "$programs/mpi_gone_$mpi" 9 1@1.0,0@4.1,2@6.2 "$scratch/files"
            has "$out" 1 '^mpi_gone: 3 ranks, 9 steps: right$'
            has "$err" 0 'started anew'
        done
    done
    [ -z "$(find "$scratch/files" ! -name '*.lock' -type f)" ] || fail "a file is left" # those of locks are Open MPI's, of who was killed
}

# the word of the lock counts the dead rank among those that wait
a_waiting_writer_may_die()
{
    local promise lanes

    while read -r promise lanes; do
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_DETERMINISTIC="$promise" -x KEEL_LANES="$lanes" -x KEEL_VERBOSE=y "$programs/mpi_waiter_$mpi" 6
        has "$out" 1 '^mpi_waiter: 4 ranks, 6 steps: right$'
        grep -q ': image of generation [1-9][0-9]* rebuilt: ' "$err" || fail "$promise, $lanes: nobody died"
        has "$err" 0 'started anew'
    done <<'END'
n direct
n served
y direct
waits served
END
}

shared_file_pointers_come_back()
{
    local promise lanes

    while read -r promise lanes; do
        mkdir "$scratch/$promise-$lanes"
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_DETERMINISTIC="$promise" -x KEEL_LANES="$lanes" -x KEEL_VERBOSE=y "$programs/mpi_shared_files_$mpi" 12 1@4.0,0@7.1,3@10.2 "$scratch/$promise-$lanes"
        has "$out" 1 '^mpi_shared_files: 4 ranks, 12 steps: right$'
        has "$err" 3 ': image of generation [1-9][0-9]* rebuilt: '
        has "$err" 0 'started anew'
    done <<'END'
n direct
n served
waits served
END
}

shared_memory_and_topologies_come_back()
{
    run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES=direct -x KEEL_VERBOSE=y "$programs/mpi_shares_$mpi" 40 1@8.0,0@15.1,3@23.2,2@30.3
    has "$out" 1 '^mpi_shares: 4 ranks, 40 steps: right$'
    has "$err" 4 ': image of generation [1-9][0-9]* rebuilt: '
    has "$err" 0 'started anew'
}

profilers_see_the_job()
{
    run 0 -n 3 "${small[@]}" -x LD_PRELOAD="$programs/libmpi_profiler_$mpi.so" "$programs/mpi_profiled_$mpi"
    has "$out" 3 '^mpi_profiled: rank [0-2] of 3: right$'
    has "$out" 3 '^profiler: rank [0-2] of 3: 5 sent, 2 received, 3 collective$'
}

mpirun_finds_out_which_mpi()
{

    run 2 -n 1 /bin/true
    one_line "'/bin/true' is not linked to Open MPI or MPICH"
    run 127 -n 1 /no/such/program
    run 2 --mpi none "$programs/mpi_windows_$mpi"
    # shellcheck disable=SC2016 # the rank's shell is to expand it
    run 0 --mpi="$mpi"  -n 2 "${small[@]}" sh -c 'exec "$0"' "$programs/mpi_windows_$mpi"
    has "$out" 2 'right$'
    "$keelrun" --help | grep -q -- '--job-restarts N' || fail "--help does not name keelrun's options"
    # options without a value: those of keelrun's text that have none are the ones that keel-mpirun knows, but for
    # those that run no program
    diff <("$build/contrib/keelrun/keelrun" --help | grep -oE '^ +(-[a-z], )? *--[a-z-]+($|  )' | grep -oE -- '--[a-z-]+' | grep -vE 'help|version|clean' | sort) \
        <(grep -E '^ *--netns' "$keelrun" | grep -oE -- '--[a-z-]+' | sort) >"$out" || fail "keel-mpirun knows other options"
}

# each seed is another program, and other deaths: of rank 0 too, amid steps, and two in a row
random_programs_are_right_in_spite_of_deaths()
{
    local seed lanes end=('!' '' '')

    for seed in 1 2 3 4; do
        lanes=$([ $((seed % 2)) -eq 0 ] && echo direct || echo served)
        run 0 -n 4 --nodes 4 "${small[@]}" -x KEEL_LANES="$lanes" -x KEELMPI_RING=$((64 << seed % 3))k -x KEELMPI_FETCH=$((64 << seed % 3 * 4)) "$programs/mpi_random_$mpi" $seed 60 \
            "$((seed % 4))@$((10 + seed)).1,$(((seed + 1) % 4))@$((30 + seed)).0,$(((seed + 3) % 4))@$((31 + seed)).1${end[$((seed % 3))]}"
        has "$out" 1 "^mpi_random: seed $seed, 4 ranks, 60 steps: right\$"
        has "$err" 0 'started anew'
    done
}

# no ratio is checked: each row has as many numbers as the first line has names
times_are_compared()
{
    "$here/../../../perf/kernels/mpi/beside" -n 1 -t 200 -o mpich "$build" >"$out" 2>"$err" || fail "nothing is compared"
    has "$out" 1 '^call,bytes,ranks,keel,other,keel_us,other_us,ratio_lower,ratio_median,ratio_upper$'
    has "$out" 164 '^[a-z_]*,[0-9]*,2,\(none\|logs\),\(mpich\|better\)\(,[0-9]*\.[0-9]*\)\{5\}$'
}

unfit_checkpoints_are_refused()
{
    local word text promise

    while IFS='|' read -r word text; do
        run 1 -n 2 "${small[@]}" "$programs/mpi_unfit_$mpi" "$word"
        grep -q "^mpi [01] error: $text" "$err" || fail "$word: no line with '$text'"
    done <<'END'
request|keel_mpi_checkpoint: a request is open: complete or cancel it before a checkpoint$
freed|keel_mpi_checkpoint: a receive is open, whose request was freed and whose message was not sent$
matched|keel_mpi_checkpoint: a message was matched by MPI_Mprobe and is not received$
window|keel_mpi_checkpoint: a window that was made after the restart point is still there$
communicator|keel_mpi_checkpoint: a communicator that was made after the restart point is still there$
post|keel_mpi_checkpoint: amid an epoch of MPI_Win_post or MPI_Win_start$
attach|keel_mpi_checkpoint: memory that was attached to a window after the restart point is still there$
handle|KEEL_MPI_RESTART_POINT: a communicator stands in what is protected as 7, byte 8: handles are not restored$
attached|KEEL_MPI_RESTART_POINT: memory of the program.s own is attached to a dynamic window, and may have another address in a replacement: attach memory of MPI_Alloc_mem$
prefix|KEEL_MPI_RESTART_POINT: what was received before it is more than KEELMPI_PREFIX$
END
    for text in 32k 96k 2g none; do
        run 1 -n 2 "${small[@]}" -x KEELMPI_RING=$text "$programs/mpi_unfit_$mpi" none
        grep -q '^mpi [01] error: MPI_Init.*: KEELMPI_RING is no power of two from 64k to 1g$' "$err" || fail "a ring of $text"
    done
    run 1 -n 2 "${small[@]}" -x KEELMPI_FETCH=much "$programs/mpi_unfit_$mpi" none
    grep -q '^mpi [01] error: MPI_Init.*: KEELMPI_FETCH is no number of bytes$' "$err" || fail "a wrong KEELMPI_FETCH"
    run 1 --mpi "$mpi" -n 2 "${small[@]}" bash -c 'KEELMPI_RING=$((64 << PMIX_RANK))k exec "$@"' - "$programs/mpi_unfit_$mpi" none
    grep -q '^mpi [01] error: MPI_Init: KEELMPI_ARENA or KEELMPI_RING differs between ranks$' "$err" || fail "rings of two sizes"
    run 0 -n 2 "${small[@]}" -x KEELMPI_FETCH=0 "$programs/mpi_unfit_$mpi" none
    run 0 -n 2 "${small[@]}" -x KEELMPI_FETCH=64k "$programs/mpi_unfit_$mpi" offered
    run 0 -n 2 "${small[@]}" "$programs/mpi_unfit_$mpi" sent
    for promise in n y waits; do
        run 0 -n 2 "${small[@]}" -x KEELMPI_PREFIX=10k -x KEEL_DETERMINISTIC=$promise -x KEEL_VERBOSE=y "$programs/mpi_unfit_$mpi" polls
        grep -q ' decided: ' "$err" || fail "$promise: nobody died"
        ! grep -q 'started anew' "$err" || fail "$promise: the job was started anew"
    done
}

run_case
