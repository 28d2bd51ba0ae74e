//! `bench limits`: how much may be sent, how much was, and what is left alone for a while.

use control::Remote;
use control::dto::{Limits, LimitsView, Name, Nothing};

use crate::args::Limits as Command;
use crate::endpoint::done;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::Look;
use crate::table::Table;

pub async fn limits(remote: &Remote, command: Option<&Command>, out: Out) -> Result<(), Failure> {
    match command {
        None => show(&remote.limits(Nothing {}).await?, out),
        Some(Command::Clear { name }) => {
            remote.clear_cooldown(Name { name: name.clone() }).await?;
            done(out, &format!("{name} is not cooling down any more"))
        }
    }
}

/// The limits of an endpoint over what it had; a rule without a count is none.
pub fn changed(old: Limits, given: &[(String, String)]) -> Result<Limits, Failure> {
    let mut limits = old;
    for (name, count) in given {
        let rule = match name.as_str() {
            "rpm" => &mut limits.rpm,
            "rpd" => &mut limits.rpd,
            "tpm" => &mut limits.tpm,
            "tpd" => &mut limits.tpd,
            "rpmo" => &mut limits.rpmo,
            other => {
                let message = format!("--limit {other}: there are rpm, rpd, rpmo, tpm, tpd");
                return Err(Failure::Usage(message));
            }
        };
        *rule = match count.as_str() {
            "" => None,
            count => {
                let wrong =
                    || Failure::Usage(format!("--limit {name}={count}: a whole number, or nothing for none"));
                Some(count.parse().map_err(|_| wrong())?)
            }
        };
    }
    Ok(limits)
}

fn show(limits: &LimitsView, out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(limits)?);
    }
    let mut table = Table::new(&["connection", "what", "used", "of", "seen", ""]);
    let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
    for it in &limits.connections {
        for rule in &it.rules {
            let in_flight =
                if it.in_flight > 0 { format!("{} in flight", it.in_flight) } else { String::new() };
            table.row([
                (it.connection.clone(), Look::Plain),
                (rule.axis.clone(), Look::Plain),
                (rule.used.to_string(), if rule.used >= rule.limit { Look::Bad } else { Look::Plain }),
                (rule.limit.to_string(), Look::Plain),
                ("our own limit".to_owned(), Look::Dim),
                (in_flight, Look::Dim),
            ]);
        }
        for stated in &it.stated {
            table.row([
                (it.connection.clone(), Look::Plain),
                (stated.axis.clone(), Look::Plain),
                (stated.used.to_string(), if stated.used >= stated.limit { Look::Bad } else { Look::Plain }),
                (stated.limit.to_string(), Look::Plain),
                ("stated by the provider".to_owned(), Look::Dim),
                (format!("{}: kept to until {}", stated.model, stated.until), Look::Dim),
            ]);
        }
        for quota in &it.quota {
            let window = quota.window_s.map(|seconds| format!(" in {seconds} s")).unwrap_or_default();
            let used = quota.limit.zip(quota.remaining).map(|(limit, left)| limit.saturating_sub(left));
            let resets = quota.resets_at.as_ref().map(|at| format!(", whole again {at}")).unwrap_or_default();
            let left = quota.remaining.map(|left| format!("{left} left")).unwrap_or_default();
            table.row([
                (it.connection.clone(), Look::Plain),
                (format!("{}{window}", quota.metric), Look::Plain),
                (count(used), if quota.remaining == Some(0) { Look::Bad } else { Look::Plain }),
                (count(quota.limit), Look::Plain),
                (quota.seen_at.clone(), Look::Dim),
                (format!("{}: {left}{resets}", quota.model), Look::Dim),
            ]);
        }
    }
    table.print(out, "no limits, and no provider has said anything of quotas")?;
    if limits.cooling.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["cooling down", "until", ""]);
    for it in &limits.cooling {
        let what = if it.is_connection { " (the whole connection)" } else { "" };
        table.row([
            (format!("{}{what}", it.name), Look::Plain),
            (it.until.clone(), Look::Plain),
            (it.why.clone(), Look::Dim),
        ]);
    }
    Ok(table.print(out, "")?)
}
