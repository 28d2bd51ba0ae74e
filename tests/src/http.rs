//! An HTTP client that shows everything: statuses, headers, each event of a stream, how a stream ended.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{sse::EventStream, within};

/// Talks to one gateway.
#[derive(Clone, Debug)]
pub struct Http {
    client: Client<HttpConnector, Full<Bytes>>,
    /// `http://127.0.0.1:PORT`
    pub url: String,
}

/// A whole reply.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Http {
    pub fn new(url: &str) -> Self {
        Http { client: Client::builder(TokioExecutor::new()).build_http(), url: url.to_owned() }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path), Bytes::new()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        self.send(request, body.to_string()).await
    }

    /// A chat request, whole.
    pub async fn chat(&self, body: &Value) -> Answer {
        self.post("/v1/chat/completions", body).await
    }

    /// A chat request, whole; `None` when nobody listens or the connection breaks.
    pub async fn try_chat(&self, body: &Value) -> Option<Answer> {
        let request =
            self.request(Method::POST, "/v1/chat/completions").header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a request");
        let (head, body) = within("a reply or none", self.client.request(request)).await.ok()?.into_parts();
        let body = within("the body", body.collect()).await.ok()?.to_bytes();
        Some(Answer { status: head.status, headers: head.headers, body })
    }

    /// A chat request, streamed: `stream: true` is put in. Panics unless the head is a 200.
    pub async fn stream(&self, body: &Value) -> EventStream {
        let response = self.stream_head(body).await;
        assert_eq!(response.status(), 200, "the stream's head");
        EventStream::new(response)
    }

    /// The head of a streamed chat request, whatever it says.
    pub async fn stream_head(&self, body: &Value) -> http::Response<Incoming> {
        let mut body = body.clone();
        body["stream"] = Value::Bool(true);
        let request =
            self.request(Method::POST, "/v1/chat/completions").header("content-type", "application/json");
        self.head(request, body.to_string()).await
    }

    /// A request to build on; the path is taken as it is.
    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let uri: Uri = format!("{}{path}", self.url).parse().expect("a URI");
        Request::builder().method(method).uri(uri)
    }

    pub async fn send(&self, request: http::request::Builder, body: impl Into<Bytes>) -> Answer {
        whole(self.head(request, body).await).await
    }

    /// Sends a request and reads the head of its reply.
    pub async fn head(
        &self,
        request: http::request::Builder,
        body: impl Into<Bytes>,
    ) -> http::Response<Incoming> {
        let request = request.body(Full::new(body.into())).expect("a request");
        let what = format!("{} {}", request.method(), request.uri());
        within(&what, self.client.request(request)).await.unwrap_or_else(|error| panic!("{what}: {error:?}"))
    }

    /// Bytes as they are on a connection of their own; what comes back until it is closed. Say
    /// `connection: close`.
    pub async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The gateway may answer and close before it has read everything.
        let _ = stream.write_all(bytes).await;
        let mut back = Vec::new();
        let read = within("the reply to raw bytes", stream.read_to_end(&mut back)).await;
        assert!(read.is_ok() || !back.is_empty(), "the connection was reset without a reply: {read:?}");
        String::from_utf8_lossy(&back).into_owned()
    }

    /// A bare connection to the gateway.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.authority()).await.expect("the gateway listens")
    }

    /// `127.0.0.1:PORT`
    pub fn authority(&self) -> &str {
        self.url.trim_start_matches("http://")
    }
}

/// Reads a reply to its end.
pub async fn whole(response: http::Response<Incoming>) -> Answer {
    let (head, body) = response.into_parts();
    let body = within("the body", body.collect()).await.expect("a whole body").to_bytes();
    Answer { status: head.status, headers: head.headers, body }
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A header's text, or empty.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The error's message; panics when the body is not the chat format's error shape of this status, type and
    /// code.
    pub fn refusal(&self, status: u16, kind: &str, code: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let error = &self.json()["error"];
        assert_eq!(error["type"], kind, "{error}");
        assert_eq!(error["code"], code, "{error}");
        assert!(error.as_object().is_some_and(|error| error.contains_key("param")), "no param in {error}");
        assert!(!self.header("x-request-id").is_empty(), "no x-request-id");
        error["message"].as_str().unwrap_or_else(|| panic!("no message in {error}")).to_owned()
    }
}
