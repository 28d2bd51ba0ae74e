//! Endpoints, models, collections and settings, as they are written on the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Subcommand};
use control::dto::{Api, EndpointKind, SpendBy};

use super::collection_name;

#[derive(Clone, Debug, Subcommand)]
pub enum Endpoint {
    /// List endpoints and where their keys come from
    List,
    /// Add an endpoint by its base URL or from a preset
    Add(AddEndpoint),
    /// Change an endpoint's limits, headers, kind, or whether it is paid; what is not given stays
    Set(SetEndpoint),
    /// Ask an endpoint what it serves
    Test { name: String },
    /// Store an endpoint's key in the keychain, or remove it
    Key(Key),
    /// Remove an endpoint and its models
    Rm { name: String },
}

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("from").required(true).args(["base", "preset"]))]
pub struct AddEndpoint {
    pub name: String,
    /// Base URL, such as http://127.0.0.1:11434/v1
    #[arg(long, value_name = "URL")]
    pub base: Option<String>,
    /// A known provider's id
    #[arg(long, value_name = "ID")]
    pub preset: Option<String>,
    /// The name in the address of a preset that has a place for one, such as azure
    #[arg(long, value_name = "NAME", requires = "preset")]
    pub resource: Option<String>,
    /// The API it speaks; without it the preset's own, or chat
    #[arg(long, value_parser = api())]
    pub api: Option<Api>,
    /// Send the key over plain http to another machine
    #[arg(long)]
    pub allow_plain_http: bool,
    /// How much may be sent to it, such as rpm=30: requests a minute (rpm), day (rpd) or month (rpmo), tokens a minute
    /// (tpm) or day (tpd); may be given again
    #[arg(long = "limit", value_name = "RULE=COUNT", value_parser = pair)]
    pub limits: Vec<(String, String)>,
    /// A header of every request to it, such as X-Title=bench; never a key; may be given again
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair)]
    pub headers: Vec<(String, String)>,
    /// What it is: provider, aggregator, hub or local; without it told from its address
    #[arg(long, value_parser = kind())]
    pub kind: Option<EndpointKind>,
    /// Whether its calls cost money
    #[arg(long, value_name = "BOOL")]
    pub paid: Option<bool>,
    /// Add it though it does not answer as it should
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub key: KeyFrom,
}

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["limits", "headers", "kind", "paid"]))]
pub struct SetEndpoint {
    pub name: String,
    /// A limit, such as rpm=30, or rpm= for none; rpm, rpd, rpmo, tpm, tpd; may be given again
    #[arg(long = "limit", value_name = "RULE=COUNT", value_parser = pair)]
    pub limits: Vec<(String, String)>,
    /// A header of every request to it, such as X-Title=bench, or X-Title= for none; may be given again
    #[arg(long = "header", value_name = "NAME=VALUE", value_parser = pair)]
    pub headers: Vec<(String, String)>,
    /// What it is: provider, aggregator, hub or local
    #[arg(long, value_parser = kind())]
    pub kind: Option<EndpointKind>,
    /// Whether its calls cost money
    #[arg(long, value_name = "BOOL")]
    pub paid: Option<bool>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Limits {
    /// End a model's cooldown and its connection's, by its alias, and forget limits that were stated of it; or end a
    /// connection's, by its name
    Clear { name: String },
}

#[derive(Clone, Debug, Args)]
pub struct Spend {
    /// What it is summed by
    #[arg(long, default_value = "model", value_parser = spend_by())]
    pub by: SpendBy,
    /// From when on: 24h or 7d ago (written without a sign), a day such as 2026-11-01, or RFC 3339 [default: 30d]
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub struct Key {
    /// The endpoint's name
    pub name: String,
    /// Remove the key from the keychain
    #[arg(long, conflicts_with_all = ["key_stdin", "key_env"])]
    pub remove: bool,
    #[command(flatten)]
    pub key: KeyFrom,
}

/// Where a key comes from. Never the command line itself, which other users can read.
#[derive(Clone, Debug, Args)]
pub struct KeyFrom {
    /// Read the key from standard input
    #[arg(long, conflicts_with = "key_env")]
    pub key_stdin: bool,
    /// Read the key from this variable at each start of the gateway
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: Option<String>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Model {
    /// List registered models and what is known of them
    List,
    /// Show what is known of a model, and who says so
    Show { alias: String },
    /// Register models an endpoint serves; without names, list what it offers
    ///
    /// With --quick, --full or --ad-hoc they are probed too, one after another: a word twice, a large prompt, a tool, a
    /// picture. That goes on when this command is interrupted; `bench onboard` shows how far it is.
    Add(AddModels),
    /// Probe registered models again
    Probe {
        #[arg(value_name = "ALIAS", required = true)]
        aliases: Vec<String>,
    },
    /// Do not offer models of an endpoint's list any more
    Dismiss {
        endpoint: String,
        /// The provider's ids
        #[arg(value_name = "MODEL", required = true)]
        models: Vec<String>,
        /// Offer them again
        #[arg(long)]
        restore: bool,
    },
    /// Change a model's role, facts or options; what is not given stays
    Set(SetModel),
    /// Never call a model again; its record stays
    Retire {
        alias: String,
        /// Why; it is told where the model would have sat
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Take a retirement back
    Restore { alias: String },
    /// Give a model another alias; its record, its seats and its conversations follow
    Rename {
        alias: String,
        /// A name that no other model has, nor had
        to: String,
    },
    /// Fetch the public lists of models now, for their windows, abilities and prices
    Refresh,
    /// Let a model be called that was free and costs money now
    Allow { alias: String },
    /// Take a model off the register; its record stays
    Rm { alias: String },
}

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("probed").args(["full", "quick", "ad_hoc"]))]
pub struct AddModels {
    pub endpoint: String,
    /// The provider's id, or ALIAS=ID
    #[arg(value_name = "MODEL")]
    pub models: Vec<String>,
    /// Probe them; then the suite, once there is one
    #[arg(long, requires = "models")]
    pub full: bool,
    /// Probe them
    #[arg(long, requires = "models")]
    pub quick: bool,
    /// Probe them, and never choose them automatically
    #[arg(long, requires = "models")]
    pub ad_hoc: bool,
    /// List what was dismissed too
    #[arg(long, conflicts_with_all = ["models", "probed"])]
    pub all: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Onboard {
    /// Show the queue
    Status,
    /// Cancel the step under way, and take no more until resumed
    Stop,
    /// Go on where it was stopped
    Resume,
    /// Take out of the queue what is over
    Clear {
        /// And what waits or was stopped
        #[arg(long)]
        all: bool,
    },
}

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["role", "ad_hoc", "facts", "options"]))]
pub struct SetModel {
    pub alias: String,
    /// What it is for: general, code, light, vision, image, decision, or a role of your own shapes
    #[arg(long)]
    pub role: Option<String>,
    /// Whether it is left out of every automatic choice
    #[arg(long, value_name = "BOOL")]
    pub ad_hoc: Option<bool>,
    /// Something known of it, such as vision=true, context_window=128000 or price.input=0.5; without a value
    /// it is unknown again
    #[arg(long = "fact", value_name = "FACT=VALUE", value_parser = pair)]
    pub facts: Vec<(String, String)>,
    /// A field of the body of every request to it, such as temperature=0.2; without a value it is left out
    #[arg(long = "option", value_name = "FIELD=JSON", value_parser = pair)]
    pub options: Vec<(String, String)>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum Settings {
    /// Show every setting, or one
    Get { name: Option<String> },
    /// Change settings
    Set {
        #[arg(value_name = "NAME=VALUE", value_parser = pair, required = true)]
        changes: Vec<(String, String)>,
    },
}

#[derive(Clone, Debug, Subcommand)]
pub enum Collection {
    /// List collections
    List,
    /// Show all of a collection
    Show {
        #[arg(value_parser = collection_name)]
        name: String,
    },
    /// Make a collection, or change the given parts of one
    Save(Box<SaveCollection>),
    /// Remove a collection
    Rm {
        #[arg(value_parser = collection_name)]
        name: String,
    },
}

#[derive(Clone, Debug, Args)]
pub struct SaveCollection {
    #[arg(value_parser = collection_name)]
    pub name: String,
    /// A member's alias; give it once for each, in order
    #[arg(long = "member", short, value_name = "ALIAS")]
    pub members: Vec<String>,
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// What its tasks are; empty is automatic
    #[arg(long)]
    pub shape: Option<String>,
    /// How it answers: all (every answer), merged (one) or route (one member takes an agent's turn)
    #[arg(long, value_parser = ["all", "merged", "route"])]
    pub reply: Option<String>,
    /// The model that writes the merged answer; empty chooses it by record
    #[arg(long, value_name = "ALIAS")]
    pub merger: Option<String>,
    /// What happens to a member the prompt is too large for: refuse or skip
    #[arg(long, value_name = "WHAT")]
    pub when_too_large: Option<String>,
    /// Other members that an agent's turn is also put to, in the background, once it is answered; 0 is none
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=3))]
    pub shadow: Option<u32>,
    /// The part of turns that are put to shadows, from 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub shadow_share: Option<f64>,
    /// Tokens a day that shadows may take; 0 is no limit
    #[arg(long, value_name = "COUNT")]
    pub shadow_tokens: Option<u64>,
    /// Tokens that it may spend in a day or a month; in place of the budget it has
    #[arg(long, value_name = "COUNT", requires = "per")]
    pub budget_tokens: Option<u64>,
    /// US dollars that it may spend in a day or a month; calls of unknown cost do not count
    #[arg(long, value_name = "DOLLARS", requires = "per", value_parser = dollars)]
    pub budget_dollars: Option<f64>,
    /// What the budget is for: day or month, by UTC
    #[arg(long, value_name = "PERIOD", value_parser = ["day", "month"])]
    pub per: Option<String>,
    /// It may spend what it likes
    #[arg(long, conflicts_with_all = ["budget_tokens", "budget_dollars", "per"])]
    pub no_budget: bool,
}

