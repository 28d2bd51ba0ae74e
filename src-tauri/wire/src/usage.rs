use crate::{
    model::{Content, Part, Request, Source, StructuredOutput, Tool},
    raw::Raw,
};

/// Token counts in one meaning: `input` includes cached tokens; a dialect that reports otherwise converts.
/// `None` is unknown, never zero. In a stream usage is cumulative: the last one wins, field by field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    pub input: Option<u64>,
    pub output: Option<u64>,
    pub reasoning: Option<u64>,
    pub cache_read: Option<u64>,
    pub cache_write: Option<u64>,
}

impl Usage {
    /// Takes what `later` knows over what is here.
    pub fn update(&mut self, later: Usage) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.reasoning = later.reasoning.or(self.reasoning);
        self.cache_read = later.cache_read.or(self.cache_read);
        self.cache_write = later.cache_write.or(self.cache_write);
    }

    /// From a dialect whose input leaves cached tokens out (Anthropic's `input_tokens`): they are added.
    pub fn with_input_beside_cache(self, fresh: Option<u64>) -> Usage {
        let cached = self.cache_read.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        Usage { input: fresh.map(|fresh| fresh.saturating_add(cached)), ..self }
    }

    /// The input without cached tokens, for such a dialect.
    pub fn input_beside_cache(&self) -> Option<u64> {
        let cached = self.cache_read.unwrap_or(0).saturating_add(self.cache_write.unwrap_or(0));
        Some(self.input?.saturating_sub(cached))
    }

    /// From a dialect whose output leaves reasoning out (Gemini's `candidatesTokenCount`): it is added.
    pub fn with_output_beside_reasoning(self, said: Option<u64>) -> Usage {
        let output = match (said, self.reasoning) {
            (None, None) => None,
            (said, reasoning) => Some(said.unwrap_or(0).saturating_add(reasoning.unwrap_or(0))),
        };
        Usage { output, ..self }
    }

    /// The output without reasoning, for such a dialect.
    pub fn output_beside_reasoning(&self) -> Option<u64> {
        Some(self.output?.saturating_sub(self.reasoning.unwrap_or(0)))
    }
}

/// The gateway's own estimate for a request: `ceil(chars / 4 × 1.1)` and 2,500 for an image (wire.md §9).
pub fn estimate_tokens(request: &Request) -> u64 {
    let mut count = Count::default();
    request.parts().for_each(|part| count.part(part));
    request.tools.iter().for_each(|tool| count.tool(tool));
    if let Some(StructuredOutput::Schema { schema, .. }) = &request.structured_output {
        count.text(schema.get());
    }
    estimate_chars(count.chars) + count.images * 2_500
}

/// Characters of base64, of a PDF or of sound, that count as one of text. What they cost no API tells beforehand:
/// providers count a page as some hundreds to 3,000 tokens, and a page is some tens of KB. Counting every byte
/// would refuse each as too large.
const DATA_A_CHAR: u64 = 10;

#[derive(Default)]
struct Count {
    chars: u64,
    images: u64,
}

impl Count {
    fn text(&mut self, text: &str) {
        self.chars += text.chars().count() as u64;
    }

    fn part(&mut self, part: &Part) {
        match &part.content {
            Content::Text(text) | Content::Refusal(text) => self.chars += text.char_count() as u64,
            Content::Thinking(thinking) => self.text(&thinking.text),
            Content::Image(_) => self.images += 1,
            Content::Document(document) => match &document.source {
                Source::Text(text) => self.text(text),
                Source::Base64 { data, .. } => match document.text() {
                    Some(text) => self.text(&text),
                    None => self.chars += data.len() as u64 / DATA_A_CHAR,
                },
                Source::Url(_) | Source::File(_) => {}
            },
            Content::Audio(audio) => {
                if let Source::Base64 { data, .. } = &audio.source {
                    self.chars += data.len() as u64 / DATA_A_CHAR;
                }
            }
            Content::Redacted { .. } => {}
            Content::ToolCall(call) => {
                self.text(&call.name);
                self.chars += call.arguments.char_count() as u64;
            }
            Content::ToolResult(result) => result.parts.iter().for_each(|part| self.part(part)),
            Content::Vendor { raw, .. } => self.text(raw.get()),
        }
    }

    fn tool(&mut self, tool: &Tool) {
        match tool {
            Tool::Function { name, description, parameters, .. } => {
                self.text(name);
                self.text(description.as_deref().unwrap_or_default());
                self.text(parameters.as_ref().map_or("", Raw::get));
            }
            Tool::Custom { name, description, grammar, .. } => {
                self.text(name);
                self.text(description.as_deref().unwrap_or_default());
                self.text(grammar.as_ref().map_or("", Raw::get));
            }
            Tool::Vendor { raw, .. } => self.text(raw.get()),
        }
    }
}

/// The estimate for a text alone, such as an answer whose provider counted nothing.
pub fn estimate_text_tokens(text: &str) -> u64 {
    estimate_chars(text.chars().count() as u64)
}

/// `ceil(chars / 4 × 1.1)`
fn estimate_chars(chars: u64) -> u64 {
    (chars * 11).div_ceil(40)
}

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn w057_cached_tokens_are_counted_once() {
        let usage =
            Usage { input: Some(100), cache_read: Some(80), cache_write: Some(5), ..Usage::default() };
        assert_eq!(usage.input_beside_cache(), Some(15));
        assert_eq!(usage.with_input_beside_cache(Some(15)), usage);
        let odd = Usage { input: Some(3), cache_read: Some(80), ..Usage::default() };
        assert_eq!(odd.input_beside_cache(), Some(0));
        assert_eq!(Usage::default().input_beside_cache(), None);
    }

    #[test]
    fn reasoning_is_counted_once() {
        let usage = Usage { output: Some(30), reasoning: Some(20), ..Usage::default() };
        assert_eq!(usage.output_beside_reasoning(), Some(10));
        assert_eq!(usage.with_output_beside_reasoning(Some(10)), usage);
        assert_eq!(Usage::default().with_output_beside_reasoning(None), Usage::default());
    }
}
