//! Which conversation a turn belongs to (route.md §3): by the session that its client names, else by how the
//! conversation begins; always by its system text too, so that an agent's side requests are their own.

use http::HeaderMap;
use sha2::{Digest, Sha256};
use wire::{Request, Role};

/// The headers in which clients name their session, in the order in which they are believed.
const SESSION_HEADERS: [&str; 4] =
    ["x-session-id", "x-claude-code-session-id", "session_id", "x-session-affinity"];

/// A conversation's key, as hex: what its next turn is known by. `collection` is what was asked for, `caller` whose
/// key asked.
pub(crate) fn key(collection: &str, caller: &str, request: &Request, headers: &HeaderMap) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(collection);
    add(caller);
    match session(request, headers) {
        Some(session) => {
            add("session");
            add(session);
        }
        None => {
            add("text");
            for part in first_user(request) {
                add(part);
            }
        }
    }
    for text in system_texts(request) {
        text.lines().filter(|line| !is_volatile(line)).for_each(&mut add);
    }
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    hash.finalize().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What names the conversation for a person: the beginning of what they said first, on one line. `scrub` masks keys
/// before it is cut.
pub(crate) fn title(request: &Request, scrub: impl Fn(&str) -> String) -> String {
    let said = user_texts(request).map(said).find(|text| !text.is_empty());
    let Some(said) = said.or_else(|| user_texts(request).next()) else { return String::new() };
    let mut title = String::new();
    for word in said.split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        // A key that begins in the title is in it whole; what is longer is none.
        title.push_str(&word[..word.floor_char_boundary(LONGEST_KEY)]);
        if title.len() >= TITLE * 4 {
            break;
        }
    }
    scrub(&title).chars().take(TITLE).collect()
}

/// The person's own words of a text: without the blocks that an agent puts before them, `<system-reminder>…</…>` and
/// their like, and without the instructions that Codex sends as if they were said.
fn said(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(behind) = behind_block(rest) {
        rest = behind.trim_start();
    }
    if rest.starts_with("# AGENTS.md instructions") { "" } else { rest }
}

/// What stands behind the element that a text begins with, if it begins with one that is closed.
fn behind_block(text: &str) -> Option<&str> {
    let name = text.strip_prefix('<')?;
    let name = &name[..name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))?];
    if name.is_empty() {
        return None;
    }
    let (_, behind) = text.split_once(&format!("</{name}>"))?;
    Some(behind)
}

const LONGEST_KEY: usize = 8 * 1024;
/// Characters of a title.
const TITLE: usize = 90;

fn session<'a>(request: &'a Request, headers: &'a HeaderMap) -> Option<&'a str> {
    let stated = SESSION_HEADERS.iter().find_map(|name| headers.get(*name)?.to_str().ok());
    let told =
        || request.metadata.session.as_deref().or_else(|| users_session(request.metadata.user.as_deref()?));
    let known = stated.or_else(told).or(request.cache_key.as_deref());
    known.map(str::trim).filter(|session| !session.is_empty())
}

/// Claude Code puts its session into the user's id: `user_…_account_…_session_<id>`, or as JSON with a `session_id`.
fn users_session(user: &str) -> Option<&str> {
    let (_, rest) = user.rsplit_once("_session_").or_else(|| user.split_once("\"session_id\""))?;
    let end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
    let rest = rest.trim_start_matches([':', ' ', '"']);
    rest.split(end).next()
}

fn first_user(request: &Request) -> impl Iterator<Item = &str> {
    let first = request.messages.iter().find(|message| message.role == Role::User);
    first.into_iter().flat_map(|message| &message.parts).filter_map(|part| part.content.as_text())
}

fn user_texts(request: &Request) -> impl Iterator<Item = &str> {
    let said = request.messages.iter().filter(|message| message.role == Role::User);
    said.flat_map(|message| &message.parts).filter_map(|part| part.content.as_text())
}

fn system_texts(request: &Request) -> impl Iterator<Item = &str> {
    let system = |role| matches!(role, Role::System | Role::Developer);
    let turns = request.messages.iter().filter(move |message| system(message.role));
    turns.flat_map(|message| &message.parts).filter_map(|part| part.content.as_text())
}

/// Whether a line says when it was written, or how it is billed: it changes while the conversation stays the same.
fn is_volatile(line: &str) -> bool {
    line.contains("billing-header") || has_date(line.as_bytes()) || {
        let line = line.to_ascii_lowercase();
        ["today's date", "current date", "current time", "today is", "the date is"]
            .iter()
            .any(|words| line.contains(words))
    }
}

/// `2026-11-30` or `15:45:01` anywhere.
fn has_date(line: &[u8]) -> bool {
    let fits = |form: &[u8]| {
        line.windows(form.len()).any(|window| {
            let same = |(byte, wanted): (&u8, &u8)| match wanted {
                b'0' => byte.is_ascii_digit(),
                mark => byte == mark,
            };
            window.iter().zip(form).all(same)
        })
    };
    fits(b"0000-00-00") || fits(b"00:00:00")
}

#[cfg(test)]
mod tests {
    use http::HeaderName;
    use wire::{Dialect, Route};

    use super::*;

