//! A body edited in place.

use std::{borrow::Cow, ops::Range};

use super::fields::{self, fields};
use crate::{error::ApiError, json};

/// One JSON object's text being edited: copied once, when it is done.
pub(crate) struct Body<'t> {
    text: Cow<'t, str>,
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
    /// The body must be one JSON object. Lone surrogate escapes are repaired: members refuse them. What its fields hold
    /// is not looked at: it has been read.
    pub fn new(body: &'t [u8]) -> Result<Self, ApiError> {
        let text = json::text_of(body)?;
        let Some(found) = fields(&text) else {
            json::root(&text)?;
            return Err(json::Place::Root.expected("object"));
        };
        let fields::Fields { open, fields, close } = found;
        let first = fields.first().map_or(open, |first| first.key);
        let tail = fields.last().map_or(open, |last| last.value.end)..close;
        let field = |field: fields::Field<'_>| Field {
            before: field.start..field.key,
            key: field.key..field.value.start,
            renamed: false,
            value: field.value,
            new: None,
            name: field.name.into_owned(),
        };
        let fields = fields.into_iter().map(field).collect();
        Ok(Body { text, fields, added: Vec::new(), first, tail })
    }

    /// Whether the object has a field of that name.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
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
        let text = &*self.text;
        // Of duplicates the last one counts.
        let last = self.fields.iter().rposition(|field| field.name == *name);
        for (at, field) in self.fields.iter_mut().enumerate().filter(|(_, field)| field.name == *name) {
            let old = field.new.as_deref().unwrap_or(&text[field.value.clone()]);
            if inner.is_empty() || Some(at) == last || stands(old, inner) {
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
            return removed;
        }
        let text = &*self.text;
        for field in self.fields.iter_mut().filter(|field| field.name == *name) {
            let old = field.new.as_deref().unwrap_or(&text[field.value.clone()]);
            let Ok(mut object) = Body::new(old.as_bytes()) else { continue };
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
    let mut object = Body::new(old.as_bytes()).ok()?;
    object.set(path, value);
    Some(object.into_text())
}

fn stands(text: &str, path: &[&str]) -> bool {
    let Some((name, inner)) = path.split_first() else { return true };
    fields(text).is_some_and(|found| {
        found.fields.iter().any(|field| field.name == *name && stands(&text[field.value.clone()], inner))
    })
}

fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
