use bytes::{Bytes, BytesMut};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, BufReader},
    net::tcp::OwnedReadHalf,
};

use super::{Api, replies::gemini};
use crate::{Gate, within};

/// A request as the provider saw it.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names as sent.
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
    pub(super) gone: Gate,
}

impl Received {
    /// The body as JSON; `Null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The model that is asked: the path's where the API has it there, else the body's, or empty.
    pub fn model(&self) -> String {
        match gemini::served(&self.path) {
            Some(served) => served.to_owned(),
            None => self.json()["model"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// The API a question is asked in, by its path.
    pub fn api(&self) -> Option<Api> {
        Api::of_path(&self.path)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Waits till the caller has hung up in the middle of the reply.
    pub async fn hung_up(&self) {
        within("the caller hanging up on the provider", self.gone.passed()).await;
    }
}

/// What stands after the host, where a proxy is asked.
fn origin_form(target: &str) -> String {
    let rest = target.strip_prefix("http://").and_then(|rest| rest.find('/').map(|at| &rest[at..]));
    rest.unwrap_or(target).to_owned()
}

/// Reads the next request of a connection; `None` at its end.
pub(super) async fn read(from: &mut BufReader<OwnedReadHalf>) -> Option<Received> {
    let mut head = BytesMut::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.extend_from_slice(&[from.read_u8().await.ok()?]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), origin_form(first.next()?));
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    let mut request = Received { method, path, headers, body: Bytes::new(), gone: Gate::shut() };
    request.body = if request.header("transfer-encoding").is_some() {
        chunked(from).await?
    } else {
        let length = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        exactly(from, length).await?
    };
    Some(request)
}

async fn exactly(from: &mut BufReader<OwnedReadHalf>, length: usize) -> Option<Bytes> {
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes).await.ok()?;
    Some(bytes.into())
}

async fn chunked(from: &mut BufReader<OwnedReadHalf>) -> Option<Bytes> {
    let mut body = BytesMut::new();
    loop {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.push(from.read_u8().await.ok()?);
        }
        let size = String::from_utf8_lossy(&line);
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        body.extend_from_slice(&exactly(from, size).await?);
        exactly(from, 2).await?;
        if size == 0 {
            return Some(body.freeze());
        }
    }
}
