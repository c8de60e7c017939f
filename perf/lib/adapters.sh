# shellcheck shell=bash disable=SC2154
# The parts mpi and shmem of perf/numbers: one program each, on Keel and on the other libraries in turn. perf/numbers sources it.

# adapter_job CONFIG COMMAND...: what the job prints, as lines "ROUND,CONFIG,NAME-BYTES,MICROSECONDS" in file. Open MPI and MPICH
# print warnings of their own.
adapter_job() {
    local config=$1
    shift
    NUMBERS_CONFIG=$config timeout -k 5 "${job_timeout:-300}" "$@" > "$out/times" 2> "$out/stderr" || {
        cat "$out/times" "$out/stderr" >&2
        die "a job failed: $*"
    }
    if [ "$config" != other ] && [ "$config" != openmpi ] && grep -E ' (error|warn)|log .*is full' "$out/stderr" >&2; then
        die "a job complained: $*"
    fi
    sed -n 's/^\([a-z_0-9]*\): \([0-9.]*\) us a step$/\1 0 \2/; s/^\([a-z_0-9]*\) \([0-9]*\) \([0-9.]*\)$/'"$round,$config"',\1-\2,\3/p' \
        "$out/times" >> "$file"
    [ -s "$out/times" ] || die "a job printed nothing: $*"
}

# placed: writes a program that binds the ranks of any launcher to cores of their own
placed() {
    local -a allowed
    mapfile -t allowed < <(allowed_cores)
    cat > "$out/placed" << END
#!/bin/bash
cores=(${allowed[*]})
rank=\${OMPI_COMM_WORLD_RANK:-\${PMIX_RANK:-\${PMI_RANK:-0}}}
exec taskset -c "\${cores[rank % \${#cores[@]}]}" "\$@"
END
    chmod +x "$out/placed"
}

# faster CONFIG...: adds to file the time of the fastest of these in each round, as of the config "faster"
faster() {
    awk -F, -v of=" $* " 'index(of, " " $2 " ") {
            key = $1 ",faster," $3
            if (!(key in best)) order[++count] = key
            if (!(key in best) || $4 + 0 < best[key] + 0) best[key] = $4 }
        END { for (i = 1; i <= count; i++) print order[i] "," best[order[i]] }' "$file" > "$out/times"
    cat "$out/times" >> "$file"
}

# beside WHAT KEY CONFIG OTHER GOAL: a row of the ratios of their times
beside() {
    goal "$1" "$(of_rounds "$file" "$2" "$4" ratio base="$3")" "$5" 2
}

in_words() { # BYTES
    case $1 in
    1048576) echo 1m ;;
    8 | 512) echo "$1 B" ;;
    *) echo "$(($1 / 1024))k" ;;
    esac
}

# ---- MPI ----

mpi_job() { # CONFIG
    local mpi=${others##* }
    local -a keel=("$build/src/adapters/mpi/keel-mpirun" --mpi "$mpi" -n 2)
    local program=$kernels/mpi_times
    case $1 in
    n | waits) adapter_job "$1" "${keel[@]}" -x KEEL_DETERMINISTIC="$1" -x KEEL_GETLOG_SIZE=256m "$out/placed" "${program}_$mpi" "$us" ;;
    openmpi) adapter_job openmpi mpirun.openmpi --oversubscribe --bind-to none -np 2 "$out/placed" "${program}_openmpi" "$us" ;;
    mpich) adapter_job mpich mpiexec.mpich -n 2 "$out/placed" "${program}_mpich" "$us" ;;
    core)
        place 2
        job -n 2 "${on[@]}" "$perftest" -x shm -v -b "$out/batch" -P all --waits --rounds 3 -R 50 > "$out/row"
        keep
        paste -d, <(column test < "$out/row") <(column 50.0_percentile_lat < "$out/row") | sed "s/^/$round,core,/" >> "$file"
        ;;
    esac
}

mpi_rows() {
    local size config with
    for config in waits n; do
        with=$([ "$config" = n ] && echo 'without logs' || echo 'with logs')
        for size in 512 4096 32768 262144 1048576; do
            [ "$config" = n ] ||
                beside "MPI get of $(in_words $size) and flush with logs: time / keel_perftest's" get-$size waits core "<=1.2"
            beside "MPI get of $(in_words $size) and flush $with: time / the faster MPI" get-$size $config faster ""
        done
        for size in 4096 32768 262144 1048576; do
            beside "MPI accumulate of $(in_words $size) and flush $with: time / the faster MPI" accumulate-$size $config faster \
                "$([ "$config" = n ] || echo '<=2')"
        done
        while read -r key limit_waits limit_n says; do
            [ "$config" = waits ] || limit_waits=$limit_n
            beside "MPI $says $with: time / the faster MPI" "$key" $config faster "${limit_waits#-}"
        done << END
put-8 <=1.3 - put of 8 B and flush
fetch_add-8 <=1.3 - fetch_and_op and flush
lock-0 <=1.3 - exclusive lock and unlock
fence-0 - <=1.5 fence of 2 ranks
ping-8 - <=1.5 message of 8 B
barrier-0 - <=1.5 barrier of 2 ranks
allreduce-8 - <=1.5 allreduce of 8 B
END
    done
}

