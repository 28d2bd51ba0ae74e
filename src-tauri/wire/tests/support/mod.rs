//! What the tests of this crate share: decoding cut in every way, and events written down shortly.

use wire::{CallKind, Dialect, Event, EventDecoder, Finish, Restore, format};

/// The events of a chat reply, the same however it is cut.
pub fn decode_cut_everywhere(body: &[u8]) -> Vec<Event> {
    decode_as_cut_everywhere(Dialect::Chat, body)
}

/// The events of a reply that arrived in the given pieces.
pub fn decode_as<'a>(dialect: Dialect, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder: Box<dyn EventDecoder> = Restore::default().over(format(dialect).decoder());
    let mut events = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut events);
    }
    decoder.end(&mut events);
    assert_in_order(&events);
    events
}

/// The order that every decoder keeps (see [`Event`]).
fn assert_in_order(events: &[Event]) {
    let (mut begun, mut ended) = (0, Vec::new());
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.is_last(), at + 1 == events.len(), "one last event: {events:?}");
        match event {
            Event::CallStart(start) => {
                assert_eq!(start.index, begun, "indices are dense: {events:?}");
                assert!(!start.id.is_empty() && !start.name.is_empty(), "{events:?}");
                begun += 1;
                ended.push(false);
            }
            Event::CallArguments { index, delta } => {
                assert!(!ended[*index] && !delta.is_empty(), "arguments of an open call: {events:?}");
            }
            Event::CallEnd { index } => {
                assert!(!std::mem::replace(&mut ended[*index], true), "ended once: {events:?}");
            }
            _ => {}
        }
    }
}

/// The events of a reply; the same however it is cut: whole, in two at every byte, byte by byte.
pub fn decode_as_cut_everywhere(dialect: Dialect, body: &[u8]) -> Vec<Event> {
    let decode = |pieces: &[&[u8]]| decode_as(dialect, pieces.iter().copied());
    let whole = decode(&[body]);
    // A long body's middle is all alike: it is cut in two at a few places there, at every byte of its ends.
    let long = body.len() > 20_000;
    let ends = if long { 64 } else { body.len() / 2 };
    let step = if long { body.len() / 8 } else { 1 };
    let middle = (ends..body.len() - ends).step_by(step);
    for cut in (0..ends).chain(middle).chain(body.len() - ends..=body.len()) {
        let (before, after) = body.split_at(cut);
        assert_eq!(decode(&[before, after]), whole, "cut at byte {cut}");
    }
    assert_eq!(decode(&body.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
    whole
}

/// One line an event.
pub fn render(events: &[Event]) -> String {
    events.iter().map(|event| line(event) + "\n").collect()
}

fn line(event: &Event) -> String {
    match event {
        Event::Model(model) => format!("model {model}"),
        Event::Text(text) => format!("text {:?}", short(text)),
        Event::Refusal(text) => format!("refusal {:?}", short(text)),
        Event::ThinkingSignature(seal) => format!("signature {:?}", short(&seal.data)),
        Event::Redacted { seal, id } => {
            let id = id.as_deref().map(|id| format!(" {id}")).unwrap_or_default();
            format!("redacted{id} {:?}", short(&seal.data))
        }
        Event::CallStart(start) => {
            let kind = if start.kind == CallKind::Custom { " custom" } else { "" };
            let signature = start.signature.as_ref().map(|seal| format!(" signature {:?}", seal.data));
            format!(
                "call {} {:?} {}{kind}{}",
                start.index,
                start.id,
                start.name,
                signature.unwrap_or_default()
            )
        }
        Event::CallArguments { index, delta } => format!("arguments {index} {:?}", short(delta)),
        Event::CallEnd { index } => format!("end {index}"),
        Event::Image { media_type, data } => format!("image {media_type} {:?}", short(data)),
        Event::Vendor { kind, raw, .. } => format!("vendor {kind} {}", raw.get()),
        Event::Thinking(text) => format!("thinking {:?}", short(text)),
        Event::Usage(usage) => {
            let counts = [
                ("in", usage.input),
                ("out", usage.output),
                ("reasoning", usage.reasoning),
                ("cache_read", usage.cache_read),
                ("cache_write", usage.cache_write),
            ];
            let known = counts.iter().filter_map(|(name, count)| Some(format!(" {name}={}", (*count)?)));
            format!("usage{}", known.collect::<String>())
        }
        Event::Finish { reason, inferred } => {
            let reason = match reason {
                Finish::Stop => "stop",
                Finish::Length => "length",
                Finish::ContentFilter => "content_filter",
                Finish::ToolCalls => "tool_calls",
            };
            format!("finish {reason}{}", if *inferred { " (inferred)" } else { "" })
        }
        Event::Error(error) => {
            let wait = error.retry_after.map(|wait| format!(" (wait {wait:?})")).unwrap_or_default();
            format!("error {:?}: {}{wait}", error.class, error.message)
        }
    }
}

fn short(text: &str) -> String {
    if text.len() <= 200 { text.to_owned() } else { format!("{} bytes", text.len()) }
}
