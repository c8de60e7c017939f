# shellcheck shell=bash
# Sourced by contrib/check and tests/rdma: a stock Debian kernel for a guest, unpacked and never installed.

# what the guest loads; rdma_rxe needs crc32_generic and does not say so
keel_kernel_modules=(virtio_pci 9pnet_virtio 9p crc32_generic rdma_rxe veth)
# the parts of the package in which these and what they need lie
keel_kernel_parts=(crypto drivers/infiniband drivers/net/veth.ko drivers/virtio fs/9p fs/fscache fs/netfs net)
keel_kernel_lists=(modules.order modules.builtin modules.builtin.modinfo)

# keel_kernel_directory: prints where the kernel is kept: the image `linux`, and in order of loading `NN-NAME.ko`
keel_kernel_directory()
{
    echo "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/keel/guest-kernel"
}

# kernel_unpack PACKAGE FOLDER: the image and the modules of the package's file
kernel_unpack()
{
    local folder=$2 version module file count=10

    version=$(dpkg-deb -f "$1" Package) && version=${version#linux-image-} || return 1
    mkdir -p "$folder/all" "$folder/kernel" || return 1
    dpkg-deb --fsys-tarfile "$1" | tar -x -C "$folder/all" "./boot/vmlinuz-$version" \
        "${keel_kernel_parts[@]/#/./lib/modules/$version/kernel/}" "${keel_kernel_lists[@]/#/./lib/modules/$version/}" || return 1
    depmod -b "$folder/all" "$version" || return 1
    for module in "${keel_kernel_modules[@]}"; do
        modprobe -d "$folder/all" -S "$version" --show-depends "$module" >>"$folder/needed" || return 1
    done
    awk '$1 == "insmod" && !seen[$2]++ { print $2 }' "$folder/needed" >"$folder/order"
    while read -r file; do
        mv "$file" "$folder/kernel/$((count++))-${file##*/}" || return 1
    done <"$folder/order"
    [ $count -gt 10 ] && mv "$folder/all/boot/vmlinuz-$version" "$folder/kernel/linux"
}

# keel_kernel_fetch: has the kernel in its place, from Debian's archive the first time. Fails with one line.
keel_kernel_fetch()
{
    local place work package

    place=$(keel_kernel_directory)
    [ ! -e "$place/linux" ] || return 0
    package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '/Depends: linux-image-/ { print $2; exit }')
    work=$(mktemp -d) || return 1
    if [ -n "$package" ] && (cd "$work" && apt-get -qq download "$package" >/dev/null 2>&1) &&
        kernel_unpack "$work"/linux-image-*.deb "$work" && mkdir -p "${place%/*}" &&
        { mv -T "$work/kernel" "$place" 2>/dev/null || [ -e "$place/linux" ]; }; then
        rm -rf "$work"
        return 0
    fi
    rm -rf "$work"
    echo "could not fetch ${package:-a Debian kernel} for a guest" >&2
    return 1
}
