//! Server-sent events and lines: the same however the bytes are cut, as a plain reading of the rules has them, and
//! what is written reads back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{
    ndjson,
    sse::{self, Frame},
};
use wire_fuzz::{Input, Seeds, bounded};

fuzz_target!(init: Seeds::Replies.write_if_asked(), |bytes: &[u8]| {
    let input = Input::read(bytes);
    bounded(input.body.len(), || {
        let limit = 64 + usize::from(input.choice);
        if input.choice % 2 == 0 { events(&input, limit) } else { lines(&input, limit) }
    });
});

fn events(input: &Input<'_>, limit: usize) {
    let whole = frames(sse::Decoder::default(), [input.body]);
    assert_eq!(frames(sse::Decoder::default(), input.pieces()), whole);
    assert_eq!(frames(sse::Decoder::default(), input.body.chunks(1)), whole);
    assert_eq!(whole.0, by_the_rules(input.body));
    let limited = || sse::Decoder::with_limit(limit);
    assert_eq!(frames(limited(), input.pieces()), frames(limited(), [input.body]), "limit {limit}");
    for frame in &whole.0 {
        let mut written = Vec::new();
        sse::write(&mut written, Some(&frame.event), &frame.data);
        let (again, rest) = frames(sse::Decoder::default(), [written.as_slice()]);
        assert_eq!((again.len(), &rest), (1, &None));
        assert_eq!((&again[0].event, &again[0].data), (&frame.event, &frame.data));
    }
}

fn lines(input: &Input<'_>, limit: usize) {
    let whole = read_lines(ndjson::Decoder::default(), [input.body]);
    assert_eq!(read_lines(ndjson::Decoder::default(), input.pieces()), whole);
    assert_eq!(read_lines(ndjson::Decoder::default(), input.body.chunks(1)), whole);
    let text = String::from_utf8_lossy(input.body);
    let plain: Vec<&str> = text.split('\n').map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(whole, plain);
    let limited = || ndjson::Decoder::with_limit(limit);
    assert_eq!(read_lines(limited(), input.pieces()), read_lines(limited(), [input.body]), "limit {limit}");
}

/// What is dispatched, and what is left when the body ends.
fn frames<'a>(
    mut decoder: sse::Decoder,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Vec<Frame>, Option<Frame>) {
    let mut out = Vec::new();
    for piece in pieces {
        if decoder.push(piece, &mut out).is_err() {
            break;
        }
    }
    (out, decoder.end())
}

fn read_lines<'a>(mut decoder: ndjson::Decoder, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut out = Vec::new();
    for piece in pieces {
        if decoder.push(piece, &mut out).is_err() {
            break;
        }
    }
    out.extend(decoder.end());
    out
}

/// The rules of the standard, read a body at a time and with no thought of speed.
fn by_the_rules(body: &[u8]) -> Vec<Frame> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let mut lines = vec![Vec::new()];
    let mut bytes = body.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\r' => {
                bytes.next_if_eq(&b'\n');
                lines.push(Vec::new());
            }
            b'\n' => lines.push(Vec::new()),
            byte => lines.last_mut().expect("one line at least").push(byte),
        }
    }
    // The last one has no end.
    lines.pop();
    let (mut frames, mut event, mut data, mut id) = (Vec::new(), String::new(), None::<Vec<u8>>, None);
    for line in lines {
        if line.is_empty() {
            let event = std::mem::take(&mut event);
            if let Some(data) = data.take() {
                frames.push(Frame { event, data: text(&data), id: id.clone() });
            }
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => event = text(value),
            b"data" => match &mut data {
                Some(data) => *data = [data, b"\n".as_slice(), value].concat(),
                None => data = Some(value.to_vec()),
            },
            b"id" if !value.contains(&0) => id = Some(text(value)),
            _ => {}
        }
    }
    frames
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
