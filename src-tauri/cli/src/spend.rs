//! `bench spend`: what calls to providers took.

use control::Remote;
use control::dto::SpendQuery;

use crate::args::Spend;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::Look;
use crate::table::Table;

pub async fn spend(remote: &Remote, args: &Spend, out: Out) -> Result<(), Failure> {
    let spend = remote.spend(SpendQuery { by: args.by, since: args.since.clone() }).await?;
    if out.json {
        return Ok(out.json(&spend)?);
    }
    let mut table =
        Table::new(&[args.by.name(), "calls", "in", "cached", "out", "cost", "useful", "each", ""]);
    for row in &spend.rows {
        let unknown = match row.cost_unknown {
            0 => String::new(),
            calls => format!("{calls} of unknown cost"),
        };
        let known = row.cost_unknown < row.calls;
        table.row([
            (row.key.clone(), Look::Plain),
            (row.calls.to_string(), Look::Plain),
            (row.tokens_fresh.saturating_add(row.cache_write).to_string(), Look::Plain),
            (row.cache_read.to_string(), Look::Plain),
            (row.tokens_out.to_string(), Look::Plain),
            (if known { dollars(row.cost) } else { String::new() }, Look::Plain),
            (row.useful.to_string(), Look::Plain),
            (row.cost_per_useful.map(dollars).unwrap_or_default(), Look::Plain),
            (unknown, Look::Dim),
        ]);
    }
    Ok(table.print(out, &format!("nothing was sent since {}", spend.since))?)
}

/// What something cost, as the window writes it: `$12.40`, `$0.0042`; what is smaller than that is said to be.
pub fn dollars(cost: f64) -> String {
    match cost {
        0.0 => "$0".to_owned(),
        cost if cost < 0.0001 => "under $0.0001".to_owned(),
        cost if cost < 0.1 => format!("${cost:.4}"),
        cost => format!("${cost:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn what_something_cost() {
        for (cost, wanted) in [
            (0.0, "$0"),
            (0.000_01, "under $0.0001"),
            (0.0001, "$0.0001"),
            (0.004_24, "$0.0042"),
            (0.1, "$0.10"),
            (12.4, "$12.40"),
        ] {
            assert_eq!(dollars(cost), wanted);
        }
    }
}
