//! A reply to a caller, chunk by chunk: as server-sent events, or as one JSON array.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::{Value, json};

use super::{
    error,
    member::node::Node,
    reply::{chunk, finish_word, function_call, is_metadata, redacted, said},
    seal,
};
use crate::{
    dialect::Dialect,
    error::ApiError,
    format::{EventEncoder, ReplyHead, Silence},
    json as text,
    model::{CallStart, Event, Finish, Form},
    sse,
    usage::Usage,
};

/// Each call goes out whole, when it has ended.
pub(super) struct ChunkWriter {
    head: ReplyHead,
    /// The array's bracket is out.
    begun: bool,
    /// The last piece was a thought, which a signature then closes.
    in_thought: bool,
    calls: BTreeMap<usize, (CallStart, String)>,
    finish: Finish,
    usage: Usage,
}

impl ChunkWriter {
    pub fn new(head: ReplyHead) -> Self {
        ChunkWriter {
            head,
            begun: false,
            in_thought: false,
            calls: BTreeMap::new(),
            finish: Finish::Stop,
            usage: Usage::default(),
        }
    }

    fn part<'a>(&'a mut self, part: impl Into<Node<'a>>) -> Vec<u8> {
        let index = vec![("index", json!(0).into())];
        let fields = text::to_vec(&chunk(&self.head, Some(vec![part.into()]), index, None, None));
        self.piece(&fields)
    }

    fn piece(&mut self, fields: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        if self.head.form == Form::Array {
            let before = if std::mem::replace(&mut self.begun, true) { ",\r\n" } else { "[" };
            out.extend_from_slice(before.as_bytes());
            out.extend_from_slice(fields);
        } else {
            sse::write(&mut out, None, &String::from_utf8_lossy(fields));
        }
        out
    }

    fn close(&self, mut out: Vec<u8>) -> Vec<u8> {
        if self.head.form == Form::Array {
            out.push(b']');
        }
        out
    }

    fn tell(&mut self, event: &Event) -> Vec<u8> {
        let was_thought = std::mem::replace(&mut self.in_thought, matches!(event, Event::Thinking(_)));
        match event {
            Event::Text(text) | Event::Refusal(text) => self.part(said(text)),
            Event::Thinking(text) => self.part(json!({ "text": text, "thought": true })),
            Event::ThinkingSignature(seal) => {
                let mut part = json!({ "text": "", "thoughtSignature": seal::to_caller(seal) });
                if was_thought {
                    part["thought"] = json!(true);
                }
                self.part(part)
            }
            Event::CallStart(start) => {
                self.calls.insert(start.index, (start.clone(), String::new()));
                Vec::new()
            }
            Event::CallArguments { index, delta } => {
                if let Some((_, arguments)) = self.calls.get_mut(index) {
                    arguments.push_str(delta);
                }
                Vec::new()
            }
            Event::CallEnd { index } => match self.calls.remove(index) {
                Some((start, arguments)) => {
                    let call = function_call(&start.id, &start.name, &arguments, start.signature.as_ref());
                    self.part(call)
                }
                None => Vec::new(),
            },
            Event::Image { media_type, data } => {
                self.part(json!({ "inlineData": { "mimeType": media_type, "data": data } }))
            }
            Event::Vendor { dialect, kind, raw } if *dialect == Dialect::Gemini => {
                let raw = Node::Raw(Cow::Borrowed(raw));
                if !is_metadata(kind) {
                    return self.part(raw);
                }
                let about = vec![("index", json!(0).into()), (kind.as_str(), raw)];
                let fields = text::to_vec(&chunk(&self.head, None, about, None, None));
                self.piece(&fields)
            }
            Event::Usage(usage) => {
                self.usage.update(*usage);
                self.in_thought = was_thought;
                Vec::new()
            }
            Event::Finish { reason, .. } => {
                self.finish = *reason;
                Vec::new()
            }
            Event::Redacted { seal, id } => self.part(redacted(seal, id.as_deref())),
            Event::Vendor { .. } | Event::Model(_) | Event::Error(_) => Vec::new(),
        }
    }
}

impl EventEncoder for ChunkWriter {
    fn event_to(&mut self, event: &Event, out: &mut Vec<u8>) {
        out.extend(self.tell(event));
    }

    /// There are no comments in an array, and clients of events count chunks.
    fn keep_alive(&mut self, _silence: Silence) -> Vec<u8> {
        self.part(said(""))
    }

    fn finish(&mut self, usage: Usage, bench: Option<&Value>) -> Vec<u8> {
        self.usage.update(usage);
        let about = vec![("finishReason", finish_word(self.finish).into()), ("index", json!(0).into())];
        let end = chunk(&self.head, Some(vec![said("")]), about, Some(self.usage), bench);
        let fields = text::to_vec(&end);
        let out = self.piece(&fields);
        self.close(out)
    }

    fn error(&mut self, error: &ApiError, bench: Option<&Value>) -> Vec<u8> {
        let out = self.piece(&text::to_vec(&error::shape(error, None, bench)));
        self.close(out)
    }
}
