//! Server-sent events by the WHATWG rules.

use wire::sse::{self, Decoder, Frame, TooLong};

/// The frames of a stream; the same cut in two at every byte and fed byte by byte.
fn frames(stream: &[u8]) -> Vec<Frame> {
    let whole = decode([stream]);
    for cut in 0..=stream.len() {
        let (before, after) = stream.split_at(cut);
        assert_eq!(decode([before, after]), whole, "cut at byte {cut} of {stream:?}");
    }
    assert_eq!(decode(stream.chunks(1)), whole, "byte by byte");
    whole
}

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Frame> {
    let mut decoder = Decoder::default();
    let mut frames = Vec::new();
    for piece in pieces {
        decoder.push(piece, &mut frames).unwrap();
    }
    frames
}

fn data(stream: &[u8]) -> Vec<String> {
    frames(stream).into_iter().map(|frame| frame.data).collect()
}

#[test]
fn every_line_end_closes_a_line() {
    assert_eq!(data(b"data: a\n\ndata: b\n\n"), ["a", "b"]);
    assert_eq!(data(b"data: a\r\n\r\ndata: b\r\n\r\n"), ["a", "b"]);
    assert_eq!(data(b"data: a\r\rdata: b\r\r"), ["a", "b"]);
    assert_eq!(data(b"data: a\r\n\ndata: b\n\r\n"), ["a", "b"]);
    assert_eq!(data(b"data: a\n\rdata: b\r\n\r"), ["a", "b"]);
}

#[test]
fn a_cr_is_not_waited_on() {
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    decoder.push(b"data: a\r\n\r", &mut out).unwrap();
    assert_eq!(out.len(), 1);
    decoder.push(b"\ndata: b\n\n", &mut out).unwrap();
    assert_eq!(out[1].data, "b");
}

#[test]
fn fields_as_whatwg_reads_them() {
    assert_eq!(data(b"data:a\n\ndata:  b\n\ndata\n\ndata:\n\n"), ["a", " b", "", ""]);
    assert_eq!(data(b"data: a\ndata: b\ndata\ndata: c\n\n"), ["a\nb\n\nc"]);
    assert_eq!(data(b": comment\n:\nfoo: bar\nfoo\n data: no\n\n"), [""; 0]);
    assert_eq!(data(b"event: x\n\ndata: a\n\n"), ["a"]);
    assert_eq!(data(b"data: a: b\n\n"), ["a: b"]);
    // No blank line closed it.
    assert_eq!(data(b"data: a\n"), [""; 0]);
}

#[test]
fn event_and_id() {
    let got = frames(b"event: one\nid: 7\ndata: a\n\ndata: b\n\nid: x\0y\nevent: two\nevent:three\ndata: c\n\nid\ndata: d\n\n");
    let event = |event: &str, data: &str, id: &str| Frame {
        event: event.to_owned(),
        data: data.to_owned(),
        id: Some(id.to_owned()),
    };
    assert_eq!(
        got,
        [event("one", "a", "7"), event("", "b", "7"), event("three", "c", "7"), event("", "d", "")]
    );
}

#[test]
fn retry_is_digits_only() {
    let mut decoder = Decoder::default();
    decoder.push(b"retry: 3000\nretry: 5s\nretry:\nretry: +7\n", &mut Vec::new()).unwrap();
    assert_eq!(decoder.retry(), Some(3000));
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(data(b"\xEF\xBB\xBFdata: a\n\n"), ["a"]);
    assert_eq!(data(b"\n\xEF\xBB\xBFdata: a\n\ndata: \xEF\xBB\xBFb\n\n"), ["\u{feff}b"]);
    assert_eq!(data(b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n"), [""; 0]);
}

#[test]
fn bytes_that_are_no_utf8_become_replacements() {
    assert_eq!(data(b"data: a\xFFb\xF0\x9F\ndata: \x8C\n\n"), ["a\u{fffd}b\u{fffd}\n\u{fffd}"]);
}

#[test]
fn an_event_past_the_limit_is_an_error_for_good() {
    let error = Err(TooLong { limit: 16 });
    for stream in
        ["data: 0123456789abcdef", "data: 01234\ndata: 56789\ndata: abcde\n", ": 0123456789abcdef0123"]
    {
        for size in [1, 3, 100] {
            let mut decoder = Decoder::with_limit(16);
            let mut out = Vec::new();
            let results: Vec<_> =
                stream.as_bytes().chunks(size).map(|piece| decoder.push(piece, &mut out)).collect();
            assert_eq!(results.last(), Some(&error), "{stream:?} by {size}");
            assert_eq!(decoder.push(b"\n\n", &mut out), error);
            assert_eq!((out.len(), decoder.end()), (0, None));
        }
    }
    // The limit is one event's, not the stream's.
    let mut decoder = Decoder::with_limit(16);
    let mut out = Vec::new();
    for _ in 0..100 {
        decoder.push(b"data: 01234567\n\n", &mut out).unwrap();
    }
    assert_eq!(out.len(), 100);
}

#[test]
fn an_event_at_the_end_without_its_blank_line() {
    for (stream, wanted) in [
        ("data: a", Some("a")),
        ("data: a\n", Some("a")),
        ("data: a\r", Some("a")),
        ("data: a\n\n", None),
        (": comment", None),
        ("", None),
    ] {
        let mut decoder = Decoder::default();
        decoder.push(stream.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(decoder.end().map(|frame| frame.data).as_deref(), wanted, "{stream:?}");
    }
}

#[test]
fn what_is_written_reads_back() {
    for (event, text) in
        [(None, "a"), (Some("x"), ""), (None, "a\nb\r\nc\rd"), (None, "\n"), (Some("y"), " a: b")]
    {
        let mut out = Vec::new();
        sse::write(&mut out, event, text);
        let frame = &frames(&out)[0];
        assert_eq!(frame.event, event.unwrap_or_default());
        assert_eq!(frame.data, text.replace("\r\n", "\n").replace('\r', "\n"));
    }
    let mut out = Vec::new();
    sse::comment(&mut out, "a\ndata: b");
    assert_eq!(String::from_utf8(out).unwrap(), ": a\n: data: b\n\n");
}
