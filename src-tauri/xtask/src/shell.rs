//! Other programs: started where the tree is, seen on the terminal, failing with their own command line.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

/// The checked-out repository.
pub struct Tree {
    pub root: PathBuf,
}

impl Tree {
    /// The tree this chore was built from. Cargo names it at run time, so a moved clone is found where it is.
    pub fn find() -> Result<Tree> {
        let own = env::var_os("CARGO_MANIFEST_DIR").context("start this as `cargo xtask …`")?;
        let root = Path::new(&own).ancestors().nth(2).context("xtask is not two folders deep any more")?;
        Ok(Tree { root: root.to_owned() })
    }

    pub fn ui(&self) -> PathBuf {
        self.root.join("ui")
    }

    /// Where everything that is built goes.
    pub fn target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.root.join("target"), |dir| self.root.join(dir))
    }

    /// Where cargo puts `programs` of a profile (`debug`, `release`).
    pub fn built(&self, profile: &str, program: &str) -> PathBuf {
        self.target().join(profile).join(format!("{program}{}", env::consts::EXE_SUFFIX))
    }

    /// Cargo itself, in the tree.
    pub fn cargo<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments);
        command
    }

    /// npm, in the window's folder.
    pub fn npm<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.npm_tool("npm");
        command.args(arguments).current_dir(self.ui());
        command
    }

    /// `npm` or `npx`, in the tree. On Windows they are scripts, which only a command interpreter starts.
    pub fn npm_tool(&self, name: &str) -> Command {
        if cfg!(windows) {
            let mut command = self.command("cmd");
            command.args(["/C", name]);
            command
        } else {
            self.command(name)
        }
    }

    /// Any program, in the tree, without what `cargo run` told this one about itself: build scripts watch
    /// those variables and would run again.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
                command.env_remove(name.as_ref());
            }
        }
        command
    }
}

/// Prints the command, runs it on this terminal, and fails with its own words when it does.
pub fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// What a command prints, trimmed, or `None` when it fails or does not exist.
pub fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Becomes the program where the platform can, so that signals reach it and not a parent of it.
pub fn become_program(command: &mut Command) -> Result<()> {
    let line = line(command);
    println!("$ {line}");
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(command);
        Err(error).with_context(|| format!("`{line}` could not be started"))
    }
    #[cfg(not(unix))]
    {
        let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
        if status.success() { Ok(()) } else { bail!("`{line}` failed ({status})") }
    }
}

/// As a person would type it.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_its_command() {
        let mut command = Command::new("cargo");
        command.args(["--no-such-flag"]).stderr(Stdio::null());
        let error = run(&mut command).unwrap_err().to_string();
        assert!(error.starts_with("`cargo --no-such-flag` failed ("), "{error}");
    }

    #[test]
    fn a_missing_program_has_no_output() {
        assert_eq!(output(&mut Command::new("no-such-program-here")), None);
    }
}
