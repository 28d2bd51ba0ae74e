//! The tray application's program; everything is in the library.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

/// As in `bench`.
#[cfg(not(windows))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> std::process::ExitCode {
    benchwarmers_app::run()
}
