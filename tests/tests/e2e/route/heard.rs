//! What an agent hears, in no API's words: the same from a stream as from a whole reply.

mod read;

use bench_tests::{sse::Ended, within};
use http::{HeaderMap, Response, response::Parts};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use super::caller::Caller;

/// A reply, read to its end.
#[derive(Clone, Debug)]
pub struct Heard {
    pub status: u16,
    pub headers: HeaderMap,
    /// In order; pieces of one part are one.
    pub parts: Vec<Part>,
    /// In the API's own word.
    pub finish: Option<String>,
    pub model: Option<String>,
    /// As it is beside the answer, wherever the API has room.
    pub bench: Option<Value>,
    /// The error's object, before or in the stream.
    pub error: Option<Value>,
    /// How many pieces arguments came in.
    pub fragments: usize,
    /// The API's own end mark of an answer that is whole was there.
    pub proper: bool,
    pub ended: Ended,
    /// The body.
    pub raw: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Thinking {
        text: String,
        seal: Option<String>,
    },
    /// Messages' own: nothing but a seal.
    Redacted(String),
    Text(String),
    Call(Called),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    pub id: String,
    pub name: String,
    pub namespace: Option<String>,
    /// JSON; of a free-form tool, its text.
    pub arguments: String,
    pub custom: bool,
    pub seal: Option<String>,
}

impl Heard {
    pub async fn read(caller: Caller, stream: bool, response: Response<Incoming>) -> Heard {
        let (head, body) = response.into_parts();
        Heard::go_on(caller, stream, head, Vec::new(), body).await
    }

    /// The same when so many bytes have been read already.
    pub async fn go_on(
        caller: Caller,
        stream: bool,
        head: Parts,
        mut bytes: Vec<u8>,
        mut body: Incoming,
    ) -> Heard {
        let ended = loop {
            match within("the next piece of a reply", body.frame()).await {
                Some(Ok(frame)) => bytes.extend_from_slice(frame.data_ref().expect("no trailers")),
                Some(Err(_)) => break Ended::Broken,
                None => break Ended::Properly,
            }
        };
        let mut heard = Heard {
            status: head.status.as_u16(),
            headers: head.headers,
            parts: Vec::new(),
            finish: None,
            model: None,
            bench: None,
            error: None,
            fragments: 0,
            proper: false,
            ended,
            raw: String::from_utf8(bytes).expect("a reply is UTF-8"),
        };
        // An error before the stream is one JSON value.
        let streamed = stream && heard.status == 200;
        read::read(&mut heard, caller, streamed);
        heard
    }

    /// The text alone.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The thoughts alone.
    pub fn thinking(&self) -> String {
        let thoughts = self.parts.iter().filter_map(|part| match part {
            Part::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        });
        thoughts.collect()
    }

    pub fn calls(&self) -> Vec<&Called> {
        let calls =
            self.parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None });
        calls.collect()
    }

    /// A header's text, or empty.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Who answered, by the header.
    pub fn by(&self) -> &str {
        self.header("x-bench-model")
    }

    pub fn conversation(&self) -> &str {
        self.header("x-bench-conversation")
    }

    /// A field of `bench`; null where there is none.
    pub fn bench(&self, field: &str) -> Value {
        self.bench.as_ref().map_or(Value::Null, |bench| bench[field].clone())
    }

    /// The error's words.
    pub fn said_error(&self) -> &str {
        match &self.error {
            Some(Value::String(words)) => words,
            Some(error) => error["message"].as_str().unwrap_or_default(),
            None => "",
        }
    }

    /// The whole answer is there, and ends as one that is whole.
    pub fn is_whole(&self) -> bool {
        self.status == 200 && self.proper && self.error.is_none() && self.ended == Ended::Properly
    }
}
