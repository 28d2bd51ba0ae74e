//! What a model is asked before it is relied on: a word, twice; a large prompt; a tool; a picture.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use catalog::Endpoint;
use plan::{
    Registered,
    onboarding::{Outcome, Step},
};
use wire::{
    Class, Content, Image, Message, Part, Raw, Request, Role, Source, Tool, ToolChoice, UpstreamError,
};

use crate::{
    asking::{ForText, Told},
    callers::Caller,
    facts::Holds,
    gateway::Gateway,
    metered::{Call, Purpose},
    panel::{cleaned_error, describe, round},
    setup::Snapshot,
    upstream::{CallEnd, Limits, Outcome as Answer},
};

/// A green triangle on white, 64×64 pixels with corners at (32, 10), (8, 54) and (56, 54): drawn pixel by pixel by a
/// script and stored as an RGB PNG. A model that cannot see it would guess a circle, or red.
const PICTURE: &[u8] = include_bytes!("shape.png");
const COLOUR: &str = "green";
const SHAPE: &str = "triangle";

const WORD: &str = "ready";
const TOOL: &str = "get_time";
/// Lines of the large prompt, about 18 KB of them, and what is asked of them.
const LINES: usize = 285;
const WANTED_LINE: usize = 171;

/// An answer is a word; some models think before they write it.
const MAX_OUTPUT: u64 = 2_000;
/// What is kept of an answer.
const SAID_CHARS: usize = 120;

/// What came of asking.
pub(super) enum Asked {
    /// It was not sent: its endpoint's limits have no room before this, and why.
    Paced {
        until_ms: i64,
        why: String,
    },
    Found(Found),
}

/// What was found.
pub(super) struct Found {
    pub outcome: Outcome,
    pub seconds: Option<f64>,
    pub first_token_s: Option<f64>,
    /// Tokens a second from the first one on.
    pub tokens_a_s: Option<f64>,
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// In words, redacted.
    pub said: String,
}

/// Asks a model what a step is about. Dropped before its end, the call is cancelled and written down so.
pub(super) async fn ask(
    gateway: &Gateway,
    snapshot: &Arc<Snapshot>,
    it: &Registered,
    endpoint: &Endpoint,
    step: Step,
) -> Asked {
    let request = request(step, it.model.facts.max_output);
    let endpoint = gateway.resolve(endpoint);
    // How long the answer may be is ours to say.
    let (encoded, body) = gateway.encode_for(it, &endpoint, &request, true);
    let call = Call {
        snapshot,
        it,
        purpose: Purpose::Probe,
        collection: "",
        caller: &Caller::default(),
        body: &body,
        estimate: wire::estimate_tokens(&request),
        holds: Holds::of(&request),
    };
    let metered = match gateway.admit(call).await {
        Ok(metered) => metered,
        Err(error) => return not_sent(gateway, &error),
    };
    let settings = &snapshot.setup.settings;
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    let limits = Limits { whole: seconds(settings.seat_seconds), idle: seconds(settings.idle_seconds) };
    let asked = ForText { call, request: &request, endpoint: &endpoint, callers_options: true, limits };
    let Told { outcome, metered } =
        gateway.ask_for_text(asked, metered, (&encoded, body.clone()), |_| {}).await;
    gateway.over(metered, &outcome);
    Asked::Found(found(gateway, step, &outcome))
}

fn not_sent(gateway: &Gateway, error: &UpstreamError) -> Asked {
    match error.retry_after {
        Some(wait) => {
            let wait_ms = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
            let until_ms = gateway.clock().now_ms().saturating_add(wait_ms);
            Asked::Paced { until_ms, why: error.message.clone() }
        }
        None => Asked::Found(Found {
            outcome: Outcome::Failed(error.class),
            seconds: None,
            first_token_s: None,
            tokens_a_s: None,
            tokens_in: None,
            tokens_out: None,
            said: error.message.clone(),
        }),
    }
}

fn found(gateway: &Gateway, step: Step, answer: &Answer) -> Found {
    let said = gateway.scrub(&answer.answer);
    let quoted = || match said.trim() {
        "" => "it said nothing".to_owned(),
        text => format!("it said: {}", wire::redact::shorten(text, SAID_CHARS)),
    };
    let called = || answer.called.iter().find(|called| called.name == TOOL && is_object(&called.arguments));
    let (outcome, said) = match (&answer.end, step) {
        (CallEnd::Error(error), _) => {
            let error = UpstreamError { message: cleaned_error(gateway, &error.message), ..error.clone() };
            (Outcome::Failed(error.class), describe(&error))
        }
        (_, Step::Tool) if called().is_some() => {
            let arguments = called().map(|called| gateway.scrub(&called.arguments)).unwrap_or_default();
            (Outcome::Worked, format!("it called {TOOL} {}", wire::redact::shorten(&arguments, SAID_CHARS)))
        }
        (CallEnd::Empty, _) => (Outcome::Failed(Class::Empty), "it answered with nothing".to_owned()),
        (CallEnd::Ok, Step::Tool) => (Outcome::NotSeen, format!("it called no tool; {}", quoted())),
        (CallEnd::Ok, _) => {
            let lower = answer.answer.to_lowercase();
            let is_right = expected(step).iter().all(|word| lower.contains(word.as_str()));
            (if is_right { Outcome::Worked } else { Outcome::NotSeen }, quoted())
        }
    };
    let tokens = answer.usage.output.zip(answer.first_token_s);
    let tokens_a_s = tokens.and_then(|(tokens, first)| {
        let rest = answer.seconds - first;
        // Of an answer that came all at once there is no speed to tell.
        (tokens > 1 && rest >= 0.01).then(|| round(tokens as f64 / rest))
    });
    Found {
        outcome,
        seconds: Some(round(answer.seconds)),
        first_token_s: answer.first_token_s.map(round),
        tokens_a_s,
        tokens_in: answer.usage.input,
        tokens_out: answer.usage.output,
        said,
    }
}

