//! Every field may be spelled in camel or in snake case, as Google's own servers take it.

use std::borrow::Cow;

use crate::json::{Found, Object};

/// A field and the name it stood under.
pub(super) struct Taken<'a> {
    pub name: Cow<'static, str>,
    pub raw: Found<'a>,
}

/// Takes a field by its camel-case name, else by its snake-case one.
pub(super) fn take<'a>(fields: &mut Object<'a>, camel: &'static str) -> Option<Taken<'a>> {
    if let Some(raw) = fields.take(camel) {
        return Some(Taken { name: Cow::Borrowed(camel), raw });
    }
    let name = snake(camel);
    let raw = fields.take(&name)?;
    Some(Taken { name: Cow::Owned(name), raw })
}

/// `topP` as `top_p`.
pub(super) fn snake(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for c in camel.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// `top_p` as `topP`.
pub(super) fn camel(snake: &str) -> String {
    let mut camel = String::with_capacity(snake.len());
    let mut after_line = false;
    for c in snake.chars() {
        if c == '_' && !camel.is_empty() {
            after_line = true;
            continue;
        }
        camel.push(if after_line { c.to_ascii_uppercase() } else { c });
        after_line = false;
    }
    camel
}
