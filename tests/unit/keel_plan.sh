#!/bin/bash
# keel_plan as a user meets it: outputs against the golden files, every wrong or missing input a line and a status.
# Arguments: the program, the folder of golden files. With GOLDEN=write the files are written instead.
set -u
export LC_ALL=C
plan=${1:?usage: keel_plan.sh PROGRAM GOLDEN_FOLDER}
golden=${2:?usage: keel_plan.sh PROGRAM GOLDEN_FOLDER}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

complain() {
    echo "$*"
    bad=1
}

# same FILE ARGUMENTS...: prints what the golden file has, and no error
same() {
    local file=$1
    shift
    "$plan" "$@" > "$work/out" 2> "$work/err" || complain "keel_plan $*: status $?"
    [ ! -s "$work/err" ] || complain "keel_plan $*: $(cat "$work/err")"
    if [ "${GOLDEN:-}" = write ]; then
        cp "$work/out" "$golden/$file"
    else
        diff "$golden/$file" "$work/out" || complain "keel_plan $*: not as in $file (<)"
    fi
}

# refused TEXT ARGUMENTS...: fails, with one line that has the text, and prints nothing else
refused() {
    local text=$1
    shift
    "$plan" "$@" > "$work/out" 2> "$work/err"
    rc=$?
    [ $rc != 0 ] || complain "keel_plan $*: taken"
    grep -qF -- "$text" "$work/err" || complain "keel_plan $*: '$text' is missing in: $(cat "$work/err")"
    [ "$(wc -l < "$work/err")" = 1 ] || complain "keel_plan $*: more than a line: $(cat "$work/err")"
    [ ! -s "$work/out" ] || complain "keel_plan $*: prints in spite of the error"
}

# wrong TEXT ARGUMENTS...: refused, and the options are to blame
wrong() {
    refused "$@"
    [ $rc = 2 ] || complain "keel_plan ${*:2}: status $rc, not 2"
}

cat > "$work/small.machine" << 'END'
machine small
describe three racks of four nodes
window  5m
level node 12 mtbf 1y
level rack 3 table 1e-4 1e-6
END
advise=(--advise --ranks 4000 --memory 4g --network 8GiB/s --memory-bandwidth 50GiB/s --ranks-per-node 3)

same help.txt --help
same help.txt -h
same table.txt --machine tsubame2
same table.csv --machine tsubame2 --csv
same one.txt --machine tsubame2 --ranks 4000 --level switches --parity 5%
same row.json --machine tsubame2 --ranks 4000 --parity 5% --json
same simulated.txt --machine tsubame2 --ranks 4224 --group-size 22 --simulate 100000 --seed 3
same aligned.csv --machine tsubame2 --ranks 4224 --group-size 22 --parities 2 --simulate 100000 --placement aligned --csv
same small.txt --machine "$work/small.machine" --ranks 24 --parities 2
# 0.43 and 0.017 catastrophes a day: only the former is no probability
for mtbf in 2000s 10000s; do
    printf 'machine two\nwindow 10s\nlevel node 2 mtbf %s\n' $mtbf > "$work/two.machine"
    "$plan" --machine "$work/two.machine" --ranks 2 --group-size 2 --level node > "$work/out" 2>&1 || complain "two nodes: status $?"
    grep -c 'the probability of one or more is less, 1 - exp(-value)$' "$work/out" >> "$work/many"
done
[ "$(tr '\n' ' ' < "$work/many")" = '1 0 ' ] || complain "of values that are no probabilities is said: $(cat "$work/many")"
same replicas.txt --replicas 4 --ranks 33554432
same replicas_of_few.txt --replicas 4 --ranks 16
same replicas_of_ten.txt --replicas 3 --ranks 10
same replicas_undivided.txt --replicas 4 --ranks 1000003
same replicas_nodes.txt --replicas 3 --ranks 48 --ranks-per-node 4 --simulate 1000
same replicas_nodes.csv --replicas 3 --ranks 48 --ranks-per-node 4 --simulate 1000 --csv
same replicas_nodes.json --replicas 4 --ranks 50 --ranks-per-node 4 --failures 6 --simulate 1000 --json
same replicas.csv --replicas 2 --ranks 1024 --simulate 1000 --csv
same replicas.json --replicas 4 --ranks 4096 --failures 64 --simulate 1000 --json
same advice.txt "${advise[@]}" --mtbf 12h
same advice_machine.txt "${advise[@]}" --mtbf 60d --machine tsubame2 --run 30d --node-memory 96g
same advice.csv "${advise[@]}" --machine tsubame2 --parities 2 --csv
same advice.json "${advise[@]}" --mtbf 30d --group-size 8 --json
same advice_files.txt "${advise[@]}" --mtbf 12h --group-size 4 --parities 1 --file-rate 100GB/s --file-latency 2s
same advice_files.json "${advise[@]}" --mtbf 12h --group-size 4 --parities 1 --file-rate 100GB/s --file-latency 2s --json
same advice_files.csv "${advise[@]}" --mtbf 12h --group-size 4 --parities 1 --file-rate 100GB/s --file-latency 2s --csv

