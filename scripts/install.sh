#!/bin/sh
# Installs the executable of agentwire for this machine from the archives of a release, after a check of its checksum.
# Usage: install.sh --from URL_OR_DIRECTORY [--to DIRECTORY] [--version VERSION]
set -eu

from='' to="$HOME/.local/bin" version=0.1.0
fail() {
	echo "install.sh: $1" >&2
	exit 1
}
while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || fail "$1 needs a value"
	case "$1" in
	--from) from=$2 ;;
	--to) to=$2 ;;
	--version) version=$2 ;;
	*) fail "unknown flag $1; known are --from, --to and --version" ;;
	esac
	shift 2
done
[ -n "$from" ] || fail '--from is missing: the address or the directory with SHA256SUMS and the archives of a release'

case "$(uname -s)" in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "there is no archive for $(uname -s)" ;;
esac
case "$(uname -m)" in
x86_64 | amd64) machine=x64 ;;
aarch64 | arm64) machine=arm64 ;;
*) fail "there is no archive for $(uname -m)" ;;
esac
name="agentwire-$version-$system-$machine"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
get() {
	case "$from" in
	http://* | https://*) curl -fsSL -o "$folder/$1" "$from/$1" || fail "cannot download $from/$1" ;;
	*) cp "$from/$1" "$folder/$1" || fail "cannot read $from/$1" ;;
	esac
}
get SHA256SUMS
get "$name.tar.gz"
line=$(grep "  $name.tar.gz\$" "$folder/SHA256SUMS") || fail "SHA256SUMS does not have $name.tar.gz"
if command -v sha256sum >/dev/null; then sum='sha256sum'; else sum='shasum -a 256'; fi
(cd "$folder" && echo "$line" | $sum -c - >/dev/null 2>&1) || fail "the checksum of $name.tar.gz is wrong; nothing was installed"

tar -xzf "$folder/$name.tar.gz" -C "$folder"
mkdir -p "$to"
cp "$folder/$name/agentwire" "$to/.agentwire.new"
chmod 755 "$to/.agentwire.new"
mv -f "$to/.agentwire.new" "$to/agentwire"
echo "Installed $to/agentwire"
case ":$PATH:" in *":$to:"*) ;; *) echo "Add $to to PATH." ;; esac
