//! Golden cases, `tests/golden/<dialect>-<case>/`. Inputs stand beside what must come of them, bytes compared:
//!
//! | input                                      | gives                                                        |
//! | ------------------------------------------ | ------------------------------------------------------------ |
//! | `client.request.json`                      | `inner.txt`, or `client.error.json` when it is refused       |
//! | where only a relay can carry it            | `bound.error.json`, for a caller when there is no such member |
//! | with `target.json` and `route.json`        | `upstream.request.json`, `lossy.txt`, `relay.request.json`   |
//! | `upstream.stream` (a member's reply body)  | `events.txt`, `client.stream`, `client.reply.json`           |
//!
//! What comes of a case in another dialect than its own has that dialect's name before it
//! (`anthropic.upstream.request.json`). Every upstream body is also cut in two at every byte and must give the
//! same events. `UPDATE_EXPECT=1` rewrites what comes out; read the diff.

use std::{
    fs,
    path::{Path, PathBuf},
};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use wire::{
    ApiError, Dialect, Event, Form, Kind, Member, Origin, Reply, ReplyHead, Request, Restore, Route, Target,
    Usage, format,
};

fn main() -> std::io::Result<()> {
    let mut cases: Vec<PathBuf> =
        fs::read_dir(root())?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    cases.sort();
    assert!(!cases.is_empty(), "no golden cases");
    let trials = cases
        .into_iter()
        .map(|case| {
            let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Trial::test(name, move || check(&case).map_err(Failed::from))
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

fn check(case: &Path) -> Result<(), String> {
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    let own = Dialect::ALL.iter().find(|dialect| Some(word(**dialect).as_str()) == name.split('-').next());
    let own = *own.ok_or_else(|| format!("{name}: the case's name must begin with its dialect"))?;
    let mut outcome = Outcome { case, wrong: Vec::new() };
    let asked = requests(own, &mut outcome)?;
    if let Ok(body) = fs::read(case.join("upstream.stream")) {
        reply(own, asked.as_ref(), &body, &mut outcome)?;
    }
    if outcome.wrong.is_empty() { Ok(()) } else { Err(outcome.wrong.join("\n\n")) }
}

/// A dialect's name in files: `chat`.
fn word(dialect: Dialect) -> String {
    json!(dialect).as_str().unwrap_or_default().to_owned()
}

/// The prefix of what comes of a case in a dialect: none in its own.
fn prefix(own: Dialect, dialect: Dialect) -> String {
    if own == dialect { String::new() } else { format!("{}.", word(dialect)) }
}

/// Reads the client's request and writes it for a member of every dialect.
fn requests(own: Dialect, outcome: &mut Outcome<'_>) -> Result<Option<Request>, String> {
    let dialect = format(own);
    let body = fs::read(outcome.case.join("client.request.json"))
        .map_err(|e| format!("client.request.json: {e}"))?;
    let route = route(outcome.case)?;
    let route = Route { model: route.0.as_deref(), form: route.1 };
    let request = match dialect.decode_request(&body, &route) {
        Ok(request) => request,
        Err(error) => {
            let mut refusal = dialect.encode_error(&error, "r1", None);
            refusal.push(b'\n');
            outcome.compare("client.error.json", &refusal);
            return Ok(None);
        }
    };
    outcome.compare("inner.txt", format!("{request:#?}\n").as_bytes());
    match request.bound() {
        Some(error) => {
            let mut refusal = dialect.encode_error(&error, "r1", None);
            refusal.push(b'\n');
            outcome.compare("bound.error.json", &refusal);
        }
        None if outcome.case.join("bound.error.json").exists() => {
            outcome.wrong.push("bound.error.json is there, but nothing binds the request".to_owned());
        }
        None => {}
    }
    let target = target(outcome.case)?;
    for member in Dialect::ALL.iter().filter(|member| format(**member).is_spoken_to_members()) {
        let prefix = prefix(own, *member);
        let encoded = format(*member).encode_request(&request, &target);
        let again = format(*member).encode_request(&request, &target);
        if encoded.body != again.body {
            return Err(format!("{}: two encodings differ", word(*member)));
        }
        outcome
            .compare(&format!("{prefix}upstream.request.json"), &[encoded.body.as_slice(), b"\n"].concat());
        let lossy: String = encoded.notices.iter().map(|n| format!("{}={}\n", n.field, n.reason)).collect();
        outcome.compare(&format!("{prefix}lossy.txt"), lossy.as_bytes());
    }
    if dialect.is_spoken_to_members() {
        let relayed = dialect.relay_request(&body, &request, &target).map_err(|error| error.message)?;
        outcome.compare("relay.request.json", &relayed.body);
    }
    Ok(Some(request))
}

/// `route.json`: `{"model": "…", "form": "events" | "array" | "generate"}`, for dialects whose path says them.
fn route(case: &Path) -> Result<(Option<String>, Form), String> {
    let Ok(text) = fs::read(case.join("route.json")) else { return Ok((None, Form::Usual)) };
    let value: Value = serde_json::from_slice(&text).map_err(|error| format!("route.json: {error}"))?;
    let form = match value["form"].as_str() {
        None => Form::Usual,
        Some("generate") => Form::Generate,
        Some("events") => Form::Events,
        Some("array") => Form::Array,
        Some(other) => return Err(format!("route.json: no form {other}")),
    };
    Ok((value["model"].as_str().map(str::to_owned), form))
}

fn target(case: &Path) -> Result<Target, String> {
    // As a routed turn's: the caller's options go on unless the case says otherwise.
    let target = Target { served: "vendor/alpha-1".to_owned(), member: Member(1), ..Target::default() };
    let Ok(text) = fs::read(case.join("target.json")) else { return Ok(target) };
    let value: Value = serde_json::from_slice(&text).map_err(|error| format!("target.json: {error}"))?;
    Ok(Target {
        served: value["served"].as_str().unwrap_or("vendor/alpha-1").to_owned(),
        options: value["options"].as_object().cloned().unwrap_or_default(),
        max_output: value["max_output"].as_u64(),
        callers_options: value["callers_options"].as_bool().unwrap_or_default(),
        ..target
    })
}

/// Reads a member's reply and writes it for callers of every dialect, streamed and whole.
fn reply(
    own: Dialect,
    asked: Option<&Request>,
    body: &[u8],
    outcome: &mut Outcome<'_>,
) -> Result<(), String> {
    let restore = match asked {
        Some(request) => format(own).encode_request(request, &target(outcome.case)?).restore,
        None => Restore::default(),
    };
    let events = decode(own, &restore, &[body]);
    for cut in 0..=body.len() {
        let (before, after) = body.split_at(cut);
        if decode(own, &restore, &[before, after]) != events {
            return Err(format!("upstream.stream cut at byte {cut} gives other events"));
        }
    }
    let lines: String = events.iter().map(|event| format!("{event:?}\n")).collect();
    outcome.compare("events.txt", lines.as_bytes());
    let model = asked.map(|request| request.model.clone()).unwrap_or_default();
    for caller in Dialect::ALL {
        let prefix = prefix(own, *caller);
        let head = ReplyHead {
            id: "p1".to_owned(),
            created: 1_795_000_000,
            model: model.clone(),
            include_usage: true,
            input_tokens: Some(10),
            form: asked.filter(|_| own == *caller).map(|request| request.form).unwrap_or_default(),
            echo: asked.filter(|_| own == *caller).map(|request| request.echo.clone()).unwrap_or_default(),
        };
        outcome.compare(&format!("{prefix}client.stream"), &streamed(*caller, &head, &events));
        if matches!(events.last(), Some(Event::Finish { .. })) {
            let bench = json!({ "panel": "p1" });
            let whole = format(*caller).encode_reply(&head, &Reply::from_events(&events), Some(&bench));
            outcome.compare(&format!("{prefix}client.reply.json"), &[whole.as_slice(), b"\n"].concat());
        }
    }
    Ok(())
}

fn streamed(caller: Dialect, head: &ReplyHead, events: &[Event]) -> Vec<u8> {
    let bench = json!({ "panel": "p1" });
    let mut encoder = format(caller).encoder(head.clone());
    let mut stream = Vec::new();
    for event in events {
        stream.extend(encoder.event(event));
        match event {
            Event::Finish { .. } => stream.extend(encoder.finish(Usage::default(), Some(&bench))),
            Event::Error(error) => {
                let error =
                    ApiError::new(Kind::Upstream, Origin::Upstream, "no_answer", error.message.clone());
                stream.extend(encoder.error(&error, Some(&bench)));
            }
            _ => {}
        }
    }
    stream
}

fn decode(dialect: Dialect, restore: &Restore, pieces: &[&[u8]]) -> Vec<Event> {
    let mut decoder = restore.over(format(dialect).decoder());
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events);
    }
    decoder.end(&mut events);
    events
}

struct Outcome<'a> {
    case: &'a Path,
    wrong: Vec<String>,
}

impl Outcome<'_> {
    fn compare(&mut self, name: &str, actual: &[u8]) {
        let path = self.case.join(name);
        let expected = fs::read(&path).unwrap_or_default();
        if expected == actual {
            return;
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            if let Err(error) = fs::write(&path, actual) {
                self.wrong.push(format!("{name}: {error}"));
            }
            return;
        }
        self.wrong.push(format!(
            "{name} differs (UPDATE_EXPECT=1 rewrites it)\n--- expected\n{}\n--- actual\n{}",
            String::from_utf8_lossy(&expected),
            String::from_utf8_lossy(actual)
        ));
    }
}