    fn of(api: Dialect, body: &str, headers: &[(&'static str, &str)]) -> String {
        let request = wire::format(api).decode_request(body.as_bytes(), &Route::default()).unwrap();
        let header =
            |(name, value): &(&'static str, &str)| (HeaderName::from_static(name), value.parse().unwrap());
        key("agents", "local", &request, &headers.iter().map(header).collect())
    }

    fn chat(system: &str, user: &str, rest: &str) -> String {
        let (system, user) = (serde_json::json!(system), serde_json::json!(user));
        let body = format!(
            r#"{{"model":"x","messages":[{{"role":"system","content":{system}}},{{"role":"user","content":{user}}}{rest}]}}"#
        );
        of(Dialect::Chat, &body, &[])
    }

    #[test]
    fn a_conversation_that_goes_on_is_the_same() {
        let first = chat("be brief", "hello", "");
        let later = r#",{"role":"assistant","content":"hi"},{"role":"user","content":"more"}"#;
        assert_eq!(chat("be brief", "hello", later), first);
        assert_eq!(first.len(), 64);
        for other in [chat("be long", "hello", ""), chat("be brief", "hello you", ""), chat("", "hello", "")]
        {
            assert_ne!(other, first);
        }
    }

    #[test]
    fn what_only_says_when_does_not_count() {
        let first = chat("be brief\nToday's date: Monday\nend", "hello", "");
        for system in [
            "be brief\nToday's date: Tuesday\nend",
            "be brief\nnow 2026-11-30\nend",
            "x-anthropic-billing-header: cch=17\nbe brief\nend",
            "be brief\nat 15:45:01\nend\nThe current time is noon",
        ] {
            assert_eq!(chat(system, "hello", ""), first, "{system}");
        }
        assert_ne!(chat("be brief\nversion 2026-1-30\nend", "hello", ""), first);
    }

    #[test]
    fn a_session_holds_whatever_is_said_and_its_side_requests_are_their_own() {
        let body = |system: &str, user: &str| {
            format!(
                r#"{{"model":"x","system":"{system}","max_tokens":1,"messages":[{{"role":"user","content":"{user}"}}]}}"#
            )
        };
        for name in ["x-session-id", "x-claude-code-session-id", "session_id"] {
            let with = |system: &str, user: &str, id: &str| {
                of(Dialect::Anthropic, &body(system, user), &[(name, id)])
            };
            assert_eq!(with("s", "a", "1"), with("s", "b", "1"), "{name}");
            assert_ne!(with("s", "a", "1"), with("s", "a", "2"), "{name}");
            assert_ne!(with("s", "a", "1"), with("title", "a", "1"), "{name}");
        }
        let keyed = |key: &str, input: &str| {
            of(
                Dialect::Responses,
                &format!(r#"{{"model":"x","input":"{input}","prompt_cache_key":"{key}"}}"#),
                &[],
            )
        };
        assert_eq!(keyed("k", "a"), keyed("k", "b"));
        assert_ne!(keyed("k", "a"), keyed("l", "a"));
    }

    #[test]
    fn anthropics_user_id_holds_a_session() {
        let asked = |id: &str, user: &str| {
            let body = serde_json::json!({
                "model": "x", "max_tokens": 1, "metadata": {"user_id": id},
                "messages": [{"role": "user", "content": user}],
            });
            of(Dialect::Anthropic, &body.to_string(), &[])
        };
        let plain = |session: &str| format!("user_1f_account_2e_session_{session}");
        let json =
            |session: &str| format!(r#"{{"device_id":"1f","account_uuid":"","session_id":"{session}"}}"#);
        assert_eq!(asked(&plain("a-1"), "x"), asked(&plain("a-1"), "y"));
        assert_ne!(asked(&plain("a-1"), "x"), asked(&plain("a-2"), "x"));
        assert_eq!(asked(&json("a-1"), "x"), asked(&plain("a-1"), "y"), "the spelling may change on the way");
        assert_ne!(asked(&json("a-1"), "x"), asked(&json("a-2"), "x"));
        assert_ne!(asked("somebody", "x"), asked("somebody", "y"), "a user is no session");
    }

    #[test]
    fn titles() {
        let of = |messages: &[&[&str]]| {
            let text = |text: &&str| serde_json::json!({"type": "text", "text": text});
            let message = |texts: &&[&str]| {
                let texts: Vec<_> = texts.iter().map(text).collect();
                serde_json::json!({"role": "user", "content": texts})
            };
            let messages: Vec<_> = messages.iter().map(message).collect();
            let body = serde_json::json!({"model": "x", "messages": messages}).to_string();
            let request = wire::format(Dialect::Chat).decode_request(body.as_bytes(), &Route::default());
            title(&request.unwrap(), |text| text.replace("key", "••••"))
        };
        let reminder = "<system-reminder>\nAs you answer,\n</system-reminder>";
        let agents = "# AGENTS.md instructions for /srv/app\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>";
        let environment = "<environment_context>\n  <cwd>/srv/app</cwd>\n</environment_context>";
        for (messages, wanted) in [
            (&[&["fix\n the  bug"][..]][..], "fix the bug"),
            (&[&[reminder, "fix it"]], "fix it"),
            // Before the words, in one text with them.
            (
                &[&["<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\n\nfix it"]],
                "fix it",
            ),
            // Codex: each is a message of its own.
            (&[&[agents], &[environment], &["fix it"]], "fix it"),
            (&[&[agents, environment], &["fix it", "and that"]], "fix it"),
            (&[&["<user_instructions>Be brief.</user_instructions>"], &["fix it"]], "fix it"),
            // Nobody has said anything.
            (&[&[environment]], "<environment_context> <cwd>/srv/app</cwd> </environment_context>"),
            (&[&["<div> is never closed"]], "<div> is never closed"),
            (&[&["<3 this"]], "<3 this"),
            (&[&["my key is out"]], "my •••• is out"),
        ] {
            assert_eq!(of(messages), wanted);
        }
        assert_eq!(of(&[&["é".repeat(200).as_str()]]).chars().count(), 90);
        // A key at the cut is masked whole.
        assert!(of(&[&[&format!("{} key", "x".repeat(87))]]).ends_with("x ••"));
    }
}
