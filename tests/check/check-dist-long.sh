#!/usr/bin/env bash
# The packages: made from the tarball, without fault in the eyes of lintian, installed, used, removed.
# That happens on a copy of this system that is thrown away: an overlay in a namespace of its own.
set -euo pipefail
for tool in unshare dpkg-buildpackage lintian gcc pkg-config; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
[[ $(id -u) == 0 ]] || { echo "only root can install packages"; exit 77; }
[[ -e $SOURCE/.git ]] || { echo "the tarball is made of what git knows"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/system"
inside() {
    # shellcheck disable=SC2016 # the inner shell's
    unshare -m bash -c 'set -e; mount -t tmpfs tmpfs "$1"; mkdir "$1"/{upper,work,root}
        mount -t overlay overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" "$1/root"
        mount -t proc proc "$1/root/proc"; mount --bind /dev "$1/root/dev"
        exec chroot "$1/root" bash -c "$2" inside "${@:3}"' overlay "$work/system" "$@"
}
inside true 2>/dev/null || { echo "there are no overlays here"; exit 77; }

(cd "$SOURCE" && ./dev dist)
dist=$SOURCE/build/dist
for file in "$dist"/{duplex-*.tar.xz,duplex_*.deb,libduplex0_*.deb,libduplex-dev_*.deb,duplex-doc_*.deb,duplex-dbgsym_*.deb,libduplex0-dbgsym_*.deb}; do
    [[ -s $file ]] || { echo "there is no $file"; exit 1; }
done

# shellcheck disable=SC2016 # the inner shell's
inside '
set -euo pipefail
cd /
dist=$1 source=$2
debs=("$dist"/{duplex,duplex-doc,libduplex0,libduplex-dev}_*.deb)
for deb in "$dist"/libyyjson*.deb; do [[ ! -e $deb ]] || debs+=("$deb"); done
rm -f /etc/dpkg/dpkg.cfg.d/* # small systems leave manuals out
dpkg --install "${debs[@]}" >/tmp/installed.log || { cat /tmp/installed.log; exit 1; }
[[ $(command -v duplex) == /usr/bin/duplex ]]
duplex demo >/tmp/scenes
[[ $(grep -c "^  traffic  " /tmp/scenes) == 5 ]]
duplex call echo text=hello -- /usr/libexec/duplex/echo line
for program in /usr/bin/duplex-*; do "$program" --help >/dev/null; done
gcc -Wall -Werror "$source/tests/install/consumer.c" -o /tmp/consumer $(pkg-config --cflags --libs duplex)
/tmp/consumer
for system in hermes mcp reginald finecode autohand; do
    gcc -Wall -Werror "$source/tests/install/$system.c" -o /tmp/consumer $(pkg-config --cflags --libs duplex-$system)
    said=$(cd /tmp && ./consumer)
    echo "$said"
    [[ $said == *": "?* ]]
done
# Where this machine has more than it has to, pkg-config finds that, too: so what it needs comes with the package.
for module in $(sed -nE "s/^Requires(.private)?: *([^ ]+).*/\2/p" /usr/lib/*/pkgconfig/duplex*.pc | grep -v "^duplex" | sort -u); do
    file=$(find /usr/lib /usr/share -path "*/pkgconfig/$module.pc")
    package=$(dpkg -S "$file" | cut -d: -f 1)
    [[ " $(dpkg-query -W -f "\${Depends}" libduplex-dev) " == *[\ ,]"$package"[\ ,]* ]] ||
        { echo "libduplex-dev needs $package for $module"; exit 1; }
done
export HOME=/tmp/home NO_COLOR=1 LC_ALL=C.UTF-8
for page in "$source"/docs/tutorial/*.md; do
    python3 "$source/tests/check/tutorial.py" --installed "$(mktemp -d)" "$page"
done
for page in "1 duplex-call" "3 dx_link_call" "5 duplex-trace" "7 duplex-mcp"; do
    [[ $(man -w $page) == /usr/share/man/* ]] || { echo "no page $page"; exit 1; }
done
[[ -s /usr/share/bash-completion/completions/duplex ]]
# The documents refer to each other.
cd /usr/share/doc/duplex
links=$(grep -ohE "\]\([^)#]+" README.md SECURITY.md index.md | cut -c 3- | grep -v "^https*:" | sort -u)
(($(wc -l <<<"$links") > 20))
for link in $links; do [[ -e $link ]] || { echo "README.md leads nowhere: $link"; exit 1; }; done
cd /
dpkg --purge duplex duplex-doc libduplex-dev libduplex0 >/dev/null
left=$(find /usr -name "*duplex*" -newer /tmp/installed.log | head -n 5)
[[ -z $left && ! -e /usr/bin/duplex && ! -e /usr/include/duplex ]] || { echo "left behind: $left"; exit 1; }
' "$dist" "$SOURCE"
