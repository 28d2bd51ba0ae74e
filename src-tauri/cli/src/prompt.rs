//! The prompt of `bench ask`: from the command line, standard input and files.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

use crate::args::Ask;
use crate::failure::Failure;

/// The whole prompt: what was typed or piped in, then each file under its name.
pub fn prompt(args: &Ask) -> Result<String, Failure> {
    let piped = !io::stdin().is_terminal();
    let mut prompt = match args.prompt.as_deref() {
        Some("-") => standard_input()?,
        Some(prompt) => prompt.to_owned(),
        // With files or images and no prompt these are the prompt: an open pipe nobody writes to would hang here.
        None if !(args.files.is_empty() && args.images.is_empty()) => String::new(),
        None if piped => standard_input()?,
        None => {
            return Err(Failure::Usage(
                "a prompt is missing: write it, or - to read standard input".to_owned(),
            ));
        }
    };
    for file in &args.files {
        append(&mut prompt, file, &read(file)?);
    }
    if prompt.trim().is_empty() && args.images.is_empty() {
        return Err(Failure::Usage("the prompt is empty".to_owned()));
    }
    Ok(prompt)
}

fn append(prompt: &mut String, file: &Path, text: &str) {
    if !prompt.is_empty() {
        prompt.truncate(prompt.trim_end().len());
        prompt.push_str("\n\n");
    }
    let fence = fence(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    prompt.push_str(&format!("{}:\n\n{fence}\n{text}{end}{fence}\n", file.display()));
}

/// More backticks than any run of them in the text, at least three.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

fn read(file: &Path) -> Result<String, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| wrong("this is not a text file (UTF-8)".to_owned()))
}

/// Everything on standard input, as text.
pub fn standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|error| Failure::Usage(format!("standard input cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| Failure::Usage("standard input is not text (UTF-8)".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::append;

    #[test]
    fn files_stand_behind_the_prompt_in_fences_of_their_own() {
        let cases = [
            ("look", "a.rs", "fn a() {}\n", "look\n\na.rs:\n\n```\nfn a() {}\n```\n"),
            ("", "a.rs", "x", "a.rs:\n\n```\nx\n```\n"),
            ("look\n\n\n", "b.md", "````\nx\n````\n", "look\n\nb.md:\n\n`````\n````\nx\n````\n`````\n"),
        ];
        for (prompt, file, text, wanted) in cases {
            let mut whole = prompt.to_owned();
            append(&mut whole, Path::new(file), text);
            assert_eq!(whole, wanted);
        }
    }
}
