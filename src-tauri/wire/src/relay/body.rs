//! A body edited in place.

use std::ops::Range;

use crate::{
    error::ApiError,
    json::{Found, Json, Place},
};

/// One JSON object's text being edited: copied once, when it is done.
pub(crate) struct Body<'t> {
    root: Found<'t>,
    text: &'t str,
    fields: Vec<Field>,
    /// Fields that are put at the end, by their names.
    added: Vec<(String, String)>,
    /// Where the first field began, and the spaces before the closing brace.
    first: usize,
    tail: Range<usize>,
}

/// A field that stood there.
struct Field {
    name: String,
    /// From the end of the field before it to its own name.
    before: Range<usize>,
    /// From its name to its value.
    key: Range<usize>,
    renamed: bool,
    value: Range<usize>,
    new: Option<String>,
}

impl<'t> Body<'t> {
    /// The body must be an object. What its fields hold is not looked at: it has been gone over.
    pub fn new(body: &'t Json) -> Result<Self, ApiError> {
        let (text, root) = (body.text(), body.root());
        if !root.is_object() {
            return Err(Place::Root.expected("object"));
        }
        let (open, close) = (root.place().start + 1, root.place().end - 1);
        let mut end = open;
        let mut fields = Vec::new();
        for (key, value) in root.fields() {
            let before = end..key.place().start;
            let value = value.place();
            end = value.end;
            fields.push(Field {
                name: key.unquoted().unwrap_or_default().into_owned(),
                key: before.end..value.start,
                before,
                renamed: false,
                value,
                new: None,
            });
        }
        let first = fields.first().map_or(open, |first| first.key.start);
        Ok(Body { root, text, fields, added: Vec::new(), first, tail: end..close })
    }

