//! The tray application's program; everything is in the library.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

fn main() -> std::process::ExitCode {
    benchwarmers_app::run()
}
