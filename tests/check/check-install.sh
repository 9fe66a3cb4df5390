#!/usr/bin/env bash
# Installs what was built into a folder, moves the folder, and then builds and runs one consumer in
# every way a user may.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$BUILD" --prefix "$work/first" >"$work/install.log"
prefix=$work/prefix
mv "$work/first" "$prefix"

# Debugging information stays in the build folder.
for file in "$prefix"/bin/* "$prefix"/lib/libduplex*.so "$prefix"/lib/libduplex*.a "$prefix"/libexec/duplex/*; do
    if readelf -SW "$file" 2>/dev/null | grep -q '\.debug_info'; then
        echo "${file#"$prefix"/} is not stripped"
        exit 1
    fi
done
size=$(du -sm --apparent-size "$prefix" | cut -f 1)
echo "installed: $size MB"
((size <= 16)) || { du -am "$prefix" | sort -rn | head -n 20; exit 1; }
# The README has the size on disk, where small files take more.
figure=$(sed -nE 's/.*The installation takes ([0-9]+) MB.*/\1/p' "$SOURCE/README.md")
((figure >= size && figure <= size + 5)) || { echo "README.md says that the installation takes $figure MB"; exit 1; }

# The licence and all pages of docs/, whose links lead to what is installed.
docs=$prefix/share/doc/duplex
cmp "$SOURCE/LICENSE" "$docs/LICENSE"
for page in "$SOURCE"/{README,CHANGELOG,SECURITY,CONTRIBUTING}.md; do [[ -s $docs/${page##*/} ]]; done
for page in $(cd "$SOURCE/docs" && find . -name '*.md' ! -path ./README.md -o -name '*.svg' -o -name '*.png') index.md; do
    [[ -s $docs/$page ]] || { echo "share/doc/duplex/$page is not installed"; exit 1; }
done
links=$(grep -roE --include='*.md' '\]\([^)#[:space:]]+' "$docs" | grep -v '](https\?:' | sort -u)
(($(wc -l <<<"$links") > 100))
while IFS= read -r link; do
    page=${link%%:*} target=${link##*](}
    [[ -e ${page%/*}/$target ]] || { echo "share/doc/duplex: ${page##*/} links to $target, which is not installed"; exit 1; }
done <<<"$links"

consumer=$SOURCE/tests/install/consumer.c
cd "$work"
unset LD_LIBRARY_PATH
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
warnings=(-Wall -Wextra -Werror)
read -ra cflags < <(pkg-config --cflags duplex)
read -ra libs < <(pkg-config --libs duplex)
read -ra others < <(pkg-config --libs yyjson libpcre2-8)
# The folder is none that the system's loader knows.
rpath="-Wl,-rpath,$prefix/lib"

# No build folder, no old place of the prefix: the installed files must stand by themselves
# (in archives, only their debugging information names places).
if grep -rl --exclude='*.a' -e "$BUILD" -e "$work/first" "$prefix"; then
    echo "these files name the place where they were built"
    exit 1
fi
for file in "$prefix"/lib/libduplex*.so "$prefix"/bin/* "$prefix"/libexec/duplex/*; do
    if readelf -d "$file" | grep -E '(RPATH|RUNPATH).*\[[^$]'; then
        echo "$file looks for libraries in a fixed place"
        exit 1
    fi
done

run() {
    echo "--- $1"
    shift
    "$@"
}

gcc "${warnings[@]}" "${cflags[@]}" "$consumer" -o pkg-config "${libs[@]}" "$rpath"
run "pkg-config" ./pkg-config
readelf -d pkg-config | grep -q 'NEEDED.*libduplex\.so\.0'

gcc "${warnings[@]}" "${cflags[@]}" "$consumer" -o archive "$prefix/lib/libduplex.a" "${others[@]}" "$rpath"
run "libduplex.a" ./archive
if readelf -d archive | grep 'NEEDED.*libduplex'; then exit 1; fi

g++ -std=c++11 -x c++ "${warnings[@]}" "${cflags[@]}" "$consumer" -o cxx -x none "${libs[@]}" "$rpath"
run "C++" ./cxx

cmake -G Ninja -S "$SOURCE/tests/install" -B cmake -DCMAKE_PREFIX_PATH="$prefix" >cmake.log || { cat cmake.log; exit 1; }
cmake --build cmake -- --quiet
run "CMake, shared" cmake/shared
run "CMake, static" cmake/static
# Each system: a consumer in every way, which says what came of it, and which needs no other system.
declare -A says=([hermes]='Doe^JOHN' [mcp]=42 [reginald]=42 [finecode]=42 [autohand]=42)
for system in "${!says[@]}"; do
    read -ra libs < <(pkg-config --libs duplex-"$system")
    gcc "${warnings[@]}" "${cflags[@]}" "${consumer%/*}/$system.c" -o "$system" "${libs[@]}" "$rpath"
    for program in "./$system" "cmake/${system}_shared" "cmake/${system}_static"; do
        said=$(run "$program" "$program")
        echo "$said"
        [[ $said == *"duplex-$system"*": ${says[$system]}" ]]
        needed=$(readelf -d "$program" | sed -nE 's/.*NEEDED.*libduplex-([a-z]+)\.so\.0.*/\1/p')
        [[ $program == *_static ]] || needed=${needed/#$system/}
        [[ -z $needed ]] || { echo "$program needs $needed"; exit 1; }
    done
    readelf -d "$system" | grep -q "NEEDED.*libduplex-$system\.so\.0"
    for file in bin/duplex-"$system" lib/libduplex-"$system".{so,a} lib/pkgconfig/duplex-"$system".pc \
        share/man/man1/duplex-"$system".1 share/man/man7/duplex-"$system".7; do
        [[ -s $prefix/$file ]] || { echo "$file is not installed"; exit 1; }
    done
    for file in "$SOURCE/systems/$system"/include/duplex/*.h; do
        cmp "$file" "$prefix/include/duplex/${file##*/}"
    done
    for file in bash-completion/completions/duplex zsh/site-functions/_duplex fish/vendor_completions.d/duplex.fish; do
        grep -qw "$system" "$prefix/share/$file" || { echo "share/$file does not complete $system"; exit 1; }
    done
done
# The archives, by the same pkg-config files: the system's libraries stay shared ones, so what those
# need is not asked for. First where there is nothing but archives, then beside the shared libraries.
cp -a "$prefix" archives
rm archives/lib/libduplex*.so*
says[consumer]=$'\n'
for system in "${!says[@]}"; do
    name=duplex-$system
    [[ $system != consumer ]] || name=duplex
    read -ra cflags < <(pkg-config --static --cflags "$name")
    read -ra alone < <(PKG_CONFIG_PATH=$work/archives/lib/pkgconfig pkg-config --static --libs "$name")
    read -ra beside < <(pkg-config --static --libs "$name" | sed -E 's/-l(duplex[a-z-]*)/-l:lib\1.a/g')
    gcc "${warnings[@]}" "${cflags[@]}" "${consumer%/*}/$system.c" -o "$system-alone" "${alone[@]}" "$rpath"
    gcc "${warnings[@]}" "${cflags[@]}" "${consumer%/*}/$system.c" -o "$system-beside" "${beside[@]}" "$rpath"
    for program in "./$system-alone" "./$system-beside"; do
        said=$(run "$program, an archive" "$program")$'\n'
        [[ $said == *"${says[$system]}"* ]] || { echo "$program said: $said"; exit 1; }
        if readelf -d "$program" | grep 'NEEDED.*libduplex'; then exit 1; fi
    done
done
# Whoever does not ask for a system needs nothing of it.
if readelf -d pkg-config cmake/shared | grep -E 'NEEDED.*(yaml|curl|hermes|mcp|reginald|finecode|autohand)'; then exit 1; fi

run "the command" "$prefix/bin/duplex" demo >scenes
cat scenes
# All that the scenes of the systems need is there.
[[ $(grep -c '^  traffic  ' scenes) == 5 ]]

# A page for every verb and protocol, one for the formats, and completions, each where its program
# looks for it.
verbs=$("$prefix/bin/duplex" --help | sed -n '/^Commands:/,/^$/ s/^  \([a-z][a-z-]*\) .*/\1/p')
pages=(man1/duplex.1 man5/duplex-trace.5)
for verb in $verbs; do pages+=("man1/duplex-$verb.1"); done
for page in "$SOURCE"/docs/protocols/*.md; do pages+=("man7/duplex-$(basename "$page" .md).7"); done
((${#pages[@]} > 10))
for file in "${pages[@]/#/man/}" bash-completion/completions/duplex zsh/site-functions/_duplex \
    fish/vendor_completions.d/duplex.fish; do
    [[ -s $prefix/share/$file ]] || { echo "share/$file is not installed"; exit 1; }
done
if command -v man >/dev/null; then
    run "man" man -M "$prefix/share/man" -w duplex-call | grep -q "$prefix/share/man/man1/duplex-call.1"
fi
