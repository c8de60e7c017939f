#!/bin/bash
# keel_info -t against golden files, and what it refuses: keel_info_topology.sh PROGRAM DATA. With KEELTEST_GOLDEN
# set it writes the golden files in place of comparing.
set -u
info=${1:?usage: keel_info_topology.sh PROGRAM DATA}
cd "${2:?}" || exit 1
for name in ${!KEEL_*}; do
    unset "$name"
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$work/output errors=$work/errors
bad=0

# golden NAME HOSTS VARIABLE...: in all three formats
golden() {
    local name=$1 hosts=$2 format
    shift 2
    for format in text json svg; do
        env "$@" "$info" -t -H "$hosts" -F $format > "$output" 2> "$errors" || { echo "$name: status $?: $(cat "$errors")"; bad=1; }
        [ -z "${KEELTEST_GOLDEN:-}" ] || cp "$output" "golden/$name.$format"
        diff -u "golden/$name.$format" "$output" || { echo "$name.$format differs"; bad=1; }
        [ ! -s "$errors" ] || { echo "$name: not expected: $(cat "$errors")"; bad=1; }
    done
}

# refused TEXT ARGUMENTS...: with a reason
refused() {
    local text=$1
    shift
    if "$@" > "$output" 2> "$errors"; then
        echo "$*: accepted"
        bad=1
    fi
    grep -qF -- "$text" "$errors" || { echo "$*: '$text' is missing in: $(cat "$errors")"; bad=1; }
}

golden racks six_nodes.hosts KEEL_TOPO_FILE=racks_of_6_nodes.topo KEEL_GROUP_SIZE=3
golden nodes six_nodes.hosts KEEL_TOPO_FILE=racks_of_6_nodes.topo KEEL_GROUP_SIZE=3 KEEL_TOPO_LEVEL=node
golden order six_nodes.hosts KEEL_TOPO_LEVEL=none
golden switches uneven.hosts KEEL_TOPO_SLURM=switches.conf
for form in yaml shown; do # topology.yaml, and what scontrol show topology prints
    golden switches uneven.hosts KEEL_TOPO_SLURM=switches.$form
    golden switches uneven.hosts KEEL_TOPO_FILE=switches.$form
done
golden rooms uneven.hosts KEEL_TOPO_FILE=rooms.topo KEEL_TOPO_SLURM=switches.conf KEEL_GROUP_SIZE=3
golden two_packages three_nodes.hosts KEEL_TOPO_MACHINE=two_packages.xml KEEL_GROUP_SIZE=6
golden one_package three_nodes.hosts KEEL_TOPO_MACHINE=one_package.xml KEEL_GROUP_SIZE=3
golden synthetic three_nodes.hosts "KEEL_TOPO_MACHINE=pack:2 core:2 pu:2" KEEL_GROUP_SIZE=3
golden alone one_node.hosts
golden spares six_nodes.hosts KEEL_TOPO_FILE=racks_of_6_nodes.topo KEEL_GROUP_SIZE=3 KEEL_SPARES=3
golden dedicated five_nodes.hosts KEEL_PARITY=dedicated KEEL_CHECKSUM_RANKS=3 KEEL_TOPO_LEVEL=node
golden one_spare six_nodes.hosts KEEL_GROUP_SIZE=6 KEEL_SPARES=1

# lost NAME LIST VARIABLE...: what is said after the text of the job
lost() {
    local name=$1 list=$2
    shift 2
    env KEEL_GROUP_SIZE=3 "$@" "$info" -t -H six_nodes.hosts -L "$list" > "$output" 2> "$errors" || { echo "$name: status $?: $(cat "$errors")"; bad=1; }
    sed -n '/^# lost with/,$p' "$output" > "$work/lost"
    [ -z "${KEELTEST_GOLDEN:-}" ] || cp "$work/lost" "golden/$name.text"
    diff -u "golden/$name.text" "$work/lost" || { echo "$name differs"; bad=1; }
}

