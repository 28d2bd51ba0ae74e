//! What may leave an error text (panel.md §8).

use wire::redact::{image_placeholder, redact, shorten};

#[test]
fn data_urls_queries_user_info_and_long_runs_go() {
    let run = "Ab9+".repeat(25);
    let line = "Q".repeat(76);
    for (text, wanted) in [
        ("plain words, nothing to hide".to_owned(), "plain words, nothing to hide".to_owned()),
        ("see data:image/png;base64,iVBORw0KGgo= here".into(), "see [data URL] here".into()),
        ("DATA:text/plain,hello \"x\"".into(), "[data URL] \"x\"".into()),
        ("{\"url\":\"data:image/png;base64,AAAA\"}".into(), "{\"url\":\"[data URL]\"}".into()),
        ("data: {\"a\":1}, data: b/c, d".into(), "data: {\"a\":1}, data: b/c, d".into()),
        (
            "at https://h.example/v1/x?key=AIza1&b=2 now".into(),
            "at https://h.example/v1/x?[query] now".into(),
        ),
        ("https://user:pass@h/x".into(), "https://[user]@h/x".into()),
        ("https://tok@en@h/x#access_token=1".into(), "https://[user]@h/x?[query]".into()),
        ("wss://u:p@h".into(), "wss://[user]@h".into()),
        ("https://h/a@b".into(), "https://h/a@b".into()),
        ("mail a@b.c, ok? yes".into(), "mail a@b.c, ok? yes".into()),
        ("GET /v1beta/models?key=AIza1 failed".into(), "GET /v1beta/models?[query] failed".into()),
        (format!("key {run} end"), "key [base64, 100 characters] end".into()),
        (format!("key {} end", &run[1..]), format!("key {} end", &run[1..])),
        (format!("x\n{line}\n{line}\nQQ==\ny"), "x\n[base64, 156 characters]\ny".into()),
        (format!("x\\n{line}\\n{line}"), "x\\[base64, 153 characters]".into()),
        (format!("https://h.example/{run}?a=b"), "https://h.[base64, 108 characters]?[query]".into()),
        ("北京 https://h/北京?q=北京 é".into(), "北京 https://h/北京?[query] é".into()),
        ("://x ?=a ? b=c".into(), "://x ?=a ? b=c".into()),
    ] {
        assert_eq!(redact(&text), wanted, "{text}");
    }
}

#[test]
fn redacting_twice_changes_nothing() {
    let text = format!("data:a/b;base64,QQ== https://u@h?x=1 {} /m?k=v", "Z".repeat(120));
    assert_eq!(redact(&redact(&text)), redact(&text));
}

#[test]
fn megabytes_of_any_kind_are_read_once() {
    // Each would take minutes if a part of the text were looked at again for each of its pieces.
    for piece in [
        "https://",
        "data:",
        "?a=",
        "data:a/b",
        "a@",
        "http://a@",
        "x://y?z#",
        "A",
        "é",
        "data:,",
        "\\n",
        "%",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        assert!(redact(&text).len() <= text.len() + 16, "{piece}");
    }
    let lines = ("Q".repeat(60) + "\n").repeat(20_000);
    assert_eq!(redact(&lines), format!("[base64, {} characters]\n", 60 * 20_000));
}

#[test]
fn cutting_falls_between_characters() {
    assert_eq!(shorten("abc", 3), "abc");
    assert_eq!(shorten("abcd", 3), "ab…");
    assert_eq!(shorten("北京大学", 3), "北京…");
    assert_eq!(shorten("ab cd", 4), "ab…");
    assert_eq!(shorten("ab", 0), "");
    assert_eq!(shorten("", 0), "");
}

#[test]
fn images_in_a_record() {
    let payload = "A".repeat(562_000);
    assert_eq!(image_placeholder(&format!("data:image/png;base64,{payload}")), "[image: data URL, 412 KB]");
    assert_eq!(image_placeholder("data:image/png;base64,QQ=="), "[image: data URL, 1 KB]");
    assert_eq!(image_placeholder("https://u:p@h.example/a/i.png?sig=1#x"), "https://h.example/a/i.png");
    assert_eq!(image_placeholder("https://h.example/i.png"), "https://h.example/i.png");
}
