# shellcheck shell=bash disable=SC2154
# Sourced by cases.sh in the guest: what puts, gets, gsyncs, checkpoints and a recovery cost over verbs, counted: posts and completions of all
# processes, bytes and packets on the wire in both directions; beside a program of verbs alone (raw_verbs.c) that moves the same.
# Times are printed only.

# wire: packets and bytes that both devices have sent, and packets of the first one
wire()
{
    awk '{ count[FNR == 1 ? ++file : file] = $1 } END { print count[1] + count[2], count[3] + count[4], count[1] }' \
        /sys/class/net/veth{0,1}/statistics/tx_packets /sys/class/net/veth{0,1}/statistics/tx_bytes
}

# on_the_wire COMMAND...: it, with `moved` set to what wire() counted meanwhile
on_the_wire()
{
    local before status

    before=$(wire)
    "$@"
    status=$?
    moved=$(awk -v before="$before" -v after="$(wire)" 'BEGIN { split(before, a); split(after, b); print b[1] - a[1], b[2] - a[2], b[3] - a[3] }')
    return $status
}

# keel_counts ARGUMENTS...: of a job of two ranks, one a node: posts, completions, packets, bytes, packets of rank 0's node, posts and
# completions of rank 0's own requests, seconds that were counted, bytes of the window
keel_counts()
{
    on_the_wire job 0 '^rank 0: all right$' -n 2 "${verbs[@]}" -x KEEL_LOG_LEVEL=info -x KEEL_GETLOG_SIZE=16m -x KEEL_OPLOG_SIZE=64m \
        "${on[@]}" ./one_sided -n 0 "$@" || return 1
    awk -v moved="$moved" '
        / info: [^ ]+: .* with requests [0-9]+ posts, / {
            for (i = 2; i <= NF; i++) {
                posts += ($i == "posts,") ? $(i - 1) : 0
                completions += ($i ~ /^completions;?$/) ? $(i - 1) : 0
                own_posts = ($1 " " $2 == "keel 0.0" && $i == "posts," && $(i - 2) == "requests") ? $(i - 1) : own_posts
                own = ($1 " " $2 == "keel 0.0" && $i == "completions;") ? $(i - 1) : own
            }
        }
        /^rank 0: counted for/ { seconds = $5; window = $11 }
        END { print posts, completions, moved, own_posts + 0, own + 0, seconds, window }' out
}

# raw_counts WHAT ROUNDS BYTES: the same of raw_verbs
raw_counts()
{
    on_the_wire ./raw_verbs rxe0 rxe1 "$@" >out 2>&1 || return 1
    sed -nE "s/^raw_verbs: ([0-9]+) posts, ([0-9]+) completions, ([0-9.]+) s$/\\1 \\2 $moved 0 0 \\3 0/p" out
}

# line WHAT ROUNDS BASE KEEL RAW LIMITS: a line of the table, for one round each; limits of posts and completions of who puts, and of packets of
# its node
line()
{
    awk -v what="$1" -v rounds="$2" -v base="$3" -v keel="$4" -v raw="$5" -v limits="$6" 'BEGIN {
        split(base, a); split(keel, b); split(raw, c); split(limits, l)
        for (i = 1; i <= 4; i++) { d[i] = (b[i] - a[i]) / rounds; e[i] = c[i] / rounds }
        printf "rdma: %s,%.1f,%.1f,%.1f,%.0f,%.1f,%.1f,%.1f,%.0f,%.0f,%.0f\n", what, d[1], d[2], d[3], d[4], e[1], e[2], e[3], e[4],
            b[8] * 1e6 / rounds, c[8] * 1e6 / rounds
        for (i = 5; i <= 7; i++) { d[i] = (b[i] - a[i]) / rounds }
        if (limits != "") { printf "rdma: of these %.1f posts, %.1f completions and %.1f packets of who issues\n", d[6], d[7], d[5] }
        exit limits != "" && !(d[6] < l[1] + 0.5 && d[7] < l[2] + 0.5 && d[5] < l[3] + 0.5)
    }'
}

# row WHAT ROUNDS LIMITS BASE RAW-WHAT RAW-BYTES ARGUMENTS...: Keel, then verbs alone
row()
{
    local what=$1 rounds=$2 limits=$3 base=$4 raw_what=$5 raw_bytes=$6 keel raw
    shift 6

    keel=$(keel_counts "$@") && raw=$(raw_counts "$raw_what" "$rounds" "$raw_bytes") && line "$what" "$rounds" "$base" "$keel" "$raw" "$limits"
}

# a job without what is counted is taken off; so many packets of 64 puts are 1.05 each. The records of so many gets fit in the room that was
# granted: from its end until the answer to the next request gets are messages, as many as the target's service thread takes time for
counted()
{
    local short long window images dead raw

    short=$(keel_counts) && long=$(keel_counts --bytes 4096) || return 1
    window=${long##* }
    echo "rdma: what,posts,completions,packets,bytes,raw posts,raw completions,raw packets,raw bytes,us,raw us"
    row "64 puts of 8 B and a flush" 64 '4 2 67.2' "$short" puts 8 --rounds 64 &&
        row "64 gets of 8 B and a flush" 24 '12 12 83' "$short" gets 8 --rounds 24 --gets &&
        row "64 puts of 4 KiB and a flush" 16 '' "$long" puts 4096 --bytes 4096 --rounds 16 &&
        row "64 gets of 4 KiB and a flush" 16 '' "$long" gets 4096 --bytes 4096 --rounds 16 --gets &&
        row "a gsync of two ranks" 64 '' "$short" barriers 64 --gsyncs 64 &&
        row "a checkpoint of $((window >> 10)) KiB a rank" 8 '' "$long" images "$window" --bytes 4096 --ckpts 8 || return 1
    # what the dead one had posted is not known: its posts and completions are those of its second life
    images=$(keel_counts --bytes 4096 -n 3 --ckpt-every 1) && dead=$(keel_counts --bytes 4096 -n 3 --ckpt-every 1 --die 1@2.0) &&
        raw=$(raw_counts images 1 "$window") && line "a recovery of $((window >> 10)) KiB" 1 "$images" "$dead" "$raw" ''
}
