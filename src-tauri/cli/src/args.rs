//! The command line as it is written: `bench --help`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

mod keys;
mod setup;

pub use keys::*;
pub use setup::*;

/// Ask a panel of models, judge what they said, and run the gateway without a window.
#[derive(Debug, Parser)]
#[command(name = "bench", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(disable_help_subcommand = true, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 refused, 2 wrong usage, 3 no gateway is running.\n\
                          Environment: BENCHWARMERS_HOME (data folder), BENCHWARMERS_TOKEN (for --url), \
                          BENCHWARMERS_KEY_<NAME> (an endpoint's key), BENCHWARMERS_VAULT_PASSPHRASE (opens \
                          the encrypted key file), BENCH_LOG (log filter, such as info), NO_COLOR.";

#[derive(Clone, Debug, Args)]
pub struct Common {
    /// Print JSON, also for errors; completions, --help and --version do not
    #[arg(long, global = true)]
    pub json: bool,
    /// Data folder, instead of $BENCHWARMERS_HOME or the platform's
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Talk to this gateway, with the control token in BENCHWARMERS_TOKEN; the one that owns the data folder
    /// needs none
    #[arg(long, global = true, value_name = "URL")]
    pub url: Option<String>,
    /// Do not ask before removing or overwriting
    #[arg(long, short, global = true)]
    pub yes: bool,
    /// Colours in tables
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the gateway without a window until Ctrl-C or SIGTERM
    Serve(Serve),
    /// Show the running gateway: address, keys, what is owed
    Status,
    /// Put a prompt to every member of a collection, and to explorers
    ///
    /// Each answer goes to standard output the moment its seat finishes, under a heading with its seat and
    /// model; of a merged answer its own text goes there as it is written, and nothing else. The table of
    /// seats, with the call ids that verdicts need, goes to standard error.
    Ask(Ask),
    /// Judge a call: useful or not, with the claims that were real and the ones that were false
    Verdict(Verdict),
    /// List the answers that wait for a verdict
    Owed,
    /// Show who would sit on a panel asked now, and why
    Panel(Panel),
    /// List panels and agents' conversations, newest first, or show one
    Log(Log),
    /// Add and change endpoints, models and collections from a set-up file; nothing is removed
    Import(Import),
    /// Write the set-up file; it holds no secret
    Export(Export),
    /// Places models are served from
    #[command(subcommand)]
    Endpoint(Endpoint),
    /// Registered models
    #[command(subcommand)]
    Model(Model),
    /// Show the models that are being registered and probed; stop, resume or clear them
    #[command(args_conflicts_with_subcommands = true)]
    Onboard {
        #[command(subcommand)]
        command: Option<Onboard>,
    },
    /// Named groups of models
    #[command(subcommand)]
    Collection(Collection),
    /// Gateway keys: what other programs sign in with, what they may use and spend
    #[command(subcommand)]
    Key(GatewayKey),
    /// Show how much may be sent and how much was, what providers say of quotas, and what is cooling down
    #[command(args_conflicts_with_subcommands = true)]
    Limits {
        #[command(subcommand)]
        command: Option<Limits>,
    },
    /// Show what calls to providers took: tokens, and dollars where the price is known
    Spend(Spend),
    /// How many models a panel has, and how long things are waited for and kept
    #[command(subcommand)]
    Settings(Settings),
    /// Make the encrypted key file, or unlock it: for a machine without a keychain
    ///
    /// The file is opened in the running gateway and stays so until the gateway ends. When no gateway runs,
    /// commands that need a key ask for the passphrase; without a terminal to ask at, set
    /// BENCHWARMERS_VAULT_PASSPHRASE, or start `bench serve` and unlock the file there.
    Vault(Vault),
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Clone, Debug, Args)]
pub struct Serve {
    /// Port to listen on; the next free one is used when it is taken [default: 8123]
    #[arg(long)]
    pub port: Option<u16>,
    /// Address to listen on; only this machine's own for now
    #[arg(long, value_name = "ADDR", value_parser = this_machine)]
    pub bind: Option<String>,
    /// Serve the built window (ui/dist) at /ui/
    #[arg(long, value_name = "DIR")]
    pub ui: Option<PathBuf>,
    /// Make sure the practice collection exists: scripted models, offline
    #[arg(long)]
    pub practice: bool,
}

