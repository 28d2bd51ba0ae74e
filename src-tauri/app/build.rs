//! Declares what the window may call, and lets `cargo check` work on a fresh clone.

use std::{env, fs, path::Path};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Tauri embeds the built window and refuses to compile without its folder.
    let root = env::var("CARGO_MANIFEST_DIR")?;
    let dist = Path::new(&root).join("ui/dist");
    fs::create_dir_all(&dist)?;
    // The files that were embedded are watched already; this is for those that were not there yet.
    println!("cargo:rerun-if-changed={}", dist.display());

    // With a list of its own, a command that is not on it is refused; the capability in `tauri.conf.json`
    // gives the list to the window.
    let manifest = tauri_build::AppManifest::new().permissions_path_pattern("src-tauri/app/permissions.toml");
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}
