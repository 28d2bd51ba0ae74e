//! A caller's body for a member of the same API, edited in place.

use serde_json::{Value, json};

use super::{HEADERS, PATH};
use crate::{
    error::ApiError,
    format::Encoded,
    json as text,
    model::{Content, Request, Seal, Target},
    notice::Notice,
    relay,
    restore::Restore,
};

/// The caller's body with the model's name, and nothing else that need not be changed.
pub(in crate::anthropic) fn relay(
    body: &[u8],
    request: &Request,
    target: &Target,
) -> Result<Encoded, ApiError> {
    let mut notices = Vec::new();
    // Seals of translated answers carry our mark, and those of other members are refused.
    let unsealed =
        needs_unsealing(request, target).then(|| unseal(body, target, &mut notices)).transpose()?;
    let mut body = relay::Body::new(unsealed.as_deref().unwrap_or(body))?;
    body.set(&["model"], &Value::from(target.served.as_str()).to_string());
    body.remove("bench");
    body.remove("with");
    if let (Some(limit), Some(asked)) = (target.max_output, request.max_output)
        && asked > limit
    {
        body.set(&["max_tokens"], &limit.to_string());
        notices.push(Notice::new(
            "max_tokens",
            format!("cut from {asked} to {limit}, the most this model writes"),
        ));
    }
    let body = body.into_bytes();
    let (path, headers) = (PATH.to_owned(), HEADERS.to_vec());
    Ok(Encoded { path, headers, body, notices, restore: Restore::default() })
}

fn needs_unsealing(request: &Request, target: &Target) -> bool {
    request.parts().any(|part| match &part.content {
        Content::Thinking(thinking) => match &thinking.signature {
            Some(seal) => seal.origin.is_some(),
            None => target.quirks.signed_thinking,
        },
        Content::Redacted { seal, .. } => seal.origin.is_some(),
        _ => false,
    })
}

/// Takes our marks off the member's own seals, and other members' thinking out.
fn unseal(body: &[u8], target: &Target, notices: &mut Vec<Notice>) -> Result<Vec<u8>, ApiError> {
    let mut value = text::value(body)?;
    let messages = value.get_mut("messages").and_then(Value::as_array_mut);
    for (at, message) in messages.into_iter().flatten().enumerate() {
        let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) else { continue };
        let mut block_at = 0;
        blocks.retain_mut(|block| {
            let place = format!("messages[{at}].content[{block_at}]");
            block_at += 1;
            let name = match block["type"].as_str() {
                Some("thinking") => "signature",
                Some("redacted_thinking") => "data",
                _ => return true,
            };
            let seal = Seal::from_caller(block[name].as_str().unwrap_or_default());
            let reason = if seal.data.is_empty() && target.quirks.signed_thinking {
                "reasoning without a signature"
            } else if seal.origin.is_some_and(|member| member != target.member) {
                "reasoning signed by another member"
            } else {
                if seal.origin.is_none() {
                    return true;
                }
                block[name] = json!(seal.data);
                return true;
            };
            notices.push(Notice::new(place, reason));
            false
        });
    }
    if let Some(messages) = value.get_mut("messages").and_then(Value::as_array_mut) {
        // A turn in which nothing is left is refused.
        messages.retain(|message| !message["content"].as_array().is_some_and(Vec::is_empty));
    }
    Ok(text::to_vec(&value))
}