lost lost_rack r1 KEEL_TOPO_FILE=racks_of_6_nodes.topo
lost lost_too_much 'node[0-1],node5' KEEL_TOPO_FILE=racks_of_6_nodes.topo
lost lost_all r0,r1,r2 KEEL_TOPO_FILE=racks_of_6_nodes.topo
lost lost_in_order node0 KEEL_TOPO_LEVEL=none
lost lost_dedicated node5 KEEL_PARITY=dedicated KEEL_CHECKSUM_RANKS=2
lost lost_of_none node0 KEEL_GROUP_SIZE=0

refused "no rank runs on 'node9'" "$info" -t -H six_nodes.hosts -L node9
refused 'a bracket is not closed' "$info" -t -H six_nodes.hosts -L 'node[1-'
refused '-L is printed as text, not as svg' "$info" -t -H six_nodes.hosts -F svg -L node1
refused 'Usage' "$info" -L node1
refused 'cannot read none: No such file' "$info" -t -H none
refused "-F needs text, json or svg, not 'png'" "$info" -t -F png
refused 'Usage' "$info" -H six_nodes.hosts
for line in 'n[1-2' 'n1*0' 'n1*x' 'n1*-1' 'n[0-999999999]' 'n1*99999999'; do
    refused '/dev/stdin:1: ' "$info" -t -H /dev/stdin <<< "$line"
done
refused 'KEEL_SPARES of 12 leaves no rank of 12' env KEEL_SPARES=12 "$info" -t -H six_nodes.hosts
refused 'names no hosts' "$info" -t -H /dev/null
refused 'racks_of_6_nodes.topo:2: expected KEY=VALUE' env KEEL_TOPO_SLURM=racks_of_6_nodes.topo "$info" -t -H six_nodes.hosts
refused "KEEL_TOPO_MACHINE: 'uneven.hosts' is neither" env KEEL_TOPO_MACHINE=uneven.hosts "$info" -t -H six_nodes.hosts
# a file is looked at here: what is missing in a job is told, too
KEEL_TOPO_FILE=racks_of_6_nodes.topo "$info" -t -H /dev/stdin <<< 'node[0-2,4]' > /dev/null 2> "$errors"
grep -q 'info: racks_of_6_nodes.topo: without a host of this job: rack r2$' "$errors" || { echo "no empty rack named: $(cat "$errors")"; bad=1; }
# the hierarchy is shown all the same, with why there are no groups
refused 'KEEL_TOPO_LEVEL=rack: with groups of 6 some rack has to hold 2 of a group' \
    env KEEL_TOPO_FILE=racks_of_6_nodes.topo KEEL_TOPO_LEVEL=rack KEEL_GROUP_SIZE=6 "$info" -t -H six_nodes.hosts
grep -q '^rack r0$' "$output" || { echo "no hierarchy shown"; bad=1; }

# names are UTF-8, and what is not is marked
printf 'kn\303\266ten[1-2]\nn\377<x>\n' > "$work/names.hosts"
"$info" -t -H "$work/names.hosts" -F json > "$output" 2>&1 || { echo "names: $(cat "$output")"; bad=1; }
grep -qF $'"kn\303\266ten1"' "$output" && grep -qF $'"n\357\277\275<x>"' "$output" || { echo "names in JSON: $(cat "$output")"; bad=1; }
"$info" -t -H "$work/names.hosts" -F svg > "$output" 2>&1
grep -qF $'node kn\303\266ten1<' "$output" && grep -qF $'n\357\277\275&#60;x&#62;' "$output" || { echo "names in SVG: $(cat "$output")"; bad=1; }
# a job of any size is a picture that can be shown
echo 'n[00001-20000]*2' > "$work/large.hosts"
"$info" -t -H "$work/large.hosts" -F svg > "$output" 2>&1
read -r width height < <(sed -n '1s/.* width="\([0-9]*\)" height="\([0-9]*\)".*/\1 \2/p' "$output")
[ "${width:-9999}" -le 4001 ] && [ "${height:-9999}" -le 4001 ] || { echo "a picture of $width x $height"; bad=1; }
exit $bad
