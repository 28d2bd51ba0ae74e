//! Settings, facts and options as `NAME=VALUE`: the names are those of the set-up file.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The fields of a value as JSON writes them.
pub fn of(value: &impl Serialize) -> Result<Map<String, Value>, Failure> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(Failure::refused(error)),
    }
}

/// Back from its fields; an error says which names there are, or what one must be.
pub fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Failure> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        // A name that is not known is in the message itself, and has no path.
        let (path, message) = (error.path().to_string(), error.inner());
        Failure::Usage(if path == "." { message.to_string() } else { format!("{path}: {message}") })
    })
}

/// JSON where it is JSON, else the text itself; what begins as JSON does and is none is refused, and so is what looks
/// like a number.
pub fn value(name: &str, text: &str) -> Result<Value, Failure> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(error) if text.trim_start().starts_with(['{', '[', '"']) => {
            Err(Failure::Usage(format!("{name}: this begins as JSON does, and is none: {error}")))
        }
        Err(_) if looks_like_a_number(text) => Err(Failure::Usage(format!(
            "{name}: {text} is no number as JSON writes one; write it otherwise, or in quotes to have it as a text: \
             {name}='\"{text}\"'"
        ))),
        Err(_) => Ok(Value::String(text.to_owned())),
    }
}

/// `0123`, `--5`, `.5`, `1e400`, `NaN`, `0x1f`; not `1h`, `1.2.3`, `2026-01-01`.
fn looks_like_a_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['+', '-']);
    if ["nan", "inf", "infinity"].iter().any(|word| digits.eq_ignore_ascii_case(word)) {
        return true;
    }
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    let (number, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    number.contains(|c: char| c.is_ascii_digit())
        && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_'))
        && number.matches(['.', ',']).count() <= 1
        && exponent.bytes().all(|byte| byte.is_ascii_digit())
}

/// As [`value`] reads it.
pub fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Puts a field where its name says (`price.input`); without a text it is taken away.
pub fn put(fields: &mut Map<String, Value>, name: &str, text: &str) -> Result<(), Failure> {
    put_within(fields, name, name, text)
}

/// `rest` is what is left of the name on the way in.
fn put_within(fields: &mut Map<String, Value>, name: &str, rest: &str, text: &str) -> Result<(), Failure> {
    let (first, rest) = rest.split_once('.').unwrap_or((rest, ""));
    if rest.is_empty() {
        match text {
            "" => drop(fields.shift_remove(first)),
            text => drop(fields.insert(first.to_owned(), value(name, text)?)),
        }
        return Ok(());
    }
    match fields.entry(first).or_insert_with(|| Value::Object(Map::new())) {
        Value::Object(inner) => put_within(inner, name, rest, text),
        other => Err(Failure::Usage(format!("{name}: {first} is {other}, and holds no {rest}"))),
    }
}

/// `vision, context_window 128000, price.input 0.5`; what is known to be untrue with a `no`.
pub fn listed(fields: &Map<String, Value>) -> String {
    let mut words = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Bool(true) => words.push(name.clone()),
            Value::Bool(false) => words.push(format!("no {name}")),
            Value::Object(inner) => {
                words
                    .extend(inner.iter().map(|(field, value)| format!("{name}.{field} {}", in_words(value))));
            }
            value => words.push(format!("{name} {}", in_words(value))),
        }
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{listed, put, read, value};
    use crate::failure::Failure;

    #[test]
    fn a_field_is_put_where_its_name_says() {
        let start = json!({"vision": false, "price": {"input": 1, "output": 2}});
        let cases = [
            ("vision", "true", json!({"vision": true, "price": {"input": 1, "output": 2}})),
            ("vision", "", json!({"price": {"input": 1, "output": 2}})),
            ("price.input", "0.5", json!({"vision": false, "price": {"input": 0.5, "output": 2}})),
            ("price.output", "", json!({"vision": false, "price": {"input": 1}})),
            ("price", "", json!({"vision": false})),
            (
                "effort",
                "high",
                json!({"vision": false, "price": {"input": 1, "output": 2}, "effort": "high"}),
            ),
        ];
        for (name, text, wanted) in cases {
            let Value::Object(mut fields) = start.clone() else { unreachable!() };
            put(&mut fields, name, text).unwrap();
            assert_eq!(Value::Object(fields), wanted, "{name}={text}");
        }
        let Value::Object(mut one) = json!({"seed": 5}) else { unreachable!() };
        let refused = put(&mut one, "seed.x", "1").map_err(|it| format!("{it:?}"));
        assert!(refused.is_err_and(|it| it.contains("seed.x: seed is 5, and holds no x")));
        let refused = put(&mut one, "price.input", "1e400").map_err(|it| format!("{it:?}"));
        assert!(refused.is_err_and(|it| it.contains("price.input: 1e400 is no number")));
        let mut none = Map::new();
        put(&mut none, "price.input", "3").unwrap();
        assert_eq!(Value::Object(none), json!({"price": {"input": 3}}));
    }

    #[test]
    fn what_begins_as_json_is_json() {
        for (text, wanted) in [
            ("high", json!("high")),
            ("0.2", json!(0.2)),
            ("true", json!(true)),
            ("[1, 2]", json!([1, 2])),
            ("\"0.2\"", json!("0.2")),
            ("a {", json!("a {")),
            ("1x", json!("1x")),
        ] {
            assert_eq!(value("stop", text).unwrap(), wanted, "{text}");
        }
        for text in ["0123", "NaN", "-Infinity", "1e400", "--5", "+1", ".5", "1,5", "1_000", "0x1f", "1e"] {
            let Err(Failure::Usage(message)) = value("top_p", text) else { panic!("{text} was taken") };
            let wanted =
                format!("top_p: {text} is no number as JSON writes one; write it otherwise, or in quotes");
            assert!(message.starts_with(&wanted), "{message}");
            assert_eq!(value("top_p", &format!("\"{text}\"")).unwrap(), json!(text));
        }
        for text in ["1h", "1.2.3", "2026-01-01", "10:30", "e5", "nano", "-", "."] {
            assert_eq!(value("x", text).unwrap(), json!(text));
        }
        for text in ["{\"a\":", " [1, 2", "\"a", "{a: 1}", "[1] 2"] {
            let Err(Failure::Usage(message)) = value("stop", text) else { panic!("{text} was taken") };
            assert!(message.starts_with("stop: this begins as JSON does, and is none: "), "{message}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_named() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            #[expect(dead_code, reason = "only read into")]
            reserves: u32,
        }
        let failure = |fields: Value| {
            let Value::Object(fields) = fields else { unreachable!() };
            match read::<Fields>(fields) {
                Err(crate::failure::Failure::Usage(message)) => message,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(failure(json!({"reserves": -1})), "reserves: invalid value: integer `-1`, expected u32");
        assert_eq!(
            failure(json!({"reserves": 1, "bogus": 1})),
            "bogus: unknown field `bogus`, expected `reserves`"
        );
    }

    #[test]
    fn what_is_known_in_words() {
        let Value::Object(facts) =
            json!({"context_window": 128000, "vision": true, "tools": false, "price": {"input": 0.5}})
        else {
            unreachable!()
        };
        assert_eq!(listed(&facts), "context_window 128000, vision, no tools, price.input 0.5");
    }
}
