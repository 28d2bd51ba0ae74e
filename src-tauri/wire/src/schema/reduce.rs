//! One walk over a schema.

use serde_json::{Map, Value, json};

use super::Profile;

/// The most nodes that are written: references may multiply without end.
const MOST_NODES: usize = 4_000;

const DEEPEST: usize = 48;

/// Words about the schema and not about values: nothing is lost without them.
const NO_LOSS: [&str; 8] =
    ["$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "$vocabulary", "id"];

/// Constraints that a description can say as well.
const TELLABLE: [&str; 14] = [
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "format",
    "default",
    "enum",
];

pub(super) struct Reducer<'a> {
    root: &'a Value,
    profile: &'a Profile,
    keywords: &'static [&'static str],
    /// Where it was lost (`.properties.a`) and what.
    pub losses: Vec<(String, String)>,
    /// References being inlined, outermost first.
    inside: Vec<String>,
    nodes: usize,
}

impl<'a> Reducer<'a> {
    pub fn new(root: &'a Value, profile: &'a Profile, keywords: &'static [&'static str]) -> Self {
        Reducer { root, profile, keywords, losses: Vec::new(), inside: Vec::new(), nodes: 0 }
    }

    pub fn root(&mut self) -> Value {
        self.node(self.root, "", 0)
    }

    fn node(&mut self, value: &Value, place: &str, depth: usize) -> Value {
        let Value::Object(fields) = value else {
            // `true` and `false` are schemas too; `false` has no counterpart.
            if value == &Value::Bool(false) {
                self.lose(place, "false is no schema here");
            }
            return Value::Object(Map::new());
        };
        self.nodes += 1;
        if self.nodes > MOST_NODES || depth > DEEPEST {
            self.lose(place, "cut: too large once its references are inlined");
            return Value::Object(Map::new());
        }
        if let Some(reference) = fields.get("$ref").and_then(Value::as_str)
            && !self.profile.refs
        {
            return self.inline(reference, fields, place, depth);
        }
        let mut fields = fields.clone();
        if let Some(Value::Array(all)) = fields.get("allOf")
            && !self.takes("allOf")
        {
            let all = all.clone();
            fields.remove("allOf");
            all.iter().for_each(|part| self.merge(&mut fields, part));
        }
        self.plain_types(&mut fields, place);
        let mut out = Map::new();
        let mut told = Vec::new();
        for (keyword, value) in &fields {
            self.keyword(keyword, value, place, depth, &mut out, &mut told);
        }
        if !told.is_empty() && self.takes("description") {
            let said = out.get("description").and_then(Value::as_str).unwrap_or_default();
            let gap = if said.is_empty() { "" } else { " " };
            let described = format!("{said}{gap}({})", told.join(", "));
            out.insert("description".to_owned(), described.into());
        }
        keep_known_required(&mut out);
        Value::Object(out)
    }

    /// The fields beside a reference go over those of what it names.
    fn inline(&mut self, reference: &str, fields: &Map<String, Value>, place: &str, depth: usize) -> Value {
        let target = reference.strip_prefix('#').and_then(|pointer| {
            if pointer.is_empty() { Some(self.root) } else { self.root.pointer(&unescaped(pointer)) }
        });
        let cyclic = self.inside.iter().any(|known| known == reference);
        let Some(Value::Object(target)) = target.filter(|_| !cyclic) else {
            self.lose(place, if cyclic { "cut: $ref to itself" } else { "dropped: $ref to nothing" });
            let mut rest = fields.clone();
            rest.remove("$ref");
            if cyclic && !rest.contains_key("type") {
                rest.insert("type".to_owned(), json!("object"));
            }
            return self.node(&Value::Object(rest), place, depth + 1);
        };
        let mut merged = target.clone();
        for (keyword, value) in fields.iter().filter(|(keyword, _)| *keyword != "$ref") {
            merged.insert(keyword.clone(), value.clone());
        }
        self.inside.push(reference.to_owned());
        let node = self.node(&Value::Object(merged), place, depth + 1);
        self.inside.pop();
        node
    }

    fn keyword(
        &mut self,
        keyword: &str,
        value: &Value,
        place: &str,
        depth: usize,
        out: &mut Map<String, Value>,
        told: &mut Vec<String>,
    ) {
        let here = format!("{place}.{keyword}");
        match (keyword, value) {
            ("const", value) if !self.takes("const") && self.takes("enum") => {
                if self.profile.any_enum || value.is_string() {
                    out.insert("enum".to_owned(), json!([value]));
                } else {
                    told.push(format!("always {value}"));
                    self.lose(&here, "said in the description");
                }
            }
            ("oneOf", Value::Array(list)) if !self.takes("oneOf") && self.takes("anyOf") => {
                let list = self.list(list, &here, depth);
                out.insert("anyOf".to_owned(), list);
            }
            ("enum", Value::Array(list)) if !self.profile.any_enum && !list.iter().all(Value::is_string) => {
                told.push(format!("one of {value}"));
                self.lose(&here, "said in the description");
            }
            ("format", Value::String(format))
                if self.profile.formats.is_some_and(|known| !known.contains(&format.as_str())) =>
            {
                told.push(format!("format: {format}"));
                self.lose(&here, "said in the description");
            }
            _ if !self.takes(keyword) => {
                if NO_LOSS.contains(&keyword) {
                    return;
                }
                let tellable = TELLABLE.contains(&keyword);
                if tellable {
                    told.push(format!("{keyword}: {value}"));
                }
                self.lose(&here, if tellable { "said in the description" } else { "not taken" });
            }
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(list)) => {
                let nodes = list
                    .iter()
                    .map(|(name, value)| {
                        (name.clone(), self.node(value, &format!("{here}.{name}"), depth + 1))
                    })
                    .collect();
                out.insert(keyword.to_owned(), Value::Object(nodes));
            }
            ("items", Value::Array(list)) => {
                // A tuple: its first place stands for all.
                self.lose(&here, "a tuple's first place stands for all");
                let first = list.first().cloned().unwrap_or_else(|| json!({}));
                out.insert(keyword.to_owned(), self.node(&first, &here, depth + 1));
            }
            ("items" | "additionalProperties" | "not", Value::Object(_)) => {
                out.insert(keyword.to_owned(), self.node(value, &here, depth + 1));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                let list = self.list(list, &here, depth);
                out.insert(keyword.to_owned(), list);
            }
            ("type", Value::String(word)) if self.profile.upper_types => {
                out.insert(keyword.to_owned(), word.to_ascii_uppercase().into());
            }
            _ => {
                out.insert(keyword.to_owned(), value.clone());
            }
        }
    }

    fn list(&mut self, list: &[Value], place: &str, depth: usize) -> Value {
        list.iter()
            .enumerate()
            .map(|(at, value)| self.node(value, &format!("{place}[{at}]"), depth + 1))
            .collect()
    }

    /// A list of types, or a choice between something and null, as one type that is nullable.
    fn plain_types(&mut self, fields: &mut Map<String, Value>, place: &str) {
        if self.profile.type_lists {
            return;
        }
        if let Some(Value::Array(types)) = fields.get("type") {
            let some: Vec<Value> = types.iter().filter(|word| *word != "null").cloned().collect();
            if some.len() < types.len() {
                fields.insert("nullable".to_owned(), json!(true));
            }
            match some.as_slice() {
                [] => _ = fields.remove("type"),
                [only] => _ = fields.insert("type".to_owned(), only.clone()),
                [first, ..] if !self.takes("anyOf") || fields.contains_key("anyOf") => {
                    self.lose(&format!("{place}.type"), "the first of several types stands for all");
                    fields.insert("type".to_owned(), first.clone());
                }
                several => {
                    let choices = several.iter().map(|word| json!({ "type": word })).collect();
                    fields.remove("type");
                    fields.insert("anyOf".to_owned(), choices);
                }
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(choices)) = fields.get(keyword) else { continue };
            let some: Vec<Value> =
                choices.iter().filter(|choice| choice.get("type") != Some(&json!("null"))).cloned().collect();
            if some.len() == choices.len() {
                continue;
            }
            fields.insert("nullable".to_owned(), json!(true));
            match some.as_slice() {
                [only] => {
                    let only = only.clone();
                    fields.remove(keyword);
                    self.merge(fields, &only);
                }
                _ => _ = fields.insert(keyword.to_owned(), Value::Array(some)),
            }
        }
    }

    /// What `part` says is added to `fields`: properties and required names together, else the first word stands.
    fn merge(&self, fields: &mut Map<String, Value>, part: &Value) {
        let named = part
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| self.root.pointer(&unescaped(reference.strip_prefix('#')?)));
        let known =
            part.get("$ref").and_then(Value::as_str).is_some_and(|r| self.inside.iter().any(|i| i == r));
        let part = named.filter(|_| !self.profile.refs && !known).unwrap_or(part);
        let Value::Object(part) = part else { return };
        for (keyword, value) in part {
            match (fields.get_mut(keyword), value) {
                (Some(Value::Object(have)), Value::Object(more)) if keyword == "properties" => {
                    more.iter().for_each(|(name, value)| {
                        have.entry(name.clone()).or_insert_with(|| value.clone());
                    });
                }
                (Some(Value::Array(have)), Value::Array(more)) if keyword == "required" => {
                    for name in more {
                        if !have.contains(name) {
                            have.push(name.clone());
                        }
                    }
                }
                (Some(_), _) => {}
                (None, _) => _ = fields.insert(keyword.clone(), value.clone()),
            }
        }
    }

    fn takes(&self, keyword: &str) -> bool {
        self.keywords.contains(&keyword)
    }

    fn lose(&mut self, place: &str, reason: &str) {
        if self.losses.len() < 50 {
            self.losses.push((place.to_owned(), reason.to_owned()));
        }
    }
}

/// A name that is required and not among the properties is refused by some.
fn keep_known_required(fields: &mut Map<String, Value>) {
    let known: Vec<String> = match fields.get("properties") {
        Some(Value::Object(properties)) => properties.keys().cloned().collect(),
        _ => return,
    };
    if let Some(Value::Array(required)) = fields.get_mut("required") {
        required.retain(|name| name.as_str().is_some_and(|name| known.iter().any(|k| k == name)));
        if required.is_empty() {
            fields.remove("required");
        }
    }
}

/// A reference is a URI fragment: `%24defs` is `$defs`.
fn unescaped(pointer: &str) -> String {
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|digit| (*digit as char).to_digit(16));
        match (byte, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
