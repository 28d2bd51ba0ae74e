//! `bench collection`: named groups of models.

use control::Remote;
use control::dto::{Budget, CollectionView, Name, Nothing, Period, SaveCollection as Saved, in_dollars};

use crate::args::{Collection, Common, SaveCollection};
use crate::consent::consent;
use crate::endpoint::done;
use crate::failure::Failure;
use crate::out::Out;
use crate::paint::Look;
use crate::status::counted;
use crate::table::Table;

pub async fn collection(
    remote: &Remote,
    common: &Common,
    command: &Collection,
    out: Out,
) -> Result<(), Failure> {
    match command {
        Collection::List => list(&remote.setup(Nothing {}).await?.collections, out),
        Collection::Show { name } => {
            let there = remote.setup(Nothing {}).await?.collections;
            match there.iter().find(|collection| collection.name == *name) {
                Some(collection) => show(collection, out),
                None => {
                    let names: Vec<&str> = there.iter().map(|it| it.name.as_str()).collect();
                    let names = if names.is_empty() { "none yet".to_owned() } else { names.join(", ") };
                    Err(Failure::refused(format!("there is no collection {name}; there are {names}")))
                }
            }
        }
        Collection::Save(args) => {
            let there = remote.setup(Nothing {}).await?.collections;
            let old = there.iter().find(|collection| collection.name == args.name);
            let saved = remote.save_collection(changed(args, old)).await?;
            show(&saved, out)
        }
        Collection::Rm { name } => {
            consent(common, &format!("Remove the collection {name}?"))?;
            remote.delete_collection(Name { name: name.clone() }).await?;
            done(out, &format!("removed {name}"))
        }
    }
}

/// What is given, over what was there.
fn changed(args: &SaveCollection, old: Option<&CollectionView>) -> Saved {
    let text =
        |given: &Option<String>, old: Option<&String>| given.as_ref().or(old).cloned().unwrap_or_default();
    let list = |given: &[String], old: Option<&Vec<String>>| match (given, old) {
        ([], Some(old)) => old.clone(),
        (given, _) => given.to_vec(),
    };
    let when_too_large = text(&args.when_too_large, old.map(|old| &old.when_too_large));
    Saved {
        was: old.map(|old| old.name.clone()),
        name: args.name.clone(),
        description: text(&args.description, old.map(|old| &old.description)),
        tags: list(&args.tags, old.map(|old| &old.tags)),
        members: list(&args.members, old.map(|old| &old.members)),
        shape: text(&args.shape, old.map(|old| &old.shape)),
        when_too_large: if when_too_large.is_empty() { "refuse".to_owned() } else { when_too_large },
        reply: args.reply.clone(),
        merger: args.merger.clone(),
        shadow: args.shadow,
        shadow_share: args.shadow_share,
        shadow_tokens: args.shadow_tokens,
        budget: budget(args.budget_tokens, args.budget_dollars, args.per.as_deref()),
        no_budget: args.no_budget,
    }
}

/// As `--budget-tokens`, `--budget-dollars` and `--per` say.
pub fn budget(tokens: Option<u64>, dollars: Option<f64>, per: Option<&str>) -> Option<Budget> {
    let per = match per? {
        "day" => Period::Day,
        _ => Period::Month,
    };
    Some(Budget { tokens, dollars, per })
}

/// `50000 tokens and $2.50 a day`; nothing where there is none.
pub fn budget_in_words(budget: Option<&Budget>) -> String {
    let Some(Budget { tokens, dollars, per }) = budget else { return String::new() };
    let tokens = tokens.map(|tokens| format!("{tokens} tokens"));
    let dollars = dollars.map(in_dollars);
    let most: Vec<String> = tokens.into_iter().chain(dollars).collect();
    let per = if *per == Period::Day { "day" } else { "month" };
    format!("{} a {per}", most.join(" and "))
}

/// Everything about one of them.
fn show(collection: &CollectionView, out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(collection)?);
    }
    Ok(out.painted(&shown(collection).text(out.paint))?)
}

