//! What must hold of any bytes: no panic, the same events however they are cut, one last event, text kept.

use proptest::prelude::*;
use wire::{
    Dialect, Event, ReplyHead, Route, Usage, format, quota_notice,
    redact::{image_placeholder, redact, shorten},
    sse::{self, Decoder, Frame},
    wait,
};

use crate::decode;

/// Bytes made of what streams are made of, so that cuts fall in interesting places.
fn stream_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"data:".to_vec()),
        Just(b"data: ".to_vec()),
        Just(b"event: error".to_vec()),
        Just(b"id: 1".to_vec()),
        Just(b": comment".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n\n".to_vec()),
        Just(b"\xEF\xBB\xBF".to_vec()),
        Just("北🌍".as_bytes().to_vec()),
        Just(b"[DONE]".to_vec()),
        Just(br#"{"choices":[{"index":0,"delta":{"content":"hi"}}]}"#.to_vec()),
        Just(br#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#.to_vec()),
        Just(br#"{"choices":[],"usage":{"prompt_tokens":1}}"#.to_vec()),
        Just(br#"{"error":{"message":"no"}}"#.to_vec()),
        Just(br#"{"choices":[{"message":{"content":"\ud83d"#.to_vec()),
        Just(b"<html><title>x</title>".to_vec()),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The bytes in pieces of the given sizes, the last piece taking the rest.
fn cut<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    for size in sizes {
        let (piece, after) = rest.split_at((*size).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

fn frames<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Frame>, Option<Frame>) {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut out).unwrap();
    }
    (out, decoder.end())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn frames_do_not_depend_on_cuts(bytes in stream_bytes(), sizes in prop::collection::vec(0usize..9, 0..64)) {
        let whole = frames([bytes.as_slice()]);
        prop_assert_eq!(frames(cut(&bytes, &sizes)), whole.clone());
        prop_assert_eq!(frames(bytes.chunks(1)), whole);
    }

    #[test]
    fn events_do_not_depend_on_cuts(bytes in stream_bytes(), sizes in prop::collection::vec(0usize..9, 0..64)) {
        let whole = decode([bytes.as_slice()]);
        prop_assert_eq!(decode(cut(&bytes, &sizes)), whole.clone());
        prop_assert_eq!(decode(bytes.chunks(1)), whole);
    }

    #[test]
    fn every_reply_ends_once_and_last(bytes in stream_bytes()) {
        let events = decode([bytes.as_slice()]);
        let is_end = |event: &Event| matches!(event, Event::Finish { .. } | Event::Error(_));
        prop_assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1);
        prop_assert!(events.last().is_some_and(is_end));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), status in 0u16..1000) {
        let chat = format(Dialect::Chat);
        let _ = chat.decode_request(&bytes, &Route::default());
        let _ = chat.decode_reply(&bytes);
        prop_assert_eq!(chat.decode_error(status, "", &bytes).status, Some(status));
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "[ -~\\n\\t北é🌍]{0,200}", chars in 0usize..100) {
        let _ = redact(&text);
        let _ = image_placeholder(&text);
        let _ = quota_notice(&text);
        let _ = wait::from_text(&format!("retry after {text}"));
        let _ = wait::from_value(&text, 0);
        prop_assert!(shorten(&text, chars).chars().count() <= chars);
    }

    #[test]
    fn a_request_with_one_value_replaced_is_read_or_refused_with_its_place(
        at in 0usize..24,
        value in prop_oneof![
            Just("null"), Just("5"), Just("-1.5e3"), Just("true"), Just("\"\""), Just("[]"), Just("{}"), Just("[null]"),
            Just("{\"a\":[]}"), Just("\"\\ud800\"")
        ],
    ) {
        const SLOTS: &str = r#"{"model":@,"messages":@,"messages":[{"role":@,"content":@},{"role":"user","content":[{"type":@,"text":@},{"type":"image_url","image_url":@},{"type":"image_url","image_url":{"url":@,"detail":@}}]},{"role":"assistant","tool_calls":@}],"tools":@,"tool_choice":@,"stream":@,"stream_options":@,"stream_options":{"include_usage":@},"with":@,"bench":@,"n":@,"temperature":@,"stop":@,"max_tokens":@,"response_format":@,"functions":@,"other":@}"#;
        const GOOD: [&str; 24] = [
            "\"m\"", "[]", "\"user\"", "\"a\"", "\"text\"", "\"a\"", "{\"url\":\"https://h\"}", "\"https://h\"", "\"low\"",
            "[]", "[]", "\"auto\"", "true", "{}", "true", "[\"a\"]", "{}", "1", "1", "\"a\"", "5", "{\"type\":\"text\"}",
            "[]", "null",
        ];
        let mut slots = SLOTS.split('@');
        let mut body = slots.next().unwrap().to_owned();
        for (index, after) in slots.enumerate() {
            body.push_str(if index == at { value } else { GOOD[index] });
            body.push_str(after);
        }
        if let Err(error) = format(Dialect::Chat).decode_request(body.as_bytes(), &Route::default()) {
            prop_assert_eq!(error.kind.status(), 400);
            prop_assert!(error.message.contains(": "), "{}", error.message);
        }
    }

    #[test]
    fn text_survives_the_way_out_and_back(pieces in prop::collection::vec(any::<String>(), 0..8)) {
        let head = ReplyHead { id: "1".to_owned(), created: 0, model: "m".to_owned(), ..ReplyHead::default() };
        let mut encoder = format(Dialect::Chat).encoder(head);
        let mut stream: Vec<u8> = pieces.iter().flat_map(|piece| encoder.text(piece)).collect();
        stream.extend(encoder.finish(Usage::default(), None));
        let events = decode(stream.chunks(7));
        let said: String = events.iter().filter_map(|event| match event {
            Event::Text(text) => Some(text.as_str()),
            _ => None,
        }).collect();
        prop_assert_eq!(said, pieces.concat());
    }

    #[test]
    fn what_is_written_as_an_event_reads_back(text in any::<String>()) {
        let mut out = Vec::new();
        sse::write(&mut out, None, &text);
        let (frames, rest) = frames(out.chunks(3));
        prop_assert_eq!(rest, None);
        prop_assert_eq!(&frames[0].data, &text.replace("\r\n", "\n").replace('\r', "\n"));
    }
}