#[derive(Clone, Debug, Args)]
pub struct Ask {
    /// The collection's name, `core` or `bench/core`; `core:all` and `core:merged` say how it answers
    #[arg(value_parser = collection_name)]
    pub collection: String,
    /// The prompt; `-`, or nothing while something is piped in, reads standard input
    pub prompt: Option<String>,
    /// Text file to put behind the prompt, named; may be given again
    #[arg(long = "file", short, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Image to show, a file (PNG, JPEG, GIF, WebP) or an http(s) URL; may be given again
    #[arg(long = "image", value_name = "FILE|URL")]
    pub images: Vec<String>,
    /// System text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub system: String,
    /// Every answer, whatever the collection's own reply is
    #[arg(long, conflicts_with = "merged")]
    pub all: bool,
    /// One answer, merged from those of the seats
    #[arg(long)]
    pub merged: bool,
    /// Model to ask too, in an explorer seat; may be given again
    #[arg(long, value_name = "ALIAS")]
    pub with: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Panel {
    /// The collection; without one, explorers only
    #[arg(value_parser = collection_name)]
    pub collection: Option<String>,
    /// The shape of the task; without it, the collection's own
    #[arg(long)]
    pub shape: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Log {
    /// Show this panel, or this conversation with its turns and why each has its model
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    /// Of a conversation, show all of this turn
    #[arg(long, value_name = "NUMBER", requires = "id", conflicts_with = "before")]
    pub turn: Option<u32>,
    /// Only panels in which these words stand together: in the prompt, an answer or a verdict
    #[arg(long, value_name = "WORDS", conflicts_with = "id")]
    pub search: Option<String>,
    /// Only what is older than this panel or conversation; of a conversation, than this turn
    #[arg(long, value_name = "ID|NUMBER")]
    pub before: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 20, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub limit: u32,
}

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("judgement").required(true).args(["useful", "not_useful", "clear"]))]
pub struct Verdict {
    /// The call's id, such as p20261129-154501-9f3a6c01.member1
    pub call: String,
    /// The answer was useful
    #[arg(long)]
    pub useful: bool,
    /// The answer was not useful
    #[arg(long)]
    pub not_useful: bool,
    /// Withdraw the verdict
    #[arg(long, conflicts_with_all = ["note", "real", "false_claims"])]
    pub clear: bool,
    /// A note; what was noted before stays without it
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// A claim in it that was real; may be given again
    #[arg(long, value_name = "CLAIM")]
    pub real: Vec<String>,
    /// A claim in it that was false; may be given again
    #[arg(long = "false", value_name = "CLAIM")]
    pub false_claims: Vec<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Import {
    /// The set-up file; `-` reads standard input
    pub file: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub struct Export {
    /// Where to write it; standard output when absent or `-`
    pub file: Option<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub struct Vault {
    /// Read the passphrase from standard input
    #[arg(long)]
    pub passphrase_stdin: bool,
}

fn collection_name(text: &str) -> Result<String, String> {
    let name = text.strip_prefix("bench/").unwrap_or(text);
    if name.is_empty() { Err("a collection's name is missing".to_owned()) } else { Ok(name.to_owned()) }
}

fn this_machine(text: &str) -> Result<String, String> {
    match text {
        "127.0.0.1" | "localhost" => Ok(text.to_owned()),
        _ => Err("only 127.0.0.1 for now: callers from beyond this machine need gateway keys".to_owned()),
    }
}

#[cfg(test)]
mod tests;
