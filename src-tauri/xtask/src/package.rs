//! `cargo xtask package`: installers, made by the Tauri bundler.

use anyhow::Result;
use clap::Args;

use crate::{
    shell::{self, Tree},
    system, window,
};

#[derive(Args)]
pub struct Options {
    /// What to make, as the Tauri bundler names it: `deb`, `appimage`, `dmg`, `nsis`, several with commas.
    #[arg(long, default_value = if cfg!(windows) { "nsis" } else if cfg!(target_os = "macos") { "dmg" } else { "deb" })]
    bundles: String,
}

/// `bench` rides along in the Debian package. The tray library is loaded at run time, so the bundler does not see it.
const WITH_BENCH: &str = r#"{"bundle":{"linux":{"deb":{"depends":["libayatana-appindicator3-1"],"files":{"/usr/bin/bench":"target/release/bench"}}}}}"#;

/// The bundler builds the window and the application itself.
pub fn package(tree: &Tree, options: &Options) -> Result<()> {
    system::need(tree, &[system::COMPILER, system::WINDOW])?;
    window::install(tree)?;
    shell::run(&mut tree.cargo(["build", "--release", "--package", "cli"]))?;
    let bundler = ["--yes", "@tauri-apps/cli@2", "build", "--ci", "--bundles", &options.bundles];
    shell::run(tree.npm_tool("npx").args(bundler).args(["--config", WITH_BENCH]))?;
    println!("What was made is in target/release/bundle.");
    Ok(())
}