# the facts of the paper, from the table for programs: nodes against switches at 5 %, none against every level
awk -F, 'NR > 1 && $5 != "" { p[$1, $2] = $5; if ($1 != "none") gain[$1 " " $2] = p["none", $2] / $5 }
    END {
        ratio = p["node", "0.05"] / p["switch", "0.05"]
        if (ratio < 3.4 || ratio > 4.5) { print "switches are " ratio " times safer than nodes at 5 %"; exit 1 }
        for (level in gain)
            if (gain[level] < 10 || gain[level] > 1000) { print level ": " gain[level]; exit 1 }
    }' "$golden/table.csv" || bad=1

# where the job runs, by its own files
cat > "$work/it's.topo" << 'END'
levels rack
rack r1: n[1-8]
rack r2: n[9-16]
rack r3: n[17-24]
rack r4: n[25-32]
END
printf 'n[1-31]*4\nn32*2\n' > "$work/job.hosts"
place=(--advise --hosts "$work/job.hosts" --memory 4g --network 8GiB/s --memory-bandwidth 50GiB/s)
(cd "$work" && "$plan" "${place[@]}" --topology "it's.topo" --mtbf 3d) > "$work/out" 2> "$work/err" || complain "place: $(cat "$work/err")"
[ "${GOLDEN:-}" != write ] || cp "$work/out" "$golden/advice_place.txt"
diff "$golden/advice_place.txt" "$work/out" || complain "not as in advice_place.txt (<)"
(eval "$(grep '^export ' "$work/out")" && [ "$KEEL_TOPO_FILE" = "it's.topo" ]) || complain "the path is no shell's"
refused "--hosts says how many ranks there are" "${place[@]}" --mtbf 3d --ranks 5
wrong "--topology needs --hosts" "${advise[@]}" --mtbf 3d --topology "$work/it's.topo"
refused "level 'psu' of tsubame2 is not in the job's topology" "${place[@]}" --topology "$work/it's.topo" --machine tsubame2
refused "cannot read /nowhere/hosts" --advise --hosts /nowhere/hosts --memory 4g --network 8GiB/s --memory-bandwidth 50GiB/s --mtbf 3d
printf 'machine m\nlevel node 100 mtbf 5y\nlevel rack 3 mtbf 20y\n' > "$work/few.machine"
refused "the job has more elements of level 'rack' than m" "${place[@]}" --topology "$work/it's.topo" --machine "$work/few.machine"
# half of the racks are not the job's
printf 'machine m\nlevel node 64 mtbf 5y\nlevel rack 8 mtbf 20y\n' > "$work/more.machine"
"$plan" "${place[@]}" --topology "$work/it's.topo" --machine "$work/more.machine" > "$work/out" 2> "$work/err" || complain "place: $(cat "$work/err")"
grep -q 'MTBF of the job 55.3 d' "$work/out" || complain "not the job's own MTBF: $(head -1 "$work/out")"

# settings that a shell can read
(eval "$("$plan" "${advise[@]}" --mtbf 12h | grep '^export ')" && [ "$KEEL_GROUP_SIZE" -gt "$KEEL_PARITIES" ] &&
    [ "$KEEL_MTBF" = 43200s ]) || complain "the settings are no shell"

(eval "$("$plan" "${advise[@]}" --mtbf 12h --file-rate 100GB/s | grep '^export ')" && [ "$KEEL_CKPT_INTERVAL" = daly ] &&
    [[ $KEEL_FILE_INTERVAL =~ ^[1-9][0-9]*checkpoints$ ]] && [[ $KEEL_FILE_MTBF =~ ^[1-9][0-9.e+]*s$ ]]) || complain "no interval of files"
"$plan" "${advise[@]}" --mtbf 12h | grep -q FILE && complain "files are advised without a rate"
# a failure beyond parity every hour or so, and nothing else: the interval of checkpoints is not Daly's
printf 'machine m\nwindow 10s\nlevel node 2 mtbf 1y\nlevel room 1 mtbf 1h\n' > "$work/room.machine"
"$plan" --advise --ranks 2 --memory 4g --network 8GiB/s --memory-bandwidth 50GiB/s --machine "$work/room.machine" --file-rate 100MB/s \
    > "$work/out" 2> "$work/err" && complain "a room that fails every hour is no risk"
