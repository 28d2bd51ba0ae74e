//! What is asked: short questions, and the long conversations of agents.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::replies::Script;

/// The API of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Chat,
    Anthropic,
}

impl Api {
    pub fn path(self) -> &'static str {
        match self {
            Api::Chat => "/v1/chat/completions",
            Api::Anthropic => "/v1/messages",
        }
    }
}

/// How much is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Short,
    /// A conversation of about so many bytes.
    Conversation(usize),
}

pub fn request(to: SocketAddr, path: &str, body: &str, session: usize) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\naccept: */*\r\n\
         anthropic-version: 2023-06-01\r\nx-session-id: bench-{session}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

pub fn body(api: Api, model: &str, script: Script, size: Size, session: usize) -> String {
    let question = json!({"role": "user", "content": format!("Conversation {session}: count to twenty.")});
    let mut body = json!({"model": model, "stream": script.is_streamed(), "messages": [question]});
    match api {
        Api::Anthropic => body["max_tokens"] = json!(1000),
        Api::Chat if script.is_streamed() => body["stream_options"] = json!({"include_usage": true}),
        Api::Chat => {}
    }
    if let Size::Conversation(bytes) = size {
        body["tools"] = (0..TOOLS).map(tool).collect();
        let mut messages = vec![json!({"role": "system", "content": SOURCE.repeat(8)}), question];
        let mut length = body.to_string().len() + messages[0].to_string().len();
        for step in 0.. {
            if length >= bytes {
                break;
            }
            let made = agent_step(step);
            length += made.iter().map(|message| message.to_string().len() + 1).sum::<usize>();
            messages.extend(made);
        }
        body["messages"] = messages.into();
    }
    body.to_string()
}

const TOOLS: usize = 16;

/// Text as agents read and write it: lines, quotes, tabs, and letters past ASCII.
const SOURCE: &str = "fn retry(limit: u32) -> Result<(), Error> {\n\tfor attempt in 0..limit {\n\t\tmatch send(\"réseau\") {\n\
     \t\t\tOk(()) => return Ok(()),\n\t\t\tErr(error) if attempt + 1 == limit => return Err(error),\n\t\t\t\
     Err(error) => log::warn!(\"attempt {attempt}: {error} — trying again…\"),\n\t\t}\n\t}\n\tOk(())\n}\n";

fn tool(number: usize) -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    json!({"type": "function", "function": {
        "name": format!("tool_{number}"),
        "description": "Reads a file from the local filesystem. The path must be absolute. ".repeat(8),
        "parameters": {
            "type": "object",
            "properties": {
                "path": text("The absolute path of the file to read"),
                "pattern": text("The pattern to search for"),
                "limit": {"type": "integer", "description": "How many lines to read"},
            },
            "required": ["path"],
            "additionalProperties": false,
        },
    }})
}

/// The model calls a tool, and the tool answers.
fn agent_step(step: usize) -> [Value; 2] {
    let id = format!("call_{step:024}");
    let arguments = json!({"path": format!("/src/module_{step}.rs"), "content": SOURCE}).to_string();
    let function = json!({"name": format!("tool_{}", step % TOOLS), "arguments": arguments});
    [
        json!({
            "role": "assistant",
            "content": format!("Step {step}: I will look at how the retry loop ends."),
            "tool_calls": [{"id": id, "type": "function", "function": function}],
        }),
        json!({"role": "tool", "tool_call_id": id, "content": SOURCE.repeat(1 + step % 7 * 2)}),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_as_long_as_asked() {
        for wanted in [400_000, 2_000_000] {
            let size = Size::Conversation(wanted);
            let length = body(Api::Chat, "m", Script::Whole, size, 1).len();
            assert!((wanted..wanted + 10_000).contains(&length), "{length}");
        }
    }
}
