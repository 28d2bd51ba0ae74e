//! `bench key`: gateway keys, what other programs sign in with.

use control::Remote;
use control::dto::{CreateKey as Create, GatewayKeyView, KeySpending, KeyStanding, Name, NewKey, Nothing};

use crate::args::{Common, CreateKey, GatewayKey};
use crate::collection::{budget, budget_in_words};
use crate::consent::consent;
use crate::endpoint::done;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::Look;
use crate::spend::dollars;
use crate::status::counted;
use crate::table::Table;

pub async fn key(remote: &Remote, common: &Common, command: &GatewayKey, out: Out) -> Result<(), Failure> {
    match command {
        GatewayKey::Create(args) => created(&remote.create_key(asked(args)).await?, out),
        GatewayKey::List => {
            let keys = remote.keys(Nothing {}).await?;
            if out.json {
                return Ok(out.json(&keys)?);
            }
            Ok(table(&keys).print(out, "no gateway keys yet: bench key create NAME")?)
        }
        GatewayKey::Revoke { name } => {
            consent(
                common,
                &format!("Revoke the gateway key {name}? Whoever uses it is refused from then on."),
            )?;
            let revoked = remote.revoke_key(Name { name: name.clone() }).await?;
            match out.json {
                true => Ok(out.json(&revoked)?),
                false => done(out, &format!("revoked {name}")),
            }
        }
    }
}

fn asked(args: &CreateKey) -> Create {
    Create {
        name: args.name.clone(),
        collections: (!args.collections.is_empty()).then(|| args.collections.clone()),
        requests_a_minute: args.rpm,
        budget: budget(args.budget_tokens, args.budget_dollars, args.per.as_deref()),
        expires: args.expires.clone(),
    }
}

/// The text alone goes to standard output, so that it can be piped to where it belongs.
fn created(new: &NewKey, out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(new)?);
    }
    out.note_painted(&table(std::slice::from_ref(&new.key)).text(out.note_paint));
    out.note("This is the key. It is shown now and never again:");
    Ok(out.line(&new.text)?)
}

fn table(keys: &[GatewayKeyView]) -> Table {
    let mut table = Table::new(&[
        "name",
        "key",
        "state",
        "may use",
        "a minute",
        "budget",
        "spent",
        "expires",
        "last used",
    ]);
    for key in keys {
        let (state, look) = match key.standing {
            KeyStanding::Good => ("good", Look::Good),
            KeyStanding::Expired => ("expired", Look::Bad),
            KeyStanding::Revoked => ("revoked", Look::Bad),
        };
        let plain = |text: String| (text, Look::Plain);
        let may_use =
            key.collections.as_ref().map_or_else(|| "everything".to_owned(), |names| names.join(", "));
        table.row([
            plain(key.name.clone()),
            plain(format!("••••{}", key.last4)),
            (state.to_owned(), look),
            plain(may_use),
            plain(key.requests_a_minute.map(|count| count.to_string()).unwrap_or_default()),
            plain(budget_in_words(key.budget.as_ref())),
            key.spent.as_ref().map_or((String::new(), Look::Plain), spent),
            plain(key.expires.clone().unwrap_or_default()),
            plain(key.last_used.clone().unwrap_or_else(|| "never".to_owned())),
        ]);
    }
    table
}

/// `1200 tokens, $0.0042, 1 call of unknown cost`; in red where nothing is left.
fn spent(spent: &KeySpending) -> (String, Look) {
    let look = if spent.is_spent { Look::Bad } else { Look::Plain };
    let unknown = [(spent.tokens_unknown, "tokens"), (spent.cost_unknown, "cost")];
    let unknown = unknown.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| {
        let calls = counted(u32::try_from(count).unwrap_or(u32::MAX), "call");
        format!(", {calls} of unknown {what}")
    });
    let known = format!("{} tokens, {}", spent.tokens, dollars(spent.dollars));
    (known + &unknown.collect::<String>(), look)
}

#[cfg(test)]
mod tests {
    use control::dto::{Budget, GatewayKeyView, KeySpending, KeyStanding, Period};
    use expect_test::expect;

    use super::table;
    use crate::paint::Paint;

    #[test]
    fn every_key_and_how_it_stands() {
        let desk = GatewayKeyView {
            name: "desk".to_owned(),
            last4: "AbC_".to_owned(),
            standing: KeyStanding::Good,
            created: "2026-11-29T15:45:01.000Z".to_owned(),
            collections: None,
            requests_a_minute: None,
            budget: None,
            spent: None,
            expires: None,
            revoked: None,
            last_used: None,
        };
        let lab = GatewayKeyView {
            name: "lab".to_owned(),
            standing: KeyStanding::Expired,
            collections: Some(vec!["core".to_owned(), "fast".to_owned()]),
            requests_a_minute: Some(60),
            budget: Some(Budget { tokens: Some(5_000), dollars: Some(2.5), per: Period::Day }),
            spent: Some(KeySpending {
                tokens: 5_200,
                tokens_unknown: 0,
                dollars: 0.0042,
                cost_unknown: 1,
                is_spent: true,
                resets_at: "2026-11-30T00:00:00.000Z".to_owned(),
            }),
            expires: Some("2026-11-29T16:00:00.000Z".to_owned()),
            last_used: Some("2026-11-29T15:59:00.000Z".to_owned()),
            ..desk.clone()
        };
        expect![[r#"
            name  key       state    may use     a minute  budget                       spent                                         expires                   last used
            desk  ••••AbC_  good     everything                                                                                                                 never
            lab   ••••AbC_  expired  core, fast  60        5000 tokens and $2.50 a day  5200 tokens, $0.0042, 1 call of unknown cost  2026-11-29T16:00:00.000Z  2026-11-29T15:59:00.000Z"#]].assert_eq(&table(&[desk, lab]).text(Paint(false)).to_string());
    }
}
