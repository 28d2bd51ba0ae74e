//! A member's reply in any dialect: the same events in their order however the bytes are cut, in bounded memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::format;
use wire_fuzz::{Input, Seeds, assert_in_order, bounded, decode};

fuzz_target!(init: Seeds::Replies.write_if_asked(), |bytes: &[u8]| {
    let input = Input::read(bytes);
    let member = input.member();
    let whole = bounded(input.body.len(), || decode(member, [input.body]));
    assert_in_order(&whole.0);
    assert_eq!(bounded(input.body.len(), || decode(member, input.pieces())), whole);
    assert_eq!(bounded(input.body.len(), || decode(member, input.body.chunks(1))), whole);
    let status = 400 + u16::from(input.option());
    let error = bounded(input.body.len(), || format(member).decode_error(status, "", input.body));
    assert_eq!(error.status, Some(status));
});
