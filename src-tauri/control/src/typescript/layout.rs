//! Lays a declaration of `ts-rs` out for people: one field, one variant a line. Its own are one long line with
//! comments in the middle.

/// Past this a union is broken into lines.
const WIDTH: usize = 100;

/// `type X = { a: A, b: B, };` as an exported declaration of several lines.
pub(super) fn declaration(text: &str) -> String {
    let text = text.trim().trim_end_matches(';');
    let Some((head, body)) = text.split_once(" = ") else { return format!("export {text};\n") };
    let body = body.trim();
    let variants = split(body, '|');
    if let [object] = variants.as_slice()
        && let Some(inner) = object.strip_prefix('{').and_then(|inner| inner.strip_suffix('}'))
    {
        let fields: String = split(inner, ',').iter().map(|part| field(part)).collect();
        return format!("export {head} = {{\n{fields}}};\n");
    }
    let variants: Vec<String> = variants.iter().map(|variant| inline(variant)).collect();
    let line = format!("export {head} = {};\n", variants.join(" | "));
    if line.len() <= WIDTH {
        return line;
    }
    format!("export {head} =\n  | {};\n", variants.join("\n  | "))
}

/// A comment in JSDoc form, from plain text or from JSDoc; nothing for no text.
pub(super) fn doc(text: &str, indent: &str) -> String {
    let text = text.trim().trim_start_matches("/**").trim_end_matches("*/").trim();
    let lines: Vec<&str> = text.lines().map(|line| line.trim().trim_start_matches('*').trim()).collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let lines: String =
                lines.iter().map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n").collect();
            format!("{indent}/**\n{lines}{indent} */\n")
        }
    }
}

/// One field with the comment before it.
fn field(part: &str) -> String {
    match part.strip_prefix("/**").and_then(|rest| rest.split_once("*/")) {
        Some((comment, field)) => format!("{}  {};\n", doc(comment, "  "), field.trim()),
        None => format!("  {part};\n"),
    }
}

/// `{ "type": "x", a: A, }` → `{ type: 'x'; a: A }`
fn inline(variant: &str) -> String {
    match variant.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')) {
        Some(inner) => format!("{{ {} }}", split(inner, ',').join("; ").replacen("\"type\":", "type:", 1)),
        None => variant.to_owned(),
    }
}

/// The parts between `separator`s that stand outside of brackets, strings and comments; no empty ones.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    let (mut in_string, mut in_comment) = (false, false);
    let bytes = text.as_bytes();
    for (at, c) in text.char_indices() {
        match c {
            '*' if at > 0 && bytes[at - 1] == b'/' => in_comment = true,
            '/' if in_comment && bytes[at - 1] == b'*' => in_comment = false,
            _ if in_comment => {}
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '<' | '[' | '(' => depth += 1,
            '}' | '>' | ']' | ')' => depth -= 1,
            c if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::declaration;

    #[test]
    fn one_field_a_line_with_its_comment() {
        let cases = [
            ("type A = { };", "export type A = {\n};\n"),
            ("type A = string | null;", "export type A = string | null;\n"),
            (
                "type A = { a: Array<[B, C]>, \n/**\n * One, {two}.\n */\nb?: D | null, };",
                "export type A = {\n  a: Array<[B, C]>;\n  /** One, {two}. */\n  b?: D | null;\n};\n",
            ),
            (
                "type A = { \n/**\n * One\n * two.\n */\n\"a-b\": \"x,y\", };",
                "export type A = {\n  /**\n   * One\n   * two.\n   */\n  \"a-b\": \"x,y\";\n};\n",
            ),
            (
                "type A = { \"type\": \"one\", a: B, } | { \"type\": \"two\" };",
                "export type A = { type: \"one\"; a: B } | { type: \"two\" };\n",
            ),
        ];
        for (given, wanted) in cases {
            assert_eq!(declaration(given), wanted, "{given}");
        }
        let long = "x".repeat(100);
        let union = declaration(&format!("type A = \"{long}\" | \"b\";"));
        assert_eq!(union, format!("export type A =\n  | \"{long}\"\n  | \"b\";\n"));
    }
}
