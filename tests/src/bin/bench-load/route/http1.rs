//! As much of HTTP/1.1's framing as a load and its upstream need, on bytes that are there already.

/// A request's or a reply's head.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// Its length, with the empty line.
    pub length: usize,
    pub body: Body,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    Bytes(usize),
    Chunks,
}

pub const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// The head that `bytes` begin with; `None` while it is not whole.
pub fn head(bytes: &[u8]) -> Option<Head> {
    let end = find(bytes, b"\r\n\r\n")?;
    let mut body = Body::Bytes(0);
    for line in bytes[..end].split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            body = Body::Bytes(length.expect("content-length is a number"));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            body = Body::Chunks;
        }
    }
    Some(Head { length: end + 4, body })
}

/// Whether the message that `bytes` begin with is whole. Nothing here is sent behind a message, so that the
/// chunks need not be walked through while a clock runs.
pub fn is_whole(bytes: &[u8], head: &Head) -> bool {
    match head.body {
        Body::Bytes(length) => bytes.len() >= head.length + length,
        Body::Chunks => bytes.ends_with(LAST_CHUNK),
    }
}

/// The body of a whole message.
pub fn payload(bytes: &[u8], head: &Head) -> Vec<u8> {
    let mut rest = &bytes[head.length..];
    if head.body != Body::Chunks {
        return rest.to_vec();
    }
    let mut payload = Vec::with_capacity(rest.len());
    while let Some(line) = find(rest, b"\r\n") {
        let size =
            std::str::from_utf8(&rest[..line]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let from = line + 2;
        let to = from + size.expect("a chunk's size is a hexadecimal number");
        payload.extend_from_slice(&rest[from..to]);
        rest = &rest[to + 2..];
    }
    payload
}

pub fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_tells_how_its_body_ends() {
        assert_eq!(head(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"), None);
        let counted = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
        let head_of = head(counted).unwrap();
        assert_eq!(head_of, Head { length: 38, body: Body::Bytes(2) });
        assert!(is_whole(counted, &head_of) && !is_whole(&counted[..39], &head_of));
        assert_eq!(payload(counted, &head_of), b"ab");
        assert_eq!(head(b"GET / HTTP/1.1\r\nhost: a:80\r\n\r\n").unwrap().body, Body::Bytes(0));
    }

    #[test]
    fn chunks_are_put_together_when_the_last_is_there() {
        let chunked =
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\nA\r\n0123456789\r\n0\r\n\r\n";
        let head_of = head(chunked).unwrap();
        assert_eq!(head_of.body, Body::Chunks);
        assert!(is_whole(chunked, &head_of));
        assert!((head_of.length..chunked.len()).all(|cut| !is_whole(&chunked[..cut], &head_of)));
        assert_eq!(payload(chunked, &head_of), b"ab0123456789");
    }
}