measure_mpi() {
    local file=$out/$label.rounds.csv round config us=20000 others='' size key limit_waits limit_n says
    for config in openmpi mpich; do
        [ ! -x "$kernels/mpi_times_$config" ] || others="$others $config"
    done
    [ -n "$others" ] || { echo "mpi: no MPI was there when $build was built" && return; }
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    [ -z "$quick" ] || us=500
    placed
    for size in 512 4096 32768 262144 1048576; do
        echo "get-$size -t get_lat -s $size -O 1 -n $(few $((400000000 / (size + 4000))))"
    done > "$out/batch"
    rm -f "$file"
    for ((round = 0; round < rounds; round++)); do
        # shellcheck disable=SC2086 # several words
        for config in $(turned "$round" n waits core $others); do
            mpi_job "$config"
        done
    done
    # shellcheck disable=SC2086 # several words
    faster $others
    mpi_rows
}

# ---- OpenSHMEM ----

shmem_job() { # CONFIG
    local -a keel=("$build/src/adapters/shmem/wrappers/bin/oshrun" -np 2)
    local -a other=(oshrun -mca btl '^openib' --oversubscribe --bind-to none -np 2 "$out/placed")
    local -a timed=("$calls" latency rate atomics) updates=(4096 2000 "$steps")
    case $1 in
    none) keel+=(-x KEEL_PROTECT=none) ;;
    y) keel+=(-x SHMEM_KEEL_DETERMINISTIC=y -x KEEL_GETLOG_SIZE=256m) ;;
    other)
        # Open MPI's ends in a compare-and-swap of 4 bytes
        adapter_job other "${other[@]}" "$out/shmem_times" "${timed[@]}" -cswap/4
        adapter_job other "${other[@]}" "$out/shmem_gups" "${updates[@]}"
        return
        ;;
    esac
    adapter_job "$1" "${keel[@]}" "$out/placed" "$kernels/shmem_times" "${timed[@]}"
    adapter_job "$1" "${keel[@]}" "$out/placed" "$kernels/shmem_gups" "${updates[@]}"
}

measure_shmem() {
    local file=$out/$label.rounds.csv round config calls steps=20 program key limit says
    calls=$(few 20000)
    [ -x "$kernels/shmem_times" ] || { echo "shmem: $build was built without OpenSHMEM" && return; }
    command -v oshcc > /dev/null || { echo "shmem: there is no other OpenSHMEM (oshcc)" && return; }
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    [ -z "$quick" ] || steps=2
    placed
    for program in shmem_times gups; do
        oshcc -O3 -ffp-contract=off -o "$out/shmem_${program#shmem_}" "$perf/kernels/shmem/$program.c" 2> "$out/stderr" ||
            die "oshcc does not compile $program: $(cat "$out/stderr")"
    done
    rm -f "$file"
    for ((round = 0; round < rounds; round++)); do
        for config in $(turned "$round" none y other); do
            shmem_job "$config"
        done
    done
    while read -r config key limit says; do
        beside "SHMEM $says $([ "$config" = y ] && echo 'with logs' || echo 'without logs'): time / Open MPI" "$key" "$config" other \
            "${limit#-}"
    done << END
y put-512 <=2 put of 512 B and quiet
y get-4096 <=2.5 get of 4k
y get-32768 <=2.5 get of 32k
y get_rate-32768 <=3 8 gets of 32k and quiet
y fetch_add-8 - fetching add
y gups-0 - random updates
none put-512 - put of 512 B and quiet
none get-4096 - get of 4k
none get-32768 - get of 32k
none get_rate-32768 - 8 gets of 32k and quiet
none fetch-8 <=1 fetch
none swap-8 <=1 swap
none cswap-8 <=1 compare-and-swap
none fetch_add-8 <=1 fetching add
none fetch_inc-8 <=1 fetching increment
none gups-0 <=1 random updates
END
    rm -f "$out"/shmem_{times,gups}
}
