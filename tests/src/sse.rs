//! Reads the gateway's event streams, independently of the product's own decoder.

use bytes::BytesMut;
use http::HeaderMap;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use crate::within;

/// A stream being read.
#[derive(Debug)]
pub struct EventStream {
    pub headers: HeaderMap,
    body: Incoming,
    buffer: BytesMut,
    ended: Option<Ended>,
}

/// How the body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With the final chunk of the transfer coding.
    Properly,
    /// The connection was closed before it.
    Broken,
}

/// A stream read to its end.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// Each event's data, in order; `[DONE]` too.
    pub data: Vec<String>,
    pub comments: usize,
    pub ended: Ended,
}

impl EventStream {
    pub fn new(response: http::Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        EventStream { headers: head.headers, body, buffer: BytesMut::new(), ended: None }
    }

    /// The next event's data; `None` at the end. Comments are passed over.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            match self.block().await?.strip_prefix("data: ") {
                Some(data) => return Some(data.to_owned()),
                None => continue,
            }
        }
    }

    /// Reads events until their joined text holds `text`; returns the joined text.
    pub async fn until(&mut self, text: &str) -> String {
        let mut joined = String::new();
        while !joined.contains(text) {
            let Some(data) = self.next().await else {
                panic!("the stream ended without {text:?}:\n{joined}")
            };
            joined.push_str(&delta(&data));
        }
        joined
    }

    /// Everything to the end.
    pub async fn rest(mut self) -> Streamed {
        let mut read = Streamed { data: Vec::new(), comments: 0, ended: Ended::Properly };
        while let Some(block) = self.block().await {
            match block.strip_prefix("data: ") {
                Some(data) => read.data.push(data.to_owned()),
                None => {
                    assert!(block.starts_with(':'), "neither data nor a comment: {block:?}");
                    read.comments += 1;
                }
            }
        }
        read.ended = self.ended.expect("read to the end");
        read
    }

    /// One block, up to its blank line.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let block = self.buffer.split_to(at + 2);
                let text = std::str::from_utf8(&block[..at]).expect("an event is UTF-8");
                assert!(!text.contains('\n'), "one line an event: {text:?}");
                return Some(text.to_owned());
            }
            if self.ended.is_some() {
                assert!(self.buffer.is_empty(), "bytes after the last event: {:?}", self.buffer);
                return None;
            }
            match within("the next piece of a stream", self.body.frame()).await {
                Some(Ok(frame)) => self.buffer.extend_from_slice(frame.data_ref().expect("no trailers")),
                Some(Err(_)) => self.ended = Some(Ended::Broken),
                None => self.ended = Some(Ended::Properly),
            }
        }
    }
}

impl Streamed {
    /// The chat chunks, `[DONE]` and errors left out.
    pub fn chunks(&self) -> Vec<Value> {
        self.json().into_iter().filter(|data| data.get("choices").is_some()).collect()
    }

    /// Every event but `[DONE]`.
    pub fn json(&self) -> Vec<Value> {
        self.data
            .iter()
            .filter(|data| *data != "[DONE]")
            .map(|data| {
                serde_json::from_str(data).unwrap_or_else(|error| panic!("not JSON ({error}): {data}"))
            })
            .collect()
    }

    /// The deltas' text, joined.
    pub fn text(&self) -> String {
        self.data.iter().map(|data| delta(data)).collect()
    }

    /// The chunk that carries the finish reason.
    pub fn finish(&self) -> Value {
        let finishing: Vec<Value> = self
            .chunks()
            .into_iter()
            .filter(|chunk| chunk["choices"][0]["finish_reason"].is_string())
            .collect();
        assert_eq!(finishing.len(), 1, "one chunk finishes: {finishing:?}");
        finishing[0].clone()
    }
}

fn delta(data: &str) -> String {
    let chunk: Value = serde_json::from_str(data).unwrap_or(Value::Null);
    chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned()
}