grep -q '^export KEEL_CKPT_INTERVAL=[1-9][0-9.]*s$' "$work/out" || complain "no interval of its own: $(grep CKPT "$work/out")"
grep -q '^export KEEL_FILE_INTERVAL=1checkpoints$' "$work/out" || complain "$(grep FILE "$work/out")"

wrong "--machine is missing"
wrong "unknown option '--nothing'" --nothing
wrong "unexpected argument 'tsubame2'" tsubame2
wrong "needs a value" --machine
refused "no machine 'tsubame9': neither a file nor installed in ../share/keel/machines beside the program, nor in" --machine tsubame9
refused "expected a time with a unit such as 600s, 12h or 30d, from 1ms to 1e10s" "${advise[@]}" --mtbf 1us
refused "or 100Gbit/s, from 1 to 1024t bytes" --advise --ranks 40 --memory 4g --mtbf 12h --network 1b/s
refused "cannot read /nowhere/file" --machine /nowhere/file
[ $rc = 1 ] || complain "a file that is not there: status $rc, not 1"
refused "cannot read $work" --machine "$work"
refused "no level 'floor', only none node psu switch rack" --machine tsubame2 --level floor
wrong "invalid value for --parity" --machine tsubame2 --parity 5,x
wrong "invalid value for --parity" --machine tsubame2 --parity 0%
wrong "invalid value for --ranks" --machine tsubame2 --ranks -4
wrong "invalid value for --ranks" --machine tsubame2 --ranks 1e3
wrong "invalid value for --group-size" --machine tsubame2 --group-size 1
refused "larger than its --parities" --machine tsubame2 --group-size 3 --parities 3
wrong "exclude each other" --machine tsubame2 --group-size 3 --parity 5%
wrong "invalid value for --simulate" --machine tsubame2 --ranks 4000 --simulate 0
wrong "--simulate needs --ranks" --machine tsubame2 --simulate 1000
wrong "invalid value for --placement" --machine tsubame2 --placement random
refused "a multiple of 1408" --machine tsubame2 --ranks 4000 --group-size 22 --simulate 10 --placement aligned
refused "divides the 44 elements" --machine tsubame2 --ranks 4224 --group-size 21 --level rack --simulate 10 --placement aligned
refused "do not fit: level 'rack' has 44 elements" --machine tsubame2 --level rack --parity 1%
refused "more than the 10 ranks" --machine tsubame2 --ranks 10 --parity 5%
refused "do not fit on the 1408 nodes" --machine tsubame2 --ranks 4000 --ranks-per-node 2 --parity 5% --simulate 10
refused "17 replicas do not divide 100" --replicas 17 --ranks 100
refused "4 replicas do not divide 3" --replicas 4 --ranks 3
refused "of 12 nodes 13 cannot fail" --replicas 3 --ranks 48 --ranks-per-node 4 --simulate 10 --failures 13
wrong "--ranks-per-node with --replicas needs --simulate" --replicas 3 --ranks 48 --ranks-per-node 4
wrong "--replicas needs --ranks" --replicas 3
refused "cannot fail" --replicas 2 --ranks 4 --failures 5
wrong "--picture does not go with --replicas" --replicas 2 --ranks 4 --picture "$work/a.svg"
wrong "--advise needs --mtbf" --advise
wrong "--advise needs --ranks" --advise --mtbf 12h
wrong "invalid value for --mtbf" --advise --mtbf 12parsec
wrong "invalid value for --memory" --advise --mtbf 12h --memory lots
for rate in 8gbit 8g 100 12g/s; do
    refused "invalid value for --network" --advise --mtbf 12h --network $rate
done
wrong "invalid value for --memory" --advise --mtbf 12h --memory 4
wrong "invalid value for --mtbf" --advise --mtbf 12
refused "4000 ranks at 1 a node do not fit on the 1408 nodes" --advise --machine tsubame2 --ranks 4000 --memory 4g --network 8GiB/s --memory-bandwidth 50GiB/s
refused "nodes of their own" --advise --mtbf 12h --ranks 8 --ranks-per-node 8 --memory 4g --network 8GiB/s --memory-bandwidth 50GiB/s
refused "KEEL_PARITIES is at most 8" "${advise[@]}" --mtbf 12h --parities 9
wrong "exclude each other" "${advise[@]}" --mtbf 12h --replicas 2
printf 'machine a\nlevel node four fit 1 1\n' > "$work/bad.machine"
refused "$work/bad.machine:2: 'four' is no number of elements" --machine "$work/bad.machine"
head -c 2000000 /dev/zero > "$work/zero"
refused "longer than 1 MiB" --machine "$work/zero"
refused "cannot write $work/none/a.svg" --machine tsubame2 --picture "$work/none/a.svg"