fn shown(collection: &CollectionView) -> Table {
    let practice = if collection.practice { " (practice)" } else { "" };
    let or =
        |text: &str, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text.to_owned() };
    let by_record = if collection.reply == "merged" { "chosen by record" } else { "" };
    let mut table = Table::default();
    for (title, text) in [
        ("name", format!("{}{practice}", collection.name)),
        ("members", collection.members.join(", ")),
        ("reply", collection.reply.clone()),
        ("merger", or(collection.merger.as_deref().unwrap_or_default(), by_record)),
        ("shadows", shadows(collection)),
        ("budget", budget_in_words(collection.budget.as_ref())),
        ("shape", or(&collection.shape, "automatic")),
        ("when too large", collection.when_too_large.clone()),
        ("tags", collection.tags.join(", ")),
        ("description", collection.description.clone()),
    ] {
        if !text.is_empty() {
            table.row([(title.to_owned(), Look::Dim), (text, Look::Plain)]);
        }
    }
    table
}

/// `2 others for 25 % of turns, at most 50000 tokens a day`; nothing where there are none.
fn shadows(collection: &CollectionView) -> String {
    let CollectionView { shadow, shadow_share, shadow_tokens, .. } = collection;
    if *shadow == 0 {
        return String::new();
    }
    let share = (shadow_share * 1e4).round() / 1e2;
    let most =
        if *shadow_tokens == 0 { String::new() } else { format!(", at most {shadow_tokens} tokens a day") };
    format!("{} for {share} % of turns{most}", counted(*shadow, "other"))
}

fn list(collections: &[CollectionView], out: Out) -> Result<(), Failure> {
    if out.json {
        return Ok(out.json(&collections)?);
    }
    let mut table = Table::new(&["name", "members", "description"]);
    for collection in collections {
        let practice = if collection.practice { " (practice)" } else { "" };
        table.row([
            (format!("{}{practice}", collection.name), Look::Plain),
            (collection.members.join(", "), Look::Plain),
            (collection.description.clone(), Look::Plain),
        ]);
    }
    Ok(table.print(out, "no collections yet")?)
}

#[cfg(test)]
mod tests {
    use control::dto::CollectionView;
    use expect_test::expect;

    use super::{changed, shown};
    use crate::args::SaveCollection;
    use crate::paint::Paint;

    #[test]
    fn only_what_is_given_changes() {
        let old = CollectionView {
            name: "core".to_owned(),
            description: "everyday".to_owned(),
            tags: vec!["code".to_owned()],
            members: vec!["alpha".to_owned()],
            shape: "review".to_owned(),
            reply: "all".to_owned(),
            merger: None,
            when_too_large: "skip".to_owned(),
            shadow: 0,
            shadow_share: 1.0,
            shadow_tokens: 0,
            budget: None,
            practice: false,
        };
        let args = SaveCollection {
            name: "core".to_owned(),
            members: vec!["beta".to_owned(), "alpha".to_owned()],
            description: None,
            tags: Vec::new(),
            shape: Some(String::new()),
            reply: Some("merged".to_owned()),
            merger: None,
            when_too_large: None,
            shadow: Some(2),
            shadow_share: None,
            shadow_tokens: Some(50_000),
            budget_tokens: Some(9_000),
            budget_dollars: None,
            per: Some("day".to_owned()),
            no_budget: false,
        };
        let saved = changed(&args, Some(&old));
        assert_eq!(saved.was.as_deref(), Some("core"));
        assert_eq!((saved.description.as_str(), saved.shape.as_str()), ("everyday", ""));
        assert_eq!(
            (saved.tags, saved.members),
            (old.tags.clone(), vec!["beta".to_owned(), "alpha".to_owned()])
        );
        assert_eq!(saved.when_too_large, "skip");
        assert_eq!((saved.reply.as_deref(), saved.merger), (Some("merged"), None));
        assert_eq!((saved.shadow, saved.shadow_share, saved.shadow_tokens), (Some(2), None, Some(50_000)));
        let new = changed(&args, None);
        assert_eq!((new.was, new.when_too_large.as_str(), new.tags.len()), (None, "refuse", 0));
    }

    #[test]
    fn all_of_one() {
        let collection = CollectionView {
            name: "core".to_owned(),
            description: "everyday".to_owned(),
            tags: Vec::new(),
            members: vec!["alpha".to_owned(), "beta".to_owned()],
            shape: String::new(),
            reply: "merged".to_owned(),
            merger: None,
            when_too_large: "refuse".to_owned(),
            shadow: 0,
            shadow_share: 1.0,
            shadow_tokens: 0,
            budget: None,
            practice: false,
        };
        expect![[r#"
            name            core
            members         alpha, beta
            reply           merged
            merger          chosen by record
            shape           automatic
            when too large  refuse
            description     everyday"#]]
        .assert_eq(&shown(&collection).text(Paint(false)).to_string());
    }
}
