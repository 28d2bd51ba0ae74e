#!/bin/sh
# Installs the pinned agents into target/agents; does nothing when they are there already.
# Used by `cargo xtask test` and, when run alone, by tests/tests/agents/.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
into=${1:-${CARGO_TARGET_DIR:-$here/../../target}/agents}
if cat "$here/setup.sh" "$here/package.json" "$here/package-lock.json" | cmp -s - "$into/stamp" 2>/dev/null; then
    exit
fi
rm -rf "$into"
mkdir -p "$into"
cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$into/"
cd "$into"
# Not `npm ci`: it wants every platform's programs in the lock file, and not every registry has them all.
# Scripts of the packages below would compile terminals and key stores, which no agent here needs.
npm install --no-save --no-audit --no-fund --ignore-scripts --loglevel=error
# These three only put the program for this machine, which npm has brought, where their name points.
for script in @anthropic-ai/claude-code/install.cjs opencode-ai/postinstall.mjs cline/postinstall.mjs; do
    (cd "node_modules/$(dirname "$script")" && node "$(basename "$script")" >/dev/null)
done
cat "$here/setup.sh" "$here/package.json" "$here/package-lock.json" >stamp
