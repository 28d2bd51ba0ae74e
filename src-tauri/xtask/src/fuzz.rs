//! `cargo xtask fuzz`: builds the targets of `src-tauri/fuzz` with coverage's instrumentation and lets libFuzzer run
//! each for a while. Any toolchain will do: the flags are those that `cargo fuzz --sanitizer none` gives.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{
    shell::{self, Tree},
    system,
};

#[derive(Args)]
pub struct Options {
    /// How long each target runs.
    #[arg(long, default_value_t = SHORT)]
    seconds: u32,
    /// Only these targets.
    #[arg(value_name = "TARGET")]
    only: Vec<String>,
}

/// Seconds that show a target is alive and what is known stays mended.
const SHORT: u32 = 8;

/// The longest input, in bytes: several events of a stream, or a conversation.
const MAX_LEN: u32 = 8192;

const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Every target for a few seconds.
pub fn short(tree: &Tree) -> Result<()> {
    fuzz(tree, &Options { seconds: SHORT, only: Vec::new() })
}

pub fn fuzz(tree: &Tree, options: &Options) -> Result<()> {
    system::need(tree, &[system::COMPILER])?;
    let chosen = chosen(targets(tree)?, &options.only)?;
    // Named, so that build scripts and macros are built without the instrumentation.
    let host = host(tree)?;
    let folder = tree.target().join("fuzz");
    let build = ["build", "--locked", "--release", "--bins", "--manifest-path", "src-tauri/fuzz/Cargo.toml"];
    shell::run(
        tree.cargo(build).args(["--target", &host]).arg("--target-dir").arg(&folder).env("RUSTFLAGS", FLAGS),
    )?;
    let failed: Vec<String> = chosen
        .into_iter()
        .filter_map(|target| run(tree, &folder, &host, &target, options.seconds).err())
        .map(|error| format!("{error:#}"))
        .collect();
    if failed.is_empty() { Ok(()) } else { bail!("{}", failed.join("\n\n")) }
}

/// Runs one target, its words to a file, and prints one line of what came of it.
fn run(tree: &Tree, folder: &Path, host: &str, target: &str, seconds: u32) -> Result<()> {
    let own = |kind: &str| -> Result<PathBuf> {
        let path = folder.join(kind).join(target);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(path)
    };
    let (corpus, seeds, findings) = (own("corpus")?, own("seeds")?, own("findings")?);
    let log = folder.join(format!("{target}.log"));
    let file = fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let program = folder.join(host).join("release").join(format!("{target}{}", env::consts::EXE_SUFFIX));
    let mut command = Command::new(&program);
    command
        .current_dir(&tree.root)
        .env("WIRE_FUZZ_SEEDS", &seeds)
        .args([format!("-max_total_time={seconds}"), format!("-max_len={MAX_LEN}")])
        .args(["-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix={}/", findings.display()))
        .args([&corpus, &seeds])
        .stderr(file);
    let status = command.status().with_context(|| format!("{} could not be started", program.display()))?;
    let words = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    println!("{target:<9} {}", summary(&words));
    if !status.success() {
        bail!(
            "fuzz target \"{target}\" found something ({status}):\n{}\nThe input is in {}; `{} INPUT` runs it again, \
             and everything said is in {}",
            finding(&words),
            findings.display(),
            program.display(),
            log.display()
        );
    }
    Ok(())
}

/// A file in `targets` each.
fn targets(tree: &Tree) -> Result<Vec<String>> {
    let folder = tree.root.join("src-tauri/fuzz/targets");
    let files = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let stem = |path: PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = files.flatten().filter_map(|file| stem(file.path())).collect();
    names.sort();
    Ok(names)
}

fn chosen(all: Vec<String>, only: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = only.iter().find(|name| !all.contains(name)) {
        bail!("no fuzz target \"{unknown}\": there are {}", all.join(", "));
    }
    Ok(if only.is_empty() { all } else { only.to_vec() })
}

fn host(tree: &Tree) -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = shell::output(tree.command(rustc).arg("-vV")).context("`rustc -vV` failed")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}

/// `22258 executions (1059 a second), 8459 edges, 888 inputs kept`
fn summary(words: &str) -> String {
    let stat = |name: &str| {
        let line = words.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or("?").to_owned()
    };
    // The last line of progress: `#1516 NEW cov: 8459 ft: 19922 corp: 888/278Kb …`
    let after = |name: &str| {
        let progress = words.lines().rev().find(|line| line.starts_with('#') && line.contains(name));
        progress
            .and_then(|line| line.split(name).nth(1)?.split_whitespace().next())
            .map_or("?", |value| value.split('/').next().unwrap_or(value))
            .to_owned()
    };
    format!(
        "{} executions ({} a second), {} edges, {} inputs kept",
        stat("stat::number_of_executed_units:"),
        stat("stat::average_exec_per_sec:"),
        after("cov:"),
        after("corp:")
    )
}

/// From the first word of trouble on, without the backtrace.
fn finding(words: &str) -> String {
    let trouble = |line: &&str| ["panicked at", "ERROR:", "SUMMARY:"].iter().any(|mark| line.contains(mark));
    let from = words.lines().position(|line| trouble(&line)).unwrap_or_default();
    let lines: Vec<&str> =
        words.lines().skip(from).take_while(|line| *line != "stack backtrace:").take(40).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "INFO: Seed: 1\n#1316\tINITED cov: 5652 ft: 14770 corp: 559/276Kb exec/s: 87 rss: 33Mb\n\
                       #1317\tNEW    cov: 5654 ft: 14772 corp: 560/276Kb lim: 7889 exec/s: 87 rss: 33Mb\n\
                       thread 'x' panicked at a.rs:1:1:\nassertion failed\nstack backtrace:\n  1: f\n\
                       stat::number_of_executed_units: 1380\nstat::average_exec_per_sec:     86\n";

    #[test]
    fn what_libfuzzer_says_is_told_in_one_line() {
        assert_eq!(summary(LOG), "1380 executions (86 a second), 5654 edges, 560 inputs kept");
        assert_eq!(summary(""), "? executions (? a second), ? edges, ? inputs kept");
    }

    #[test]
    fn a_finding_is_told_without_its_backtrace() {
        assert_eq!(finding(LOG), "thread 'x' panicked at a.rs:1:1:\nassertion failed");
    }

    #[test]
    fn an_unknown_target_names_the_known() {
        let all = || vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(chosen(all(), &[]).unwrap(), all());
        let error = chosen(all(), &["c".to_owned()]).unwrap_err().to_string();
        assert_eq!(error, "no fuzz target \"c\": there are a, b");
    }
}