# what has nothing to say to the question
wrong "--level does not go with --advise" "${advise[@]}" --mtbf 12h --level node
wrong "--machine does not go with --replicas" --replicas 2 --ranks 4 --machine tsubame2
wrong "--memory needs --advise" --machine tsubame2 --memory 4g
wrong "--file-rate needs --advise" --machine tsubame2 --file-rate 1GB/s
wrong "--file-latency needs --file-rate" "${advise[@]}" --mtbf 12h --file-latency 1s
wrong "invalid value for --file-rate" "${advise[@]}" --mtbf 12h --file-rate 1g
wrong "--run needs --advise" --machine tsubame2 --run 3d
wrong "--failures needs --replicas" --machine tsubame2 --failures 3
wrong "need --simulate" --machine tsubame2 --seed 3
wrong "need --simulate" --machine tsubame2 --ranks 4000 --placement keel
wrong "--ranks-per-node needs --ranks" --machine tsubame2 --ranks-per-node 3
wrong "--csv and --json exclude each other" --machine tsubame2 --csv --json
refused "groups of 9 cannot be formed of 8 ranks" --advise --mtbf 12h --ranks 8 --group-size 9 --memory 4g --network 8GiB/s --memory-bandwidth 50GiB/s

# failed TEXT ARGUMENTS...: the table all the same, and a reason and a status
failed() {
    local text=$1
    shift
    "$plan" "$@" > "$work/out" 2> "$work/err" && complain "keel_plan $*: status 0"
    grep -qF -- "$text" "$work/err" || complain "keel_plan $*: '$text' is missing in: $(cat "$work/err")"
    grep -q KEEL_GROUP_SIZE "$work/out" || complain "keel_plan $*: no advice"
}
failed "no choice leaves time to compute: an MTBF of 1 s is too short" "${advise[@]}" --mtbf 1s
failed "no choice fits into the node's memory" "${advise[@]}" --mtbf 12h --node-memory 20g

# 1e-15 is in the table, and reached
"$plan" "${advise[@]}" --mtbf 12h --target 1e-15 > "$work/out" 2> "$work/err" || complain "1e-15: $(cat "$work/err")"

# a level that is not there by itself is one to be made
"$plan" "${advise[@]}" --mtbf 12h --parities 3 --machine tsubame2 > "$work/out" 2> "$work/err"
grep -q '^# KEEL_TOPO_FILE, with a level named rack,' "$work/out" || complain "no word on the level rack: $(tail -7 "$work/out")"

# more than 3 parities are considered when 3 do not reach the target
"$plan" "${advise[@]}" --mtbf 12h --target 1e-24 > "$work/out" 2> "$work/err" || complain "1e-24: $(cat "$work/err")"
grep -q '^export KEEL_PARITIES=4$' "$work/out" || complain "1e-24 by $(grep PARITIES= "$work/out")"
grep -q '^  5 ' "$work/out" && complain "1e-24: 5 parities were considered, too"
"$plan" "${advise[@]}" --mtbf 12h --parities 8 > "$work/out" 2> "$work/err" || complain "8 parities: $(cat "$work/err")"
grep -q '^export KEEL_PARITIES=8$' "$work/out" || complain "not 8 parities: $(grep PARITIES= "$work/out")"

# a target out of reach: the table, and a status
"$plan" "${advise[@]}" --mtbf 12h --target 1e-99 > "$work/out" 2> "$work/err" && complain "1e-99 is reached"
grep -q "no choice reaches a risk of 1e-99" "$work/err" || complain "no word on the target: $(cat "$work/err")"
grep -q KEEL_GROUP_SIZE "$work/out" || complain "no advice without reaching the target"

# a full disk is noticed
"$plan" --machine tsubame2 > /dev/full 2> "$work/err" && complain "writing to a full disk went well"

if command -v gnuplot > /dev/null; then
    "$plan" --machine tsubame2 --ranks 4224 --simulate 10000 --picture "$work/it's.svg" > "$work/out" 2> "$work/err" ||
        complain "no picture: $(cat "$work/err")"
    for text in '<svg' none node psu switch rack tsubame2; do
        grep -q "$text" "$work/it's.svg" || complain "no '$text' in the picture"
    done
fi
program=$(command -v "$plan")
PATH=/nowhere "$program" --machine tsubame2 --picture "$work/b.svg" > "$work/out" 2> "$work/err" &&
    complain "a picture without gnuplot"
grep -q gnuplot "$work/err" || complain "no word on gnuplot: $(cat "$work/err")"
exit $bad