/// The words that a right answer holds.
fn expected(step: Step) -> Vec<String> {
    match step {
        Step::Large => vec![line_word(WANTED_LINE)],
        Step::Vision => vec![COLOUR.to_owned(), SHAPE.to_owned()],
        _ => vec![WORD.to_owned()],
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

fn request(step: Step, max_output: Option<u64>) -> Request {
    let text = |text: String| vec![Part::text(text)];
    let parts = match step {
        Step::Large => text(large()),
        Step::Tool => text("What time is it in Lisbon now? Use the tool.".to_owned()),
        Step::Vision => {
            let data = STANDARD.encode(PICTURE);
            let image =
                Image { source: Source::Base64 { media_type: "image/png".to_owned(), data }, detail: None };
            let question = "Which shape is in the picture, and which colour has it? Answer in two words.";
            vec![Part::text(question), Part::new(Content::Image(image))]
        }
        _ => text(format!("Answer with the one word {WORD} and nothing else.")),
    };
    let tools = if step == Step::Tool { vec![tool()] } else { Vec::new() };
    Request {
        messages: vec![Message::new(Role::User, parts)],
        tool_choice: (!tools.is_empty()).then_some(ToolChoice::Auto),
        tools,
        max_output: Some(max_output.map_or(MAX_OUTPUT, |most| most.min(MAX_OUTPUT))),
        ..Request::default()
    }
}

fn tool() -> Tool {
    Tool::Function {
        name: TOOL.to_owned(),
        namespace: None,
        description: Some("Tells what time it is in a place.".to_owned()),
        parameters: Some(Raw::from(&serde_json::json!({
            "type": "object",
            "properties": {"timezone": {"type": "string", "description": "Such as Europe/Lisbon"}},
            "required": ["timezone"],
        }))),
        strict: None,
        cache: None,
    }
}

/// About 18 KB: a table of words, and a question about one of them.
fn large() -> String {
    let mut text = String::from("A table of codes follows. Read all of it; a question comes after it.\n\n");
    for line in 1..=LINES {
        text.push_str(&format!(
            "Row {line:03}: its code is {}, and nothing else in it matters.\n",
            line_word(line)
        ));
    }
    text.push_str(&format!("\nWhich code has row {WANTED_LINE}? Answer with the code and nothing else."));
    text
}

/// The code of a line: no two are the same, and none can be told from those before it.
fn line_word(line: usize) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va"];
    let number = line.wrapping_mul(40_503) % 4_096;
    [number >> 8, (number >> 4) & 15, number & 15].map(|at| SYLLABLES[at & 15]).concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_large_prompt_is_large_and_has_one_answer() {
        let text = large();
        assert!((17_000..19_500).contains(&text.len()), "{}", text.len());
        let codes: HashSet<String> = (1..=LINES).map(line_word).collect();
        assert_eq!(codes.len(), LINES);
        assert_eq!(text.matches(&line_word(WANTED_LINE)).count(), 1);
        let onboarding = plan::onboarding::Step::Large;
        let tokens = wire::estimate_tokens(&request(onboarding, None)) + MAX_OUTPUT;
        assert!(tokens <= 8_000, "what a model must have a window for: {tokens}");
    }

    #[test]
    fn a_small_picture_is_shown() {
        assert_eq!(&PICTURE[..8], b"\x89PNG\r\n\x1a\n");
        let side =
            |at: usize| u32::from_be_bytes([PICTURE[at], PICTURE[at + 1], PICTURE[at + 2], PICTURE[at + 3]]);
        assert_eq!((side(16), side(20)), (64, 64));
        assert!(PICTURE.len() < 1_000);
        assert_eq!(request(Step::Vision, None).images().count(), 1);
    }

    #[test]
    fn an_answer_is_no_longer_than_its_model_can_make_it() {
        assert_eq!(request(Step::Word, Some(512)).max_output, Some(512));
        assert_eq!(request(Step::Word, Some(64_000)).max_output, Some(MAX_OUTPUT));
        assert_eq!(request(Step::Tool, None).tools.len(), 1);
        assert!(is_object("{\"timezone\":\"x\"}") && !is_object("[]") && !is_object("{\"a\""));
    }
}