    /// Whether the object has a field of that name.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
            || self.added.iter().any(|(known, _)| known == name)
    }

    /// Whether something but `null` stands at the path, or on the way to it what holds no fields. `is_one`: whether a
    /// name says the same as one of the path's. Of a name that stands twice the last one counts.
    pub fn says(&self, path: &[&str], is_one: fn(&str, &str) -> bool) -> bool {
        let Some((name, inner)) = path.split_first() else { return false };
        let standing = self
            .fields
            .iter()
            .enumerate()
            .filter(|(at, field)| is_one(&field.name, name) && self.is_last(*at))
            .map(|(_, field)| field)
            .map(|field| field.new.as_deref().unwrap_or(&self.text[field.value.clone()]));
        let added =
            self.added.iter().filter(|(known, _)| is_one(known, name)).map(|(_, value)| value.as_str());
        standing.chain(added).any(|text| {
            let Ok(json) = Json::of(text.to_owned()) else { return true };
            match Body::new(&json) {
                Ok(object) if !inner.is_empty() => object.says(inner, is_one),
                _ => !json.root().is_null(),
            }
        })
    }

    fn is_last(&self, at: usize) -> bool {
        !self.fields[at + 1..].iter().any(|later| later.name == self.fields[at].name)
    }

    /// The path in the words of the body, as far as it stands there.
    pub fn as_spelled(&self, path: &[&str], is_one: fn(&str, &str) -> bool) -> Vec<String> {
        let Some((name, inner)) = path.split_first() else { return Vec::new() };
        let field = self.fields.iter().rfind(|field| is_one(&field.name, name));
        let mut spelled = vec![field.map_or(*name, |field| field.name.as_str()).to_owned()];
        let text = field.map(|field| field.new.as_deref().unwrap_or(&self.text[field.value.clone()]));
        let json = text.filter(|_| !inner.is_empty()).and_then(|text| Json::of(text.to_owned()).ok());
        match json.as_ref().and_then(|json| Body::new(json).ok()) {
            Some(object) => spelled.extend(object.as_spelled(inner, is_one)),
            None => spelled.extend(inner.iter().map(|name| (*name).to_owned())),
        }
        spelled
    }

    /// Whether a string stood at the path.
    pub fn has_text(&self, path: &[&str]) -> bool {
        stands(self.root, path, |value| value.is_string())
    }

    /// Sets the value at the path, each time it stands there; where it does not, it is put at the end of its
    /// object. `value` is JSON text.
    pub fn set(&mut self, path: &[&str], value: &str) {
        let Some((name, inner)) = path.split_first() else { return };
        let inner_json = || {
            inner.iter().rev().fold(value.to_owned(), |value, name| format!("{{{}:{value}}}", quoted(name)))
        };
        if let Some((_, added)) = self.added.iter_mut().find(|(known, _)| known == name) {
            *added = inside(added, inner, value).unwrap_or_else(inner_json);
            return;
        }
        let text = self.text;
        // Of duplicates the last one counts.
        let last = self.fields.iter().rposition(|field| field.name == *name);
        for (at, field) in self.fields.iter_mut().enumerate().filter(|(_, field)| field.name == *name) {
            let old = field.new.as_deref().unwrap_or(&text[field.value.clone()]);
            if inner.is_empty() || Some(at) == last || stands_in(old, inner) {
                field.new = Some(inside(old, inner, value).unwrap_or_else(inner_json));
            }
        }
        if last.is_none() {
            self.added.push(((*name).to_owned(), inner_json()));
        }
    }

    /// Takes out what stands at the path, with one comma beside it; `false`: there was nothing.
    pub fn remove(&mut self, path: &[&str]) -> bool {
        let Some((name, inner)) = path.split_first() else { return false };
        let mut removed = false;
        if inner.is_empty() {
            self.fields.retain(|field| {
                let goes = field.name == *name;
                removed |= goes;
                !goes
            });
            let before = self.added.len();
            self.added.retain(|(known, _)| known != name);
            return removed || self.added.len() < before;
        }
        let text = self.text;
        for field in self.fields.iter_mut().filter(|field| field.name == *name) {
            let old = field.new.as_deref().unwrap_or(&text[field.value.clone()]);
            let Ok(json) = Json::of(old.to_owned()) else { continue };
            let Ok(mut object) = Body::new(&json) else { continue };
            if object.remove(inner) {
                removed = true;
                field.new = Some(object.into_text());
            }
        }
        removed
    }

    /// Gives a field another name.
    pub fn rename(&mut self, name: &str, to: &str) {
        for field in self.fields.iter_mut().filter(|field| field.name == name) {
            to.clone_into(&mut field.name);
            field.renamed = true;
        }
        for (known, _) in self.added.iter_mut().filter(|(known, _)| known == name) {
            to.clone_into(known);
        }
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.into_text().into_bytes()
    }

    fn into_text(self) -> String {
        let changed = self.fields.iter().filter_map(|field| field.new.as_deref()).map(str::len);
        let added = self.added.iter().map(|(name, value)| name.len() + value.len() + 4);
        let mut out = String::with_capacity(self.text.len() + changed.sum::<usize>() + added.sum::<usize>());
        // Whoever is the first now stands where the first stood.
        out.push_str(&self.text[..self.first]);
        let mut is_first = true;
        for field in &self.fields {
            if !std::mem::take(&mut is_first) {
                out.push_str(&self.text[field.before.clone()]);
            }
            if field.renamed {
                out.push_str(&quoted(&field.name));
                let key = &self.text[field.key.clone()];
                out.push_str(&key[key.rfind(':').unwrap_or(key.len())..]);
            } else {
                out.push_str(&self.text[field.key.clone()]);
            }
            out.push_str(field.new.as_deref().unwrap_or(&self.text[field.value.clone()]));
        }
        out.push_str(&self.text[self.tail.clone()]);
        for (name, value) in &self.added {
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            out.push_str(&quoted(name));
            out.push(':');
            out.push_str(value);
        }
        out.push_str(&self.text[self.tail.end..]);
        out
    }
}

/// The object's text with the value set at the path; `None` when it is no object.
fn inside(old: &str, path: &[&str], value: &str) -> Option<String> {
    if path.is_empty() {
        return Some(value.to_owned());
    }
    let json = Json::of(old.to_owned()).ok()?;
    let mut object = Body::new(&json).ok()?;
    object.set(path, value);
    Some(object.into_text())
}

/// Whether a value stands at the path in the object.
fn stands_in(text: &str, path: &[&str]) -> bool {
    Json::of(text.to_owned()).is_ok_and(|json| stands(json.root(), path, |_| true))
}

fn stands(value: Found<'_>, path: &[&str], is: fn(Found<'_>) -> bool) -> bool {
    let Some((name, inner)) = path.split_first() else { return is(value) };
    value.is_object()
        && value
            .fields()
            .any(|(key, value)| key.unquoted().is_some_and(|key| key == *name) && stands(value, inner, is))
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
