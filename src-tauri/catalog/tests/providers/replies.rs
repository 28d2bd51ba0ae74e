//! What whole replies and streams say once the wire has read them: the words, the reasoning apart from them, the
//! calls, the end, the model that answered, and the tokens in the ledger's meaning. Of what was seen, words, ids and
//! signatures are cut short and chunks left out; fields and counts are as they came.

use catalog::Model;
use serde::Deserialize;
use serde_json::Value;
use wire::{Content, Dialect, Event, Finish, Reply, Restore, Route, Target};

use super::{BTreeSet, bytes, cases, endpoint};

/// A whole reply or a stream.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    source: String,
    /// The source tells the fields but not one reply from beginning to end: these bytes are put together from it.
    #[serde(default)]
    made_from_docs: bool,
    base: Option<String>,
    api: Option<Dialect>,
    whole: Option<Value>,
    /// The lines of a stream, each ended by a line feed.
    stream: Option<Vec<String>>,
    reply: Said,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Said {
    model: String,
    text: String,
    reasoning: String,
    /// Names and arguments.
    calls: Vec<(String, Value)>,
    /// `stop`, `length`, `content_filter` or `tool_calls`.
    finish: String,
    /// The provider told no reason.
    inferred: bool,
    usage: Tokens,
}

/// As the ledger has them: `input` without what the cache gave or took, `output` with the reasoning. What is not
/// told is not known, which is not nothing.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
}

#[test]
fn replies() {
    let (mut whole, mut streamed, mut reported, mut wrong) =
        (BTreeSet::new(), BTreeSet::new(), 0, Vec::new());
    for (provider, case) in cases::<Case>("replies") {
        let endpoint = endpoint(&provider, case.base.as_deref(), case.api);
        let restore = asked(&endpoint);
        let body = match (&case.whole, &case.stream) {
            (Some(body), None) => bytes(body),
            (None, Some(lines)) => {
                lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into()
            }
            _ => panic!("{provider}: {}: either whole or a stream", case.source),
        };
        for size in [body.len(), 1, 7] {
            let found = read(endpoint.api, &restore, &body, size);
            if found.as_ref() != Ok(&case.reply) {
                let wanted = &case.reply;
                wrong.push(format!(
                    "{provider}: {}: {size} bytes at once\n  {found:?}\n  {wanted:?}",
                    case.source
                ));
                break;
            }
        }
        let told = if case.whole.is_some() { &mut whole } else { &mut streamed };
        told.insert(provider);
        reported += usize::from(!case.made_from_docs);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let presets: BTreeSet<String> = catalog::presets().iter().map(|preset| preset.id.clone()).collect();
    assert!(whole.is_superset(&presets), "no whole reply of {:?}", presets.difference(&whole));
    assert!(streamed.is_superset(&presets), "no stream of {:?}", presets.difference(&streamed));
    assert!(reported > 35, "{reported} of them as they were seen");
}

/// What an answer must go through on its way back, as for every question.
fn asked(endpoint: &catalog::Endpoint) -> Restore {
    let question = br#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[
        {"type":"function","function":{"name":"weather","parameters":{"type":"object"}}}]}"#;
    let request = wire::format(Dialect::Chat).decode_request(question, &Route::default()).unwrap();
    let model = Model::new("m", endpoint.name.as_str(), "m");
    let target =
        Target { served: "m".to_owned(), quirks: catalog::quirks(endpoint, &model), ..Target::default() };
    wire::format(endpoint.api).encode_request(&request, &target).restore
}

/// As the gateway reads a member, the bytes coming so many at once.
fn read(api: Dialect, restore: &Restore, body: &[u8], size: usize) -> Result<Said, String> {
    let mut decoder = restore.over(wire::format(api).decoder());
    let mut events = Vec::new();
    body.chunks(size).for_each(|bytes| decoder.push(bytes, &mut events));
    decoder.end(&mut events);
    if decoder.skipped() > 0 {
        return Err(format!("{} frames were passed over", decoder.skipped()));
    }
    let inferred = matches!(events.last(), Some(Event::Finish { inferred: true, .. }));
    let reply = Reply::from_events(&events);
    let finish = match (&reply.error, reply.finish) {
        (Some(error), _) => return Err(format!("{:?}: {}", error.class, error.message)),
        (None, Some(Finish::Stop)) => "stop",
        (None, Some(Finish::Length)) => "length",
        (None, Some(Finish::ContentFilter)) => "content_filter",
        (None, Some(Finish::ToolCalls)) => "tool_calls",
        (None, None) => return Err("it never ended".to_owned()),
    };
    let reasoning = reply.parts.iter().filter_map(|part| match &part.content {
        Content::Thinking(thinking) => Some(thinking.text.as_str()),
        _ => None,
    });
    let calls = reply.tool_calls().map(|call| {
        let arguments = call.arguments.to_string();
        (call.name.clone(), serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)))
    });
    let usage = reply.usage;
    Ok(Said {
        text: reply.text(),
        reasoning: reasoning.collect(),
        calls: calls.collect(),
        finish: finish.to_owned(),
        inferred,
        usage: Tokens {
            input: usage.input_beside_cache(),
            output: usage.output,
            reasoning: usage.reasoning,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        },
        model: reply.model.unwrap_or_default(),
    })
}
