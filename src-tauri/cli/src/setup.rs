//! `bench import` and `bench export`: the set-up file.

use std::io::Write;
use std::path::Path;

use control::Remote;
use control::dto::{Nothing, SetupText};

use crate::args::{Common, Export, Import};
use crate::consent::consent;
use crate::failure::Failure;
use crate::out::Out;
use crate::prompt::standard_input;

/// The whole file is checked before anything changes; the gateway says where it is wrong.
pub async fn import(remote: &Remote, text: String, out: Out) -> Result<(), Failure> {
    let imported = remote.import_setup(SetupText { text }).await?;
    if out.json {
        out.json(&imported)?;
    } else if imported.changes.is_empty() {
        out.line("nothing to change")?;
    } else {
        out.line(&imported.changes.join("\n"))?;
    }
    Ok(())
}

/// The file's text, read before a gateway is opened for it.
pub fn read(args: &Import) -> Result<String, Failure> {
    if args.file == Path::new("-") {
        return standard_input();
    }
    std::fs::read_to_string(&args.file)
        .map_err(|error| Failure::refused(format!("{} cannot be read: {error}", args.file.display())))
}

pub async fn export(remote: &Remote, common: &Common, args: &Export, out: Out) -> Result<(), Failure> {
    let text = remote.export_setup(Nothing {}).await?.text;
    match args.file.as_deref().filter(|file| *file != Path::new("-")) {
        None => out.line(text.trim_end())?,
        Some(file) => {
            if file.exists() {
                consent(common, &format!("{} exists; overwrite it?", file.display()))?;
            }
            write(file, &text).map_err(|error| {
                Failure::refused(format!("{} cannot be written: {error}", file.display()))
            })?;
            out.note(&format!("wrote {}", file.display()));
        }
    }
    Ok(())
}

/// In one step: a reader sees the old file or the new one.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    // A device or a pipe is written to, not replaced.
    if file.exists() && !file.is_file() {
        return std::fs::write(file, text);
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = file.with_file_name(name);
    let mut written = std::fs::File::create(&part)?;
    written.write_all(text.trim_end().as_bytes())?;
    written.write_all(b"\n")?;
    written.sync_all()?;
    drop(written);
    std::fs::rename(part, file)
}
