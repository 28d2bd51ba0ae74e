#!/usr/bin/env bash
# Renders the drawn icons: app.svg and tray/*.svg are the sources, everything else here comes from them.
# Needs rsvg-convert (Debian librsvg2-bin) and node. The tray marks are drawn on a 16-unit grid, so that they
# stay sharp at 16 and 32 px; the *-template ones are macOS template images (shape only).
set -euo pipefail
cd "$(dirname "$0")"
for svg in tray/*.svg; do rsvg-convert -w 64 -h 64 "$svg" -o "${svg%.svg}.png"; done
out=$(mktemp -d); trap 'rm -rf "$out"' EXIT
rsvg-convert -w 1024 -h 1024 app.svg -o "$out/app.png"
npx --yes @tauri-apps/cli@2 icon "$out/app.png" -o "$out/set"
for name in 32x32.png 128x128.png 128x128@2x.png icon.png icon.ico icon.icns; do cp "$out/set/$name" .; done
