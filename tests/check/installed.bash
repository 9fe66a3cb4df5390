# A folder that looks like /usr/local with Duplex installed, with a name that is as long. Scripts read this; it sets $installed.
# shellcheck shell=bash disable=SC2034

installed=$(mktemp -d /tmp/h.XXX)
before=$(trap -p EXIT)
# shellcheck disable=SC2064 # what is known now
trap "rm -rf '$installed'; $(sed -E "s/^trap -- '(.*)' EXIT$/\1/" <<<"$before")" EXIT
mkdir "$installed/bin" "$installed/libexec"
for program in "$BUILD"/duplex*; do
    # A link would be followed: an installed program knows its place by its path.
    [[ ! -f $program || ! -x $program ]] || ln "$program" "$installed/bin/" 2>/dev/null || cp "$program" "$installed/bin/"
done
mkdir -p "$installed/share/doc"
ln -s "$BUILD/examples" "$installed/libexec/duplex"
ln -s "$SOURCE/docs" "$installed/share/doc/duplex"