fn kind() -> impl TypedValueParser<Value = EndpointKind> {
    use EndpointKind::{Aggregator, Hub, Local, Provider};
    let kinds = [("provider", Provider), ("aggregator", Aggregator), ("hub", Hub), ("local", Local)];
    PossibleValuesParser::new(kinds.map(|(name, _)| name)).try_map(move |name| {
        let found = kinds.iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| *kind).ok_or_else(|| format!("there is no kind {name}"))
    })
}

fn api() -> impl TypedValueParser<Value = Api> {
    PossibleValuesParser::new(Api::ALL.map(Api::name))
        .try_map(|name| Api::of_name(&name).ok_or_else(|| format!("there is no API {name}")))
}

fn spend_by() -> impl TypedValueParser<Value = SpendBy> {
    PossibleValuesParser::new(SpendBy::ALL.map(SpendBy::name)).try_map(|name| {
        SpendBy::ALL.into_iter().find(|by| by.name() == name).ok_or_else(|| format!("there is no {name}"))
    })
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

/// JSON has no word for what is no number: it would go out as none.
fn share(text: &str) -> Result<f64, String> {
    number(text).filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "a number from 0 to 1".to_owned())
}

pub(super) fn dollars(text: &str) -> Result<f64, String> {
    number(text).filter(|dollars| *dollars > 0.0).ok_or_else(|| "a number of dollars, more than 0".to_owned())
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}
