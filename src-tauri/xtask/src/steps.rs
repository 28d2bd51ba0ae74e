//! Steps, one after another: each says its name, what it does and how long it took; the first that fails ends
//! the run.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::shell::Tree;

/// A named part of `cargo xtask test`.
pub struct Step {
    pub name: &'static str,
    pub what: &'static str,
    /// Groups of system packages.
    pub needs: &'static [&'static str],
    pub run: fn(&Tree) -> Result<()>,
}

/// The steps named, in their own order; all of them when none is.
pub fn chosen<'a>(steps: &'a [Step], only: &[String]) -> Result<Vec<&'a Step>> {
    if let Some(unknown) = only.iter().find(|name| !steps.iter().any(|step| step.name == **name)) {
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        bail!("no step \"{unknown}\": there are {}", names.join(", "));
    }
    Ok(steps.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect())
}

/// Runs them, and prints a table of times at the end, whatever the end was.
pub fn run(tree: &Tree, steps: &[&Step]) -> Result<()> {
    let mut times = Vec::new();
    for step in steps {
        println!("\n── {}: {}", step.name, step.what);
        let began = Instant::now();
        let done = (step.run)(tree);
        times.push((step.name, began.elapsed()));
        if let Err(error) = done {
            println!("\n{}", table(&times));
            return Err(error).with_context(|| {
                format!("step \"{0}\" failed (again with `cargo xtask test {0}`)", step.name)
            });
        }
        println!("── {}: done in {}", step.name, minutes(began.elapsed()));
    }
    println!("\n{}", table(&times));
    Ok(())
}

fn table(times: &[(&str, Duration)]) -> String {
    let width = times.iter().map(|(name, _)| name.len()).chain([5]).max().unwrap_or_default();
    let mut table = String::new();
    let total = times.iter().map(|(_, time)| *time).sum();
    for (name, time) in times.iter().chain([&("total", total)]) {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name:<width$}  {:>10}", minutes(*time));
    }
    table
}

/// `3 min 07 s`, `12.3 s`
fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> [Step; 3] {
        [
            Step { name: "first", what: "", needs: &[], run: |_| Ok(()) },
            Step { name: "second", what: "", needs: &[], run: |_| bail!("no luck") },
            Step { name: "third", what: "", needs: &[], run: |_| bail!("must not be reached") },
        ]
    }

    fn names(only: &[&str]) -> Result<Vec<&'static str>> {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        Ok(chosen(&steps(), &only)?.iter().map(|step| step.name).collect())
    }

    #[test]
    fn steps_keep_their_own_order() {
        assert_eq!(names(&[]).unwrap(), ["first", "second", "third"]);
        assert_eq!(names(&["third", "first"]).unwrap(), ["first", "third"]);
    }

    #[test]
    fn an_unknown_step_names_the_known() {
        let error = names(&["fourth"]).unwrap_err().to_string();
        assert_eq!(error, "no step \"fourth\": there are first, second, third");
    }

    #[test]
    fn the_first_failure_ends_the_run() {
        let tree = Tree { root: "nowhere".into() };
        let steps = steps();
        let error = run(&tree, &steps.iter().collect::<Vec<_>>()).unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "step \"second\" failed (again with `cargo xtask test second`): no luck"
        );
    }

    #[test]
    fn times_read_as_a_person_says_them() {
        assert_eq!(minutes(Duration::from_millis(12_345)), "12.3 s");
        assert_eq!(minutes(Duration::from_secs(187)), "3 min 07 s");
        assert_eq!(
            table(&[("fmt", Duration::from_secs(1)), ("clippy", Duration::from_secs(60))]),
            "fmt          1.0 s\nclippy  1 min 00 s\ntotal   1 min 01 s\n"
        );
    }
}
