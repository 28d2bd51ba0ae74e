/// Whether a reply came from another model than the one that was asked for, as far as names tell: vendor prefixes,
/// routing tags (`:free`), dates, revisions, `-latest` and separators aside.
///
/// A router that picks a model itself (`openrouter/auto`) swaps nothing.
pub fn is_swap(asked: &str, served_as: &str) -> bool {
    let (asked, served) = (Name::of(asked), Name::of(served_as));
    if asked.plain.is_empty() || served.plain.is_empty() || ROUTERS.contains(&asked.plain.as_str()) {
        return false;
    }
    // `llama3:8b` is not `llama3:70b`; `:free` and `:nitro` are ways to the same model.
    let sizes = asked.size.as_ref().zip(served.size.as_ref());
    asked.plain != served.plain || sizes.is_some_and(|(asked, served)| asked != served)
}

const ROUTERS: &[&str] = &["auto", "free", "modelrouter"];

struct Name {
    plain: String,
    /// A tag that says which of a family it is, as Ollama's do.
    size: Option<String>,
}

impl Name {
    fn of(id: &str) -> Name {
        let id = id.trim().trim_end_matches('/').to_lowercase();
        let last = id.rsplit(['/', '\\']).next().unwrap_or_default();
        let (name, tag) = last.split_once(':').unwrap_or((last, ""));
        let name = name.strip_suffix(".gguf").unwrap_or(name);
        let mut name = name.split('@').next().unwrap_or(name);
        name = undated(name).unwrap_or(name);
        let size = tag.contains(|c: char| c.is_ascii_digit()).then(|| tag.to_owned());
        Name { plain: name.replace(['-', '_', '.', ' '], ""), size }
    }
}

/// Without the dates and revisions at its end; `None` where it has none.
pub(crate) fn undated(name: &str) -> Option<&str> {
    std::iter::successors(without_ending(name), |name| without_ending(name)).last()
}

/// Without a date or revision at the end: `-2024-08-06`, `-08-2024`, `-05-20`, `-20241022`, `-0613`, `-001`, `-latest`.
fn without_ending(name: &str) -> Option<&str> {
    if let Some(name) = name.strip_suffix("-latest") {
        return Some(name);
    }
    let digits = |text: &str, lengths: &[usize]| {
        lengths.contains(&text.len()) && text.chars().all(|c| c.is_ascii_digit())
    };
    let (front, last) = name.rsplit_once('-')?;
    let (before, middle) = front.rsplit_once('-').unwrap_or((front, ""));
    if digits(last, &[2, 4]) && digits(middle, &[2]) {
        return Some(match before.rsplit_once('-') {
            Some((first, year)) if digits(year, &[4]) && last.len() == 2 => first,
            _ => before,
        });
    }
    digits(last, &[3, 4, 6, 8]).then_some(front)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_is_no_swap() {
        for (asked, served) in [
            ("gpt-4o", "gpt-4o-2024-08-06"),
            ("openai/gpt-4o", "gpt-4o"),
            ("gpt-4", "gpt-4-0613"),
            ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
            ("anthropic/claude-3.5-sonnet", "claude-3-5-sonnet-20241022"),
            ("claude-sonnet-4@20250514", "claude-sonnet-4-20250514"),
            ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1"),
            ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1:nitro"),
            ("gemini-2.5-flash", "models/gemini-2.5-flash-001"),
            ("gemini-2.5-flash-preview", "gemini-2.5-flash-preview-05-20"),
            ("mistral-large-latest", "mistral-large-2411"),
            ("command-r", "command-r-08-2024"),
            ("grok-4", "grok-4-0709"),
            ("llama3", "llama3:latest"),
            ("llama3:8b", "llama3:8b"),
            ("llama3:8b", "llama3"),
            ("qwen2.5_coder", "Qwen/Qwen2.5-Coder"),
            ("accounts/fireworks/models/deepseek-v3", "deepseek-v3"),
            ("qwen", "C:\\models\\qwen.gguf"),
            ("openrouter/auto", "openai/gpt-5"),
            ("x", ""),
            ("", "x"),
        ] {
            assert!(!is_swap(asked, served), "{asked} {served}");
        }
    }

    #[test]
    fn another_model_is_a_swap() {
        for (asked, served) in [
            ("gpt-4o", "gpt-4o-mini-2024-07-18"),
            ("gpt-4", "gpt-3.5-turbo-0613"),
            ("llama3:8b", "llama3:70b"),
            ("claude-opus-4", "claude-sonnet-4"),
            ("phi-3", "phi-4"),
            ("gpt-5", "gpt-5-chat"),
            ("deepseek/deepseek-r1:free", "deepseek/deepseek-chat"),
            ("meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Llama-3.1-70B-Instruct"),
            ("auto-coder", "gpt-5"),
        ] {
            assert!(is_swap(asked, served), "{asked} {served}");
        }
    }
}
