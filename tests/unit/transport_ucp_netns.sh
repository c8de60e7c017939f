#!/bin/sh
# The UCX transport in network namespaces: one with lo alone, and two that a veth pair joins. Where namespaces may not be
# made it says so and is skipped (status 77).
set -eu
program=$1

if ! command -v ip >/dev/null || ! unshare -n true 2>/dev/null; then
    echo "network namespaces cannot be made here: skipped"
    exit 77
fi

first=keel-test-$$-a second=keel-test-$$-b
clean() {
    ip netns del $first 2>/dev/null || true
    ip netns del $second 2>/dev/null || true
}
trap clean EXIT
trap 'exit 1' INT TERM

ip netns add $first
ip netns add $second
if ! ip netns exec $first true 2>/dev/null; then
    echo "nothing can be run in network namespaces here: skipped"
    exit 77
fi
ip -n $first link set lo up
echo "lo alone"
ip netns exec $first "$program"

ip -n $first link add veth0 type veth peer name veth0 netns $second
for ns in $first $second; do
    ip -n $ns link set lo up
    ip -n $ns link set veth0 up
done
ip -n $first addr add 10.77.0.1/24 dev veth0
ip -n $second addr add 10.77.0.2/24 dev veth0
echo "two namespaces"
KEELTEST_NETNS=/run/netns/$first:/run/netns/$second "$program"
