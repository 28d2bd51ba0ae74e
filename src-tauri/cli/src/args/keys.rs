//! Gateway keys, as they are written on the command line.

use clap::{Args, Subcommand};

use super::{collection_name, setup::dollars};

#[derive(Clone, Debug, Subcommand)]
pub enum GatewayKey {
    /// Make a key; its text goes to standard output, once and never again
    ///
    /// A program sends it as its API key: as `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`. Its name stands
    /// in every record of what the program asks. With `bench settings set require_keys=true` nobody is answered without
    /// a key.
    Create(Box<CreateKey>),
    /// List every key there ever was
    List,
    /// Revoke a key: it never works again, and stays in the list
    Revoke { name: String },
}

#[derive(Clone, Debug, Args)]
pub struct CreateKey {
    /// Whose calls they will be: lower-case letters, digits and -
    pub name: String,
    /// A collection that it may use; may be given again. Without it, every collection, and every model by its own name
    #[arg(long = "collection", short, value_name = "NAME", value_parser = collection_name)]
    pub collections: Vec<String>,
    /// Questions a minute, at most
    #[arg(long, value_name = "COUNT")]
    pub rpm: Option<u32>,
    /// Tokens that it may spend in a day or a month
    #[arg(long, value_name = "COUNT", requires = "per")]
    pub budget_tokens: Option<u64>,
    /// US dollars that it may spend in a day or a month; calls of unknown cost do not count
    #[arg(long, value_name = "DOLLARS", requires = "per", value_parser = dollars)]
    pub budget_dollars: Option<f64>,
    /// What the budget is for: day or month, by UTC
    #[arg(long, value_name = "PERIOD", value_parser = ["day", "month"])]
    pub per: Option<String>,
    /// When it ends: +30d, +12h, a day such as 2027-01-31 (its beginning, UTC), or RFC 3339
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
}
