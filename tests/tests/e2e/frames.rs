//! A reply's bytes as they come, whatever they are: for APIs that do not stream events, and for what is live.

use bench_tests::{Gateway, http::Http, sse::Ended, within};
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

/// A body being read.
pub struct Frames {
    body: Incoming,
    /// All that has come.
    pub text: String,
}

impl Frames {
    /// Posts, and reads no more than the head. Panics unless it is a 200.
    pub async fn post(http: &Http, path: &str, body: &Value) -> Frames {
        let request = http.request(Method::POST, path).header("content-type", "application/json");
        Frames::of(http.head(request, body.to_string()).await)
    }

    /// Everything that happens from now on, a JSON value a line.
    pub async fn live(gateway: &Gateway) -> Frames {
        let token =
            std::fs::read_to_string(gateway.home.data().join("control.token")).expect("control.token");
        let request = gateway.http.request(Method::GET, "/bench/admin/events");
        let request = request.header("authorization", format!("Bearer {}", token.trim()));
        Frames::of(gateway.http.head(request, "").await)
    }

    fn of(response: http::Response<Incoming>) -> Frames {
        assert_eq!(response.status(), 200, "the head");
        Frames { body: response.into_body(), text: String::new() }
    }

    /// Reads on until `words` have come.
    pub async fn until(&mut self, words: &str) {
        while !self.text.contains(words) {
            if let Err(ended) = self.more().await {
                panic!("it ended ({ended:?}) without {words:?}: {}", self.text)
            }
        }
    }

    /// Reads on until more than so many bytes have come.
    pub async fn beyond(&mut self, bytes: usize) {
        while self.text.len() <= bytes {
            if let Err(ended) = self.more().await {
                panic!("it ended ({ended:?}) after {bytes} bytes: {}", self.text)
            }
        }
    }

    /// Everything to the end, and how it ended.
    pub async fn rest(mut self) -> (String, Ended) {
        loop {
            if let Err(ended) = self.more().await {
                return (self.text, ended);
            }
        }
    }

    /// The lines that are whole by now, as JSON.
    pub fn lines(&self) -> Vec<Value> {
        self.text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    async fn more(&mut self) -> Result<(), Ended> {
        match within("the next piece of a body", self.body.frame()).await {
            Some(Ok(frame)) => {
                self.text.push_str(&String::from_utf8_lossy(frame.data_ref().expect("no trailers")));
                Ok(())
            }
            Some(Err(_)) => Err(Ended::Broken),
            None => Err(Ended::Properly),
        }
    }
}
