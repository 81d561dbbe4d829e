# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2154 # _debian_here is of distro.sh, which sources this
#
# Packages of any Debian release, fetched and unpacked into the cache without
# installing them. Sourced by distro.sh.
#
# CACHE/debian/RELEASE/ (of another architecture: CACHE/debian/RELEASE-ARCHITECTURE/)
#   apt.conf sources.list lists/   an apt of its own, which knows this release
#                                  only and has nothing installed
#   partial/                       downloads not yet whole; resumed by apt
#   debs/                          whole ones, checked against apt's SHA256
#   trees/NAME/ trees/NAME.stamp   unpacked; a tree without a stamp that fits
#                                  is no tree

_debian_dir() {
    local cache
    [[ $1 =~ ^[a-z][a-z0-9.-]*(:[a-z0-9-]+)?$ ]] || {
        distro_say "'$1' is not the name of a Debian release, nor RELEASE:ARCHITECTURE"
        return 1
    }
    cache=$(distro_cache) || return 1
    # A colon in the name would end a path of LD_LIBRARY_PATH.
    mkdir -p "$cache/debian/${1/:/-}"/{lists/partial,archives/partial,partial,debs,trees} || return 1
    printf '%s\n' "$cache/debian/${1/:/-}"
}

# The entry for this machine's own release among its apt sources, or else the
# first of a whole release, as 'URI|KEYRING' (the keyring may be empty). The address of a mirror is a matter
# of the machine, so it is looked up at run time and kept nowhere in the tree.
_debian_mirror() {
    local own files=() file
    own=$(distro_release) || return 1
    for file in /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -r $file ]] && files+=("$file")
    done
    ((${#files[@]})) || return 1
    awk -v own="$own" -f "$_debian_here/mirror.awk" "${files[@]}"
}

# Writes the apt configuration for a release; anew each time, since the
# machine's mirror or proxy may have changed since.
_debian_configure() {
    local release=${1%%:*} architecture=${1#"${1%%:*}"} dir=$2 mirror uri key keys=()
    mirror=$(_debian_mirror) || true
    uri=${mirror%%|*} key=${mirror#*|}
    if [[ -z $uri ]]; then
        distro_say "no source of 'main' in this machine's apt sources (/etc/apt/sources.list, sources.list.d), so no mirror to fetch '$release' from"
        return 1
    fi
    for key in "$key" /usr/share/keyrings/debian-archive-keyring.gpg; do
        [[ -r $key ]] && keys+=("$key")
    done
    printf 'deb %s%s %s main\n' "${keys[0]:+[signed-by=${keys[0]}] }" "$uri" "$release" >"$dir/sources.list.new"
    # Status=/dev/null: nothing is installed, so every package is a candidate.
    # Check-Valid-Until: a frozen mirror's Release file is past its date.
    # Sandbox root: the cache may be where the user _apt cannot go.
    cat >"$dir/apt.conf.new" <<-EOF
	Dir::Etc::sourcelist "$dir/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	Dir::Etc::preferences "/dev/null";
	Dir::State::status "/dev/null";
	Dir::State::lists "$dir/lists";
	Dir::Cache "$dir";
	Dir::Cache::archives "$dir/archives";
	Acquire::Check-Valid-Until "false";
	Acquire::Languages "none";
	Acquire::GzipIndexes "true";
	Acquire::Retries "2";
	APT::Sandbox::User "root";
	APT::Default-Release "";
	APT::Update::Post-Invoke-Success "";
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	EOF
    if [[ $architecture ]]; then
        cat >>"$dir/apt.conf.new" <<-EOF
	APT::Architecture "${architecture#:}";
	#clear APT::Architectures;
	APT::Architectures { "${architecture#:}"; };
	EOF
    fi
    if ! cmp -s "$dir/sources.list.new" "$dir/sources.list"; then
        rm -rf "$dir/lists"
        mkdir -p "$dir/lists/partial"
    fi
    mv "$dir/sources.list.new" "$dir/sources.list" && mv "$dir/apt.conf.new" "$dir/apt.conf"
}

# apt reads the file of APT_CONFIG before the machine's own configuration (for
# its proxy), so what must win goes on the command line as well: -c is read last.
_debian_apt() {
    local dir=$1 tool=$2
    shift 2
    "$tool" -c "$dir/apt.conf" "$@"
}

_debian_update() {
    local release=$1 dir=$2
    distro_say "fetching the package lists of Debian $release"
    if ! _debian_apt "$dir" apt-get -q -o APT::Update::Error-Mode=any update >"$dir/apt.log" 2>&1; then
        distro_say "cannot fetch the package lists of Debian $release: no network, or the mirror in this machine's apt sources does not have it (apt's words: $dir/apt.log)"
        return 1
    fi
}

# Prints 'URI FILE SIZE SHA256' for each package, or fails if one is unknown.
_debian_locate() {
    local dir=$1 all
    shift
    if [[ $1 == --with-dependencies ]]; then
        shift
        all=$(_debian_apt "$dir" apt-get -q -s --no-install-recommends install "$@" 2>>"$dir/apt.log") || return 1
        # shellcheck disable=SC2046 # a list of names
        set -- $(awk '$1 == "Inst" { print $2 }' <<<"$all")
    fi
    # In an empty directory: apt-get download prints nothing for a file that
    # lies in the current one.
    mkdir -p "$dir/empty" && cd "$dir/empty" || return 1
    _debian_apt "$dir" apt-get -q download --print-uris "$@" 2>>"$dir/apt.log" |
        awk '{ gsub("\047", "", $1); sub("SHA256:", "", $4); print $1, $2, $3, $4 }'
}

# Fetches packages, prints the paths of the checked files.
_debian_fetch() {
    local release=$1 dir=$2 located uri file size sum again
    shift 2
    _debian_configure "$release" "$dir" || return 1
    : >"$dir/apt.log"
    compgen -G "$dir/lists/*Packages*" >/dev/null || _debian_update "$release" "$dir" || return 1
    for again in '' again; do
        # A package that is not known, or not there any more, may be a matter of
        # old lists; so they are renewed once.
        if [[ -n $again ]]; then
            find "$dir/lists" -type f -delete
            _debian_update "$release" "$dir" || return 1
        fi
        located=$(_debian_locate "$dir" "$@") || continue
        while read -r uri file size sum; do
            if _debian_fetch_one "$dir" "$uri" "$file" "$size" "$sum"; then
                printf '%s\n' "$dir/debs/$file"
            else
                continue 2
            fi
        done <<<"$located"
        return 0
    done
    distro_say "cannot fetch '$*' of Debian $release: no such package, or no network (apt's words: $dir/apt.log)"
    return 1
}

_debian_fetch_one() {
    local dir=$1 uri=$2 file=$3 size=$4 sum=$5
    local deb=$dir/debs/$file
    if [[ -e $deb ]]; then
        _debian_sum_is "$deb" "$sum" && return 0
        distro_say "the cached $file is damaged: fetching it again"
        rm -f "$deb"
    fi
    distro_say "fetching $file ($(((size + 999999) / 1000000)) MB)"
    # apt-helper goes on with what is in partial/, checks the sum, and starts
    # over by itself if the sum is wrong. Its file is renamed only when whole.
    _debian_apt "$dir" /usr/lib/apt/apt-helper -q download-file "$uri" "$dir/partial/$file" "SHA256:$sum" \
        >>"$dir/apt.log" 2>&1 &&
        _debian_sum_is "$dir/partial/$file" "$sum" &&
        mv "$dir/partial/$file" "$deb"
}

_debian_sum_is() { [[ $(sha256sum <"$1") == "$2  -" ]]; }

# One line that changes when a file of the tree is missing, added or cut short.
_debian_tree_stamp() {
    (cd "$1" 2>/dev/null && find . -printf '%y %s %P %l\n' | LC_ALL=C awk '$1 == "d" { $2 = "" } 1' |
        LC_ALL=C sort | sha256sum)
}

# distro_unpack RELEASE[:ARCHITECTURE] [--with-dependencies] PACKAGE...: prints the
# directory that has the packages' files, all in one tree. What is there stays; remove it from the cache to have
# the release's current version.
distro_unpack() {
    local release=$1 dir name
    shift
    dir=$(_debian_dir "$release") || return 1
    name=$(_debian_tree_name "$@")
    if ! _debian_tree_whole "$dir/trees/$name"; then
        (
            if ! flock -n 9; then
                distro_say "another process is fetching from Debian $release, waiting for it"
                flock 9
            fi
            # That process may have done it.
            _debian_tree_whole "$dir/trees/$name" || _debian_unpack "$release" "$dir" "$name" "$@"
        ) 9>"$dir/lock" || return 1
    fi
    printf '%s\n' "$dir/trees/$name"
}

_debian_tree_name() {
    local IFS=+
    local name=$*
    # A long list would not fit a file name.
    if ((${#name} > 150)); then name=${name:0:80}+$(sha256sum <<<"$name" | cut -c1-16); fi
    printf '%s\n' "$name"
}

_debian_tree_whole() {
    [[ -r $1.stamp && $(_debian_tree_stamp "$1") == "$(<"$1.stamp")" ]]
}

_debian_unpack() {
    local release=$1 dir=$2 name=$3 debs deb
    local tree=$dir/trees/$name new=$dir/trees/.new
    shift 3
    if [[ -e $tree.stamp ]]; then distro_say "the unpacked $name of Debian $release is damaged: unpacking it again"; fi
    rm -rf "$tree" "$tree.stamp" "$new" || return 1
    debs=$(_debian_fetch "$release" "$dir" "$@") || return 1
    mkdir "$new" || return 1
    while read -r deb; do
        if ! dpkg-deb -x "$deb" "$new" 2>>"$dir/apt.log"; then
            distro_say "cannot unpack ${deb##*/} into the cache: $(tail -n 1 "$dir/apt.log")"
            return 1
        fi
    done <<<"$debs"
    _debian_finish_kernel "$new" || return 1
    _debian_tree_stamp "$new" >"$new.stamp" && mv "$new" "$tree" && mv "$new.stamp" "$tree.stamp"
}

# A tree with a kernel in it gets what the package's script would make, the
# list of the modules' dependencies, and the kernel at one place: since 7.x it
# lies beside its modules, before that in boot/.
_debian_finish_kernel() {
    local tree=$1 modules version kernel
    # depmod and modprobe look under lib/; newer packages have usr/lib/ only.
    [[ -e $tree/lib || ! -d $tree/usr/lib/modules ]] || ln -s usr/lib "$tree/lib"
    for modules in "$tree"/lib/modules/*/kernel; do
        [[ -d $modules ]] || continue
        version=${modules%/kernel} version=${version##*/}
        if ! depmod -b "$tree" "$version"; then
            distro_say "depmod failed over the modules of $version"
            return 1
        fi
        for kernel in "boot/vmlinuz-$version" "lib/modules/$version/vmlinuz"; do
            if [[ -e $tree/$kernel ]]; then
                ln -sf "$kernel" "$tree/vmlinuz"
                printf '%s\n' "$version" >"$tree/version"
            fi
        done
    done
}

# distro_kernel RELEASE: prints the directory of the release's kernel. It holds
#   vmlinuz   version   lib/modules/VERSION/  (with modules.dep)
distro_kernel() {
    local release=$1 dir tree packages=()
    dir=$(_debian_dir "$release") || return 1
    # Which packages make the kernel is kept: asking apt takes a second. It is
    # asked again when they are to be fetched, as there may be newer ones.
    if [[ -s $dir/kernel-packages ]]; then read -r -a packages <"$dir/kernel-packages"; fi
    if ((${#packages[@]} == 0)) || ! _debian_tree_whole "$dir/trees/$(_debian_tree_name "${packages[@]}")"; then
        _debian_kernel_packages "$release" "$dir" || return 1
        read -r -a packages <"$dir/kernel-packages"
    fi
    tree=$(distro_unpack "$release" "${packages[@]}") || return 1
    if [[ ! -r $tree/vmlinuz || ! -r $tree/version ]]; then
        distro_say "no kernel found in the packages ${packages[*]} of Debian $release"
        return 1
    fi
    printf '%s\n' "$tree"
}

# linux-image-amd64 depends on the current image; since 7.x that one is empty
# and depends on linux-binary-*, linux-modules-* and linux-base-*.
_debian_kernel_packages() {
    local release=$1 dir=$2 image='' more=''
    (
        flock 9
        _debian_configure "$release" "$dir" || exit 1
        compgen -G "$dir/lists/*Packages*" >/dev/null || _debian_update "$release" "$dir" || exit 1
        image=$(_debian_depends "$dir" linux-image-amd64 '^linux-image-[0-9]' | head -n 1) || true
        if [[ -z $image ]]; then
            distro_say "Debian $release has no linux-image-amd64 (apt's words: $dir/apt.log)"
            exit 1
        fi
        more=$(_debian_depends "$dir" "$image" '^linux-(base|binary|modules)-[0-9]' | tr '\n' ' ') || true
        printf '%s\n' "$image ${more% }" >"$dir/kernel-packages.new"
        mv "$dir/kernel-packages.new" "$dir/kernel-packages"
    ) 9>"$dir/lock"
}

_debian_depends() {
    _debian_apt "$1" apt-cache depends "$2" 2>>"$1/apt.log" |
        awk -v want="$3" '$1 ~ /Depends:$/ && $2 ~ want { print $2 }'
}
