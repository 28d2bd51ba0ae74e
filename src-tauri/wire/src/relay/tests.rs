use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::json::Json;

fn edited(body: &str, path: &[&str], value: &str) -> String {
    let body = Json::read(body.as_bytes().to_vec()).unwrap();
    let mut body = Body::new(&body).unwrap();
    body.set(path, value);
    String::from_utf8(body.into_bytes()).unwrap()
}

#[test]
fn a_value_is_set_and_every_other_byte_stays() {
    for (body, path, wanted) in [
        (r#"{ "z":1.0, "model" : "a" ,"x":1e3}"#, &["model"][..], r#"{ "z":1.0, "model" : NEW ,"x":1e3}"#),
        (r#"{"a":{"model":"x"},"model":{"b":[1,{}]}}"#, &["model"], r#"{"a":{"model":"x"},"model":NEW}"#),
        (r#"{"model":"a","model":"b"}"#, &["model"], r#"{"model":NEW,"model":NEW}"#),
        (r#"{"mod\u0065l":null}"#, &["model"], r#"{"mod\u0065l":NEW}"#),
        ("{}", &["model"], r#"{"model":NEW}"#),
        (" { } ", &["model"], r#" { "model":NEW} "#),
        (r#"{"a":[{"model":1}]}"#, &["model"], r#"{"a":[{"model":1}],"model":NEW}"#),
        (r#"{"a":"\"model\":1}"}"#, &["model"], r#"{"a":"\"model\":1}","model":NEW}"#),
        (r#"{"o":{"u":false,"v":1}}"#, &["o", "u"], r#"{"o":{"u":NEW,"v":1}}"#),
        (r#"{"o":{"v":1}}"#, &["o", "u"], r#"{"o":{"v":1,"u":NEW}}"#),
        (r#"{"o":null,"p":1}"#, &["o", "u"], r#"{"o":{"u":NEW},"p":1}"#),
        (r#"{"p":1}"#, &["o", "u"], r#"{"p":1,"o":{"u":NEW}}"#),
    ] {
        assert_eq!(edited(body, path, "NEW"), wanted);
    }
    assert!(Body::new(&Json::read(b"[1]".to_vec()).unwrap()).is_err());
    assert_eq!(edited(r#"{"a":"x\ud83d"}"#, &["a"], "1"), r#"{"a":1}"#);
}

#[test]
fn a_field_is_taken_out() {
    for (body, wanted) in [
        (r#"{"a":1, "bench": {"x":[1]}, "b":2}"#, r#"{"a":1, "b":2}"#),
        (r#"{"bench":true, "b":2}"#, r#"{"b":2}"#),
        (r#"{ "bench":1 }"#, r#"{  }"#),
        (r#"{"a":1,"bench":1,"b\"":2,"bench":2}"#, r#"{"a":1,"b\"":2}"#),
        (r#"{"b\u0065nch":1,"a":{"bench":1}}"#, r#"{"a":{"bench":1}}"#),
    ] {
        let body = Json::read(body.as_bytes().to_vec()).unwrap();
        let mut edited = Body::new(&body).unwrap();
        edited.remove(&["bench"]);
        assert_eq!(String::from_utf8(edited.into_bytes()).unwrap(), wanted);
    }
}

fn renamed<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut names = ModelName::new(&[&["model"], &["message", "model"]], "bench/x:route");
    let mut out = Vec::new();
    for piece in pieces {
        out.extend(names.push(piece));
    }
    out.extend(names.end());
    String::from_utf8(out).unwrap()
}

#[test]
fn the_name_is_put_back_in_every_framing() {
    for (body, wanted) in [
        (
            ": c\n\nevent: x\ndata: {\"model\":\"m\",\"a\": 1.0}\n\ndata:{\"message\":{\"model\":\"m\"}}\r\n\r\ndata: [DONE]\n\n",
            ": c\n\nevent: x\ndata: {\"model\":NAME,\"a\": 1.0}\n\ndata:{\"message\":{\"model\":NAME}}\r\n\r\ndata: [DONE]\n\n",
        ),
        (
            "data: {\"choices\":\rdata: [],\"model\":\"m\"}\r\rdata: {\"model\":\"m\"}\r\r",
            "data: {\"choices\":\rdata: [],\"model\":NAME}\r\rdata: {\"model\":NAME}\r\r",
        ),
        ("data: {oops\n\ndata: {\"model\":\"m\"}\n\n", "data: {oops\n\ndata: {\"model\":NAME}\n\n"),
        (
            "{\"model\":\"m\"}\n{\"model\":\"m\",\"d\":true}\n",
            "{\"model\":NAME}\n{\"model\":NAME,\"d\":true}\n",
        ),
        (
            "{\n  \"a\": {\"model\": \"inner\"},\n  \"model\": \"m\"\n}",
            "{\n  \"a\": {\"model\": \"inner\"},\n  \"model\": NAME\n}",
        ),
        ("[{\"model\":\"m\"},\n{\"model\":\"m\"}]", "[{\"model\":NAME},\n{\"model\":NAME}]"),
        (
            "data: {\"model\":null,\"text\":\"\\\"model\\\":\\\"m\\\"\"}",
            "data: {\"model\":null,\"text\":\"\\\"model\\\":\\\"m\\\"\"}",
        ),
        (
            "data: {\"model\":\"m\"}data: {\"model\":\"m\"}\n\n",
            "data: {\"model\":NAME}data: {\"model\":NAME}\n\n",
        ),
        // A frame that broke off inside the name, and a whole one behind it, which a reader still finds.
        (
            "data: {\"model\":\"mdata: {\"text\":\"a\",\"model\":\"m\"}\n\ndata: {\"model\":\"m\"}\n\n",
            "data: {\"model\":\"mdata: {\"text\":\"a\",\"model\":\"m\"}\n\ndata: {\"model\":NAME}\n\n",
        ),
        ("<html>\n", "<html>\n"),
        ("", ""),
    ] {
        let wanted = wanted.replace("NAME", "\"bench/x:route\"");
        assert_eq!(renamed([body.as_bytes()]), wanted);
        assert_eq!(renamed(body.as_bytes().chunks(1)), wanted, "byte by byte");
        for cut in 0..body.len() {
            let (before, after) = body.as_bytes().split_at(cut);
            assert_eq!(renamed([before, after]), wanted, "cut at {cut}");
        }
    }
}

/// JSON text with spaces and numbers as people write them.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.0".to_owned()),
        Just("-1e+3".to_owned()),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![Just("model".to_owned()), Just("a".to_owned()), any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[ {} ]", items.join(" ,"))),
            prop::collection::vec((key, inner), 0..4).prop_map(|fields| {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{} : {value}", Value::from(key.as_str())))
                    .collect();
                format!("{{ {} }}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_set_reads_back_and_nothing_else_changes(fields in prop::collection::vec(("[a-z]{0,3}", value()), 0..5)) {
        let text: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\" :{value}")).collect();
        let text = format!("{{{}}}", text.join(", "));
        let before: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        let after: serde_json::Map<String, Value> = serde_json::from_str(&edited(&text, &["model"], "\"new\"")).unwrap();
        for (key, value) in &before {
            if key != "model" {
                prop_assert_eq!(after.get(key), Some(value));
            }
        }
        prop_assert_eq!(&after["model"], "new");
        prop_assert_eq!(after.len(), before.len() + usize::from(!before.contains_key("model")));
        // Text that is not the value is the same text.
        prop_assert_eq!(edited(&edited(&text, &["model"], "1"), &["model"], "2").replace("\"model\":2", "\"model\":1"), edited(&text, &["model"], "1"));
    }

    #[test]
    fn any_bytes_go_through_the_same_however_they_are_cut(bytes in prop::collection::vec(any::<u8>(), 0..200), size in 1usize..9) {
        let mut whole = ModelName::new(&[&["model"]], "n");
        let mut expected = whole.push(&bytes);
        expected.extend(whole.end());
        let mut cut = ModelName::new(&[&["model"]], "n");
        let mut out: Vec<u8> = bytes.chunks(size).flat_map(|piece| cut.push(piece)).collect();
        out.extend(cut.end());
        prop_assert_eq!(out, expected);
    }
}

#[test]
fn spaces_before_a_private_event_go_on_however_they_are_cut() {
    let body = b" \x0c\r\nevent: private\ndata: {}\n\n";
    let public = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut public = PublicEvents::new(crate::format(crate::Dialect::Responses));
        let mut out: Vec<u8> = pieces.flat_map(|piece| public.push(piece)).collect();
        out.extend(public.end());
        (out, public.dropped())
    };
    let whole = public(&mut [body.as_slice()].into_iter());
    assert_eq!(whole, (b" \x0c\r\n".to_vec(), 1));
    assert_eq!(public(&mut body.chunks(1)), whole);
}
