//! The first corpus of every target: the goldens, and the triggers in the wire's own tests. Nothing of it is kept
//! in the repository, so a new golden is a new seed.

use std::{
    collections::BTreeSet,
    env, fs,
    hash::{DefaultHasher, Hasher},
    io,
    path::{Path, PathBuf},
};

use wire::Dialect;

use crate::input::{Input, members};

/// How seeds are cut, one so and the next so: whole, and in small pieces of which one holds nothing.
const CUTS: [&[u8]; 2] = [&[], &[3, 0, 1, 60]];

/// What a target's inputs hold.
#[derive(Clone, Copy, PartialEq)]
pub enum Seeds {
    Requests,
    Replies,
}

impl Seeds {
    /// Writes them to the folder that `WIRE_FUZZ_SEEDS` names, if it does. Called as a target starts: before
    /// corpora are read, and in a program that is built anyway.
    pub fn write_if_asked(self) {
        let Some(folder) = env::var_os("WIRE_FUZZ_SEEDS").map(PathBuf::from) else { return };
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let writer = Writer { kind: self, folder };
        writer.all(&root).unwrap_or_else(|error| panic!("seeds in {}: {error}", writer.folder.display()));
    }
}

struct Writer {
    kind: Seeds,
    folder: PathBuf,
}

impl Writer {
    fn all(&self, root: &Path) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        for case in fs::read_dir(root.join("tests/golden"))? {
            let case = case?.path();
            if case.is_dir() {
                self.golden(&case)?;
            }
        }
        for folder in ["wire_bugs", "dialects", "dialects/gemini"] {
            for file in fs::read_dir(root.join("src-tauri/wire/tests").join(folder))? {
                let path = file?.path();
                if path.extension().is_some_and(|extension| extension == "rs") {
                    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                    let dialect = dialect_of(&stem).unwrap_or_default();
                    self.literals(dialect, &fs::read_to_string(&path)?)?;
                }
            }
        }
        Ok(())
    }

    fn golden(&self, case: &Path) -> io::Result<()> {
        let own = dialect_of(&case.file_name().unwrap_or_default().to_string_lossy());
        for file in fs::read_dir(case)? {
            let file = file?;
            let (name, body) = (file.file_name().to_string_lossy().into_owned(), fs::read(file.path())?);
            let Some(dialect) = dialect_of(&name).or(own) else { continue };
            if name.ends_with("request.json") {
                self.request(dialect, &body)?;
            } else if name.ends_with(".stream") || name.ends_with("reply.json") {
                self.reply(dialect, &body)?;
            }
        }
        Ok(())
    }

    /// Strings in a test's source that are JSON, or a stream.
    fn literals(&self, dialect: Dialect, source: &str) -> io::Result<()> {
        for text in literals(source) {
            if text.starts_with('{') || text.starts_with('[') {
                self.request(dialect, text.as_bytes())?;
                let is_line = dialect == Dialect::Ollama;
                let reply = if is_line { format!("{text}\n") } else { format!("data: {text}\n\n") };
                self.reply(dialect, reply.as_bytes())?;
            } else if ["data:", "event:", ":", "id:"].iter().any(|start| text.starts_with(start)) {
                self.reply(dialect, text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn request(&self, dialect: Dialect, body: &[u8]) -> io::Result<()> {
        let at = Dialect::ALL.iter().position(|it| *it == dialect).unwrap_or_default();
        // Six dialects, then what an option says: see `Input::option`.
        let option = hash(body) as usize % 16;
        self.write(Seeds::Requests, &Input::written((at + 6 * option) as u8, &[], body))
    }

    fn reply(&self, dialect: Dialect, body: &[u8]) -> io::Result<()> {
        let at = members().position(|it| it == dialect).unwrap_or_default();
        let cuts = CUTS[hash(body) as usize % CUTS.len()];
        self.write(Seeds::Replies, &Input::written(at as u8, cuts, body))
    }

    /// The name is the content's hash, so that writing twice changes nothing.
    fn write(&self, kind: Seeds, bytes: &[u8]) -> io::Result<()> {
        if kind != self.kind {
            return Ok(());
        }
        fs::write(self.folder.join(format!("seed-{:016x}", hash(bytes))), bytes)
    }
}

/// The dialect a name begins with: `chat-plain`, `ollama.client.stream`.
fn dialect_of(name: &str) -> Option<Dialect> {
    Dialect::ALL.iter().copied().find(|it| name.starts_with(&format!("{it:?}").to_lowercase()))
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hash = DefaultHasher::new();
    hash.write(bytes);
    hash.finish()
}

/// The string literals of Rust source, unescaped as far as JSON needs it. Good enough for seeds.
fn literals(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = source;
    while let Some(at) = rest.find('"') {
        let hashes = rest[..at].bytes().rev().take_while(|byte| *byte == b'#').count();
        let is_raw = rest[..at - hashes].ends_with('r');
        let (before, body) = (at, &rest[at + 1..]);
        if is_raw {
            let close = format!("\"{}", "#".repeat(hashes));
            let Some(end) = body.find(&close) else { break };
            found.insert(body[..end].replace("{{", "{").replace("}}", "}"));
            rest = &body[end + close.len()..];
        } else if rest[..before].ends_with('\'') {
            rest = body;
        } else {
            let Some(end) = end_of_string(body) else { break };
            let text = format!("\"{}\"", &body[..end]);
            if let Ok(text) = serde_json::from_str::<String>(&text.replace("\\\n", "")) {
                found.insert(text.replace("{{", "{").replace("}}", "}"));
            }
            rest = &body[end + 1..];
        }
    }
    found
}

fn end_of_string(body: &str) -> Option<usize> {
    let mut escaped = false;
    body.bytes().position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })
}
