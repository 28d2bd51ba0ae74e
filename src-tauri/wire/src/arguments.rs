//! The arguments of a call, where a dialect wants an object.

use std::borrow::Cow;

use crate::raw::Raw;

/// The arguments as one JSON object on one line, key order and number text untouched. Text that is no object
/// (`Err`) stands under `field`.
pub(crate) fn as_object(arguments: &str, field: &str) -> Result<Raw, Raw> {
    let text = arguments.trim();
    let text = if text.is_empty() { "{}" } else { text };
    let object = Raw::new(compact(text).into_owned()).filter(|raw| raw.get().starts_with('{'));
    object.ok_or_else(|| Raw::from(&serde_json::json!({ field: arguments })))
}

/// JSON text of several lines without the spaces between its tokens: a line break among them would end the line it is sent in.
pub(crate) fn compact(text: &str) -> Cow<'_, str> {
    if !text.contains(['\n', '\r']) {
        return text.into();
    }
    let (mut in_string, mut escaped) = (false, false);
    let kept = text.chars().filter(|c| {
        if in_string {
            in_string = escaped || *c != '"';
            escaped = !escaped && *c == '\\';
            return true;
        }
        in_string = *c == '"';
        !c.is_ascii_whitespace()
    });
    kept.collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::as_object;

    #[test]
    fn arguments_are_one_line_with_their_own_order_and_numbers() {
        let text = "{\n  \"z\": 1.0e3,\r\n  \"a\": \"x \\\"\\n y\\\\\", \"n\": 12345678901234567890123 }";
        let wanted = r#"{"z":1.0e3,"a":"x \"\n y\\","n":12345678901234567890123}"#;
        assert_eq!(as_object(text, "arguments").unwrap().get(), wanted);
        assert_eq!(as_object("{\"b\": 1}", "arguments").unwrap().get(), "{\"b\": 1}");
        assert_eq!(as_object(" ", "arguments").unwrap().get(), "{}");
    }

    #[test]
    fn what_is_no_object_is_kept_as_text() {
        for text in ["[1]", "not json", "{\"a\":"] {
            let raw = as_object(text, "input").unwrap_err();
            assert_eq!(raw.value(), serde_json::json!({ "input": text }));
        }
    }
}
