# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # image_here is of vm, which sources this
#
# Builds the initramfs of a kernel, once: it is kept in the cache under a name
# made of everything that went into it. Sourced by vm.

# Each list is loaded in its order, each module after what it depends on. The
# first is what it takes to reach the host's root, the second the rest.
image_modules_for_root=(virtio_pci virtio_console 9pnet_virtio 9p overlay)
image_modules_for_rxe=(crc32_generic crc32_pclmul crc32-cryptoapi
    rdma_rxe ib_uverbs rdma_ucm veth dummy)
# rxe asks the crypto layer for crc32 by name, so no dependency says so, and
# fails with ENOENT where there is none. Which module has it, and whether it is
# one, depends on the kernel.
image_modules_if_there=' crc32_generic crc32_pclmul crc32-cryptoapi '

image_say() { printf 'vm: %s\n' "$*" >&2; }

# image_path KERNEL_DIR CACHE: prints the directory with what QEMU boots:
# kernel and initramfs.
image_path() {
    local kernel=$1 cache=$2 version key image
    version=$(<"$kernel/version")
    key=$({
        cat "$image_here/init" "$image_here/image.sh" "$kernel/lib/modules/$version/modules.dep"
        sha256sum "$(image_busybox)"
    } | sha256sum | cut -c1-16) || return 1
    image=$cache/vm/$version-$key
    mkdir -p "$cache/vm" || return 1
    if ! image_whole "$image"; then
        (
            flock 9
            image_whole "$image" || image_build "$kernel" "$version" "$image"
        ) 9>"$cache/vm/lock" || return 1
    fi
    touch "$image"
    printf '%s\n' "$image"
}

# The sums are read at each run: a damaged kernel would look like a failed test.
image_whole() { [[ -r $1/sums ]] && (cd "$1" && sha256sum --status -c sums 2>/dev/null); }

image_busybox() {
    # The static one: there is no other program in the initramfs.
    command -v busybox || {
        image_say "no busybox found: run ./run setup"
        return 1
    }
}

# The modules that NAME needs and NAME itself, as paths, in order of loading.
image_module_files() {
    local kernel=$1 version=$2 name=$3
    # 'builtin NAME' lines are dropped: nothing to load.
    modprobe -d "$kernel" -S "$version" --show-depends "$name" 2>/dev/null |
        awk '$1 == "insmod" { print $2 }'
    return "${PIPESTATUS[0]}"
}

image_build() {
    local kernel=$1 version=$2 image=$3
    rm -rf "$image" "$image.new" || return 1
    # Other checkouts may have another init; what nobody used for a week goes.
    find "${image%/*}" -mindepth 1 -maxdepth 1 -type d -mtime +7 -exec rm -rf {} + || return 1
    mkdir "$image.new" "$image.new/root" || return 1
    image_initramfs "$kernel" "$version" "$image.new/root" "$image.new/initramfs" || return 1
    rm -rf "$image.new/root"
    image_kernel "$kernel/vmlinuz" "$image.new/kernel" || return 1
    (cd "$image.new" && sha256sum kernel initramfs >sums) && mv "$image.new" "$image"
}

# The kernel unpacked, since that takes the emulator three seconds at each boot.
# QEMU starts an ELF kernel by its PVH entry; one that has none, or is packed in
# a way not known here, is left as it is.
image_kernel() {
    local from=$1 to=$2 sectors offset magic unpack
    # Documentation/arch/x86/boot.rst: setup_sects, payload_offset.
    sectors=$(od -An -tu1 -j 497 -N 1 "$from") || return 1
    offset=$(od -An -tu4 -j 584 -N 4 "$from") || return 1
    offset=$(((sectors + 1) * 512 + offset))
    magic=$(od -An -tx1 -j "$offset" -N 4 "$from" | tr -d ' ')
    case $magic in
    fd377a58) unpack=(xz -dcq --single-stream) ;;
    28b52ffd) unpack=(zstd -dcq) ;;
    *) unpack=(false) ;;
    esac
    # What follows the packed kernel makes the unpackers fail after it.
    tail -c "+$((offset + 1))" "$from" | "${unpack[@]}" >"$to" 2>/dev/null || true
    if [[ $(head -c 4 "$to" | tail -c 3) != ELF ]] || ! image_has_pvh "$to"; then
        cp "$from" "$to"
    fi
}

# The ELF note of the owner Xen and the type 18, XEN_ELFNOTE_PHYS32_ENTRY.
image_has_pvh() { LC_ALL=C grep -qaP '\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0' "$1"; }

image_initramfs() {
    local kernel=$1 version=$2 work=$3 to=$4
    mkdir "$work"/{bin,modules,proc,sys,dev} && cp "$(image_busybox)" "$work/bin/busybox" &&
        cp "$image_here/init" "$work/init" && chmod 755 "$work/init" &&
        ln -s busybox "$work/bin/sh" || return 1
    image_add_modules for-root "${image_modules_for_root[@]}" || return 1
    image_add_modules for-rxe "${image_modules_for_rxe[@]}" || return 1
    # Not packed: the emulator would unpack it slowly.
    (cd "$work" && find . | LC_ALL=C sort | cpio -o -H newc --quiet) >"$to"
}

image_add_modules() {
    local list=$work/modules/$1 name files file plain
    shift
    : >"$list"
    for name; do
        if ! files=$(image_module_files "$kernel" "$version" "$name"); then
            [[ $image_modules_if_there == *" $name "* ]] && continue
            image_say "the kernel $version has no module $name"
            return 1
        fi
        for file in $files; do
            plain=${file##*/} plain=${plain%.xz} plain=${plain%.zst}
            [[ -e $work/modules/$plain ]] && continue
            # Unpacked here, not in the guest, which is emulated.
            case $file in
            *.xz) xz -dc "$file" ;;
            *.zst) zstd -qdc "$file" ;;
            *) cat "$file" ;;
            esac >"$work/modules/$plain" || return 1
            printf '%s\n' "$plain" >>"$list"
        done
    done
}
