# shellcheck shell=bash
# Sourced in the guest: two devices, each on an end of a pair of Ethernet devices. What goes from one to the other crosses the pair, as
# routes by policy want it, and does not go by way of the loopback as between two addresses of a machine.

# has_address DEVICE ADDRESS: the device has its IPv4 address, in the words of its table
has_address()
{
    local tries

    for ((tries = 0; tries < 600; tries++)); do
        ! grep -qs "$2" "/sys/class/infiniband/$1/ports/1/gids/1" || return 0
        sleep 0.1
    done
    return 1
}

# random_addresses 2|0: of programs and their memory, as they are on other machines: what ranks have lies elsewhere at each
random_addresses()
{
    echo "$1" >/proc/sys/kernel/randomize_va_space
}

make_devices()
{
    local file number

    ip link set lo up && ip link add veth0 type veth peer name veth1 || return 1
    for number in 0 1; do
        ip addr add "10.0.0.$((number + 1))/24" dev "veth$number" && ip link set "veth$number" mtu 4200 up || return 1
    done
    for file in all default veth0 veth1; do
        echo 0 >"/proc/sys/net/ipv4/conf/$file/rp_filter"
        echo 1 >"/proc/sys/net/ipv4/conf/$file/accept_local"
        echo 1 >"/proc/sys/net/ipv4/conf/$file/arp_ignore"
    done
    ip rule add pref 10 iif lo from 10.0.0.1 to 10.0.0.2 lookup 101 && ip route add 10.0.0.2 dev veth0 table 101 &&
        ip rule add pref 11 iif lo from 10.0.0.2 to 10.0.0.1 lookup 102 && ip route add 10.0.0.1 dev veth1 table 102 &&
        ip rule add pref 100 lookup local && ip rule del pref 0 &&
        rdma link add rxe0 type rxe netdev veth0 && rdma link add rxe1 type rxe netdev veth1 &&
        has_address rxe0 ffff:0a00:0001 && has_address rxe1 ffff:0a00:0002
}
