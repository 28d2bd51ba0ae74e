//! `bench`: a person's and a script's way to the gateway, and the gateway itself without a window.
//!
//! Every command but `serve` and `completions` speaks the control API to the gateway that owns the data
//! folder, or opens one for as long as it needs it (see [`reach`]).

mod args;
mod ask;
mod clean;
mod collection;
mod consent;
mod conversation;
mod endpoint;
mod failure;
mod fields;
mod key;
mod limits;
mod log;
mod model;
mod onboard;
mod out;
mod paint;
mod panel;
mod prompt;
mod reach;
mod serve;
mod settings;
mod setup;
mod sheet;
mod spend;
mod status;
mod table;
mod vault;
mod verdict;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::Failure;
use out::Out;
use reach::with_gateway;

/// A turn is many small allocations, and a large body is few large ones that are to be given back.
#[cfg(not(windows))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    let out = Out::new(&cli.common);
    log_to_stderr(out);
    match run(&cli, out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            told(&failure, out);
            ExitCode::from(failure.exit())
        }
    }
}

fn run(cli: &Cli, out: Out) -> Result<(), Failure> {
    if let Command::Completions { shell } = &cli.command {
        return completions(*shell);
    }
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::refused(format!("no threads to run on: {error}")))?
        .block_on(command(cli, out))
}

async fn command(cli: &Cli, out: Out) -> Result<(), Failure> {
    let common = &cli.common;
    match &cli.command {
        Command::Serve(args) => serve::serve(common, args, out).await,
        Command::Status => status::status(common, out).await,
        Command::Ask(args) => {
            let question = ask::question(args)?;
            let prompt = prompt::prompt(args)?;
            with_gateway(common, async |at| ask::ask(at, question, args, prompt, out).await).await
        }
        Command::Verdict(args) => {
            with_gateway(common, async |at| verdict::verdict(&at.remote, args, out).await).await
        }
        Command::Owed => with_gateway(common, async |at| verdict::owed(&at.remote, out).await).await,
        Command::Panel(args) => {
            with_gateway(common, async |at| panel::panel(&at.remote, args, out).await).await
        }
        Command::Log(args) => with_gateway(common, async |at| log::log(&at.remote, args, out).await).await,
        Command::Import(args) => {
            let text = setup::read(args)?;
            with_gateway(common, async |at| setup::import(&at.remote, text, out).await).await
        }
        Command::Export(args) => {
            with_gateway(common, async |at| setup::export(&at.remote, common, args, out).await).await
        }
        Command::Endpoint(command) => {
            with_gateway(common, async |at| endpoint::endpoint(at, common, command, out).await).await
        }
        Command::Model(command) => {
            with_gateway(common, async |at| model::model(at, command, out).await).await
        }
        Command::Onboard { command } => {
            with_gateway(common, async |at| onboard::onboard(&at.remote, command.as_ref(), out).await).await
        }
        Command::Collection(command) => {
            with_gateway(common, async |at| collection::collection(&at.remote, common, command, out).await)
                .await
        }
        Command::Key(command) => {
            with_gateway(common, async |at| key::key(&at.remote, common, command, out).await).await
        }
        Command::Limits { command } => {
            with_gateway(common, async |at| limits::limits(&at.remote, command.as_ref(), out).await).await
        }
        Command::Spend(args) => {
            with_gateway(common, async |at| spend::spend(&at.remote, args, out).await).await
        }
        Command::Settings(command) => {
            with_gateway(common, async |at| settings::settings(&at.remote, command, out).await).await
        }
        Command::Vault(args) => with_gateway(common, async |at| vault::vault(at, args, out).await).await,
        Command::Completions { shell } => completions(*shell),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "bench", &mut script);
    Ok(io::Write::write_all(&mut io::stdout().lock(), &script)?)
}

/// Says what went wrong: JSON to standard output for a program, one sentence to standard error for a person.
fn told(failure: &Failure, out: Out) {
    match failure.json().filter(|_| out.json) {
        // A reader that has gone does not want it.
        Some(error) => drop(out.json(&error)),
        None => {
            if let Some(message) = failure.message() {
                out.note(&format!("bench: {message}"));
            }
        }
    }
}

/// Help and version are no errors; everything else is wrong usage, and a program reads that as JSON too.
fn misused(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    if error.use_stderr() && wants_json {
        if let Some(error) = Failure::Usage(sentence(&error.render().to_string())).json() {
            let _ = io::Write::write_all(&mut io::stdout().lock(), format!("{error}\n").as_bytes());
        }
    } else {
        let _ = error.print();
    }
    ExitCode::from(if error.use_stderr() { 2 } else { 0 })
}

/// clap's first paragraph as one sentence, without its usage and tips.
fn sentence(text: &str) -> String {
    let paragraph =
        text.trim_start_matches("error: ").lines().map(str::trim).take_while(|line| !line.is_empty());
    paragraph.collect::<Vec<_>>().join(" ")
}

fn log_to_stderr(out: Out) {
    let filter = tracing_subscriber::EnvFilter::try_from_env("BENCH_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(out.note_paint.0)
        .with_writer(io::stderr)
        .init();
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    #[test]
    fn wrong_usage_in_a_sentence() {
        let cases = [
            (
                "bench verdict x",
                "the following required arguments were not provided: <--useful|--not-useful|--clear>",
            ),
            (
                "bench serve --bind ::",
                "invalid value '::' for '--bind <ADDR>': only 127.0.0.1 for now: callers from beyond this machine need gateway keys",
            ),
            ("bench nope", "unrecognized subcommand 'nope'"),
        ];
        for (line, wanted) in cases {
            let error = super::Cli::try_parse_from(line.split(' ')).unwrap_err();
            assert_eq!(super::sentence(&error.render().to_string()), wanted, "{line}");
        }
    }
}
