//! The real window in a real desktop: WebDriver for the page, D-Bus for tray and notifications, the keychain by
//! `secret-tool`, screenshots in `tests/artefacts/desktop`.
//!
//! Run as any test; it puts itself into the session of `tests/desktop/session.sh`. Each trial has a data folder
//! of its own; they share one screen, so one runs at a time.
#![expect(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test fails by panicking")]

mod app;
mod bare;
mod closing;
mod confined;
mod endpoints_page;
mod first_run;
mod key;
mod locked_keychain;
mod no_keychain;
mod notifications;
mod outside;
mod pictures;
mod port;
mod processes;
mod second_start;
mod session;
mod setup;
mod tray;
mod tray_menu;
mod trouble;
mod window;

use std::{future::Future, process::ExitCode};

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if !arguments.list && !session::inside() {
        return session::enter();
    }
    arguments.test_threads = Some(1);
    let trials = vec![
        trial("first run, practice, a panel, verdicts", first_run::practice),
        trial("a panel asked over HTTP appears as it runs", outside::appears_as_it_runs),
        trial("the tray menu says and does what it should", tray_menu::says_and_does),
        trial("start at login is a switch", tray_menu::start_at_login),
        trial("a closed window leaves no web process", closing::leaves_nothing),
        trial("without a tray, closing minimises", closing::without_a_tray),
        trial("an X11 tray takes the window", closing::with_an_x11_tray),
        trial("a second start shows the first", second_start::shows_the_first),
        trial("--hidden shows nothing until asked", second_start::hidden),
        trial("a panel without an answer is told of", notifications::no_answer),
        trial("a failover is told of", notifications::failed_over),
        trial("a refused key is told of", notifications::refused_key),
        trial("a key goes to the keychain and nowhere else", key::only_in_the_keychain),
        trial(
            "a locked keychain is said so, and used once unlocked",
            locked_keychain::is_said_so_and_used_once_unlocked,
        ),
        trial(
            "a keychain that refuses or is not there is said so",
            no_keychain::refused_or_absent_is_said_so,
        ),
        trial("limits are set, a rest is ended, and no key is shown", endpoints_page::limits_and_rests),
        trial("a page is confined to its commands", confined::to_its_commands),
        trial("a taken port is shown everywhere", port::shown_everywhere),
        trial("a data folder in use is said in a window", trouble::in_use),
        trial("quit lets a panel finish", closing::quit_drains),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial<F: Future<Output = ()> + 'static>(name: &str, run: fn() -> F) -> Trial {
    let running = name.to_owned();
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        session::begin(&running);
        runtime.block_on(run());
        Ok(())
    })
}
