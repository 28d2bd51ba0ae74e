#!/bin/sh
# Installs the pinned clients into target/clients; does nothing when they are there already.
# Used by `cargo xtask test` and, when run alone, by tests/tests/clients/.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
into=${1:-${CARGO_TARGET_DIR:-$here/../../target}/clients}
mkdir -p "$into"

# same STAMP FILE…: whether the files are the ones that were installed last.
same() {
    stamp=$1
    shift
    cat "$@" | cmp -s - "$stamp" 2>/dev/null
}

python_pins=$here/python/requirements.txt
if ! same "$into/python.stamp" "$python_pins"; then
    rm -rf "$into/python" "$into/python.stamp"
    python3 -m venv "$into/python"
    "$into/python/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$python_pins"
    cat "$python_pins" >"$into/python.stamp"
fi

node_pins="$here/node/package.json $here/node/package-lock.json"
# shellcheck disable=SC2086 # two files
if ! same "$into/node.stamp" $node_pins; then
    rm -rf "$into/node" "$into/node.stamp"
    mkdir "$into/node"
    cp $node_pins "$here/node/.npmrc" "$into/node/"
    (cd "$into/node" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
    cat $node_pins >"$into/node.stamp"
fi
