# What the scripts of this folder share; sourced by each of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
packages=target/packages
mkdir -p "$packages"

commit=$(git rev-parse --short=10 HEAD)
# The files in an archive have the time of the commit.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

# needs TOOL...: ends the script where one is missing.
needs() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null && continue
        echo "$0: \`$tool\` is missing; packaging/install-tools installs what the scripts need" >&2
        exit 1
    done
}

# licences TARGET FILE: the licence texts of everything that the program for TARGET has in it.
licences() {
    cargo about generate --locked --fail --target "$1" --config packaging/licences/about.toml \
        --output-file "$2" packaging/licences/about.hbs
}

# documents FOLDER: what is there to read, in the places that its links lead to, and sample lists.
documents() {
    mkdir -p "$1/benches" "$1/packaging"
    cp README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE "$1"
    cp -r docs sample-data "$1"
    cp benches/README.md "$1/benches"
    cp -r packaging/README.md packaging/Containerfile packaging/systemd packaging/prometheus "$1/packaging"
}

# unix_archive TARGET: the program for TARGET as a .tar.gz, with its manual pages, completions,
# documents and licences. Its folder stays beside it.
unix_archive() {
    local folder=$packages/leadload-$version-$1
    local program=target/$1/dist/leadload
    "$program" --version | grep -F "leadload $version ($commit, $1)"
    rm -rf "$folder" "$folder.tar.gz"
    mkdir -p "$folder/completions"
    cp "$program" "$folder"
    documents "$folder"
    "$program" man --folder "$folder/man/man1"
    "$program" completions bash >"$folder/completions/leadload.bash"
    "$program" completions fish >"$folder/completions/leadload.fish"
    "$program" completions zsh >"$folder/completions/_leadload"
    licences "$1" "$folder/THIRD-PARTY-LICENSES.txt"
    chmod -R u=rwX,go=rX "$folder"
    # GNU's tar, as `gtar` on a Mac.
    local tar=tar
    command -v gtar >/dev/null && tar=gtar
    "$tar" --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
        --numeric-owner --directory "$packages" "$(basename "$folder")" |
        gzip --no-name --best >"$folder.tar.gz"
    ls -l "$folder.tar.gz"
}
