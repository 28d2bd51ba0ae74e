//! Media: data URLs, types told by the first bytes.

use crate::model::Source;

/// The media type of an image by its first bytes, given as base64; `None` when they are no image we know.
pub(crate) fn image_type(base64: &str) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n", "image/png"),
        (b"\xFF\xD8\xFF", "image/jpeg"),
        (b"GIF8", "image/gif"),
        (b"BM", "image/bmp"),
        (b"II*\0", "image/tiff"),
        (b"MM\0*", "image/tiff"),
        (b"<svg", "image/svg+xml"),
    ];
    let head = head(base64);
    let at = |from: usize, mark: &[u8]| head.get(from..).is_some_and(|rest| rest.starts_with(mark));
    if at(0, b"RIFF") && at(8, b"WEBP") {
        return Some("image/webp");
    }
    if at(4, b"ftyp") {
        return Some(if at(8, b"avi") { "image/avif" } else { "image/heic" });
    }
    KNOWN.iter().find(|(mark, _)| at(0, mark)).map(|(_, media_type)| *media_type)
}

/// Whether a document of this type is text, which every model can read.
pub(crate) fn is_text(media_type: &str) -> bool {
    const TEXT: &[&str] = &[
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
        "application/x-sh",
        "application/sql",
    ];
    let plain = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    plain.starts_with("text/") || TEXT.contains(&plain.as_str())
}

/// What base64 stands for: either alphabet, with or without padding, spaces anywhere. `None` when it is none.
pub(crate) fn decode(base64: &str) -> Option<Vec<u8>> {
    let text = base64.trim_end().trim_end_matches('=');
    let digits: Option<Vec<u32>> =
        text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(digit).collect();
    digits.filter(|digits| !digits.is_empty() && digits.len() % 4 != 1).map(bytes)
}

/// The first bytes of what base64 stands for, at most twelve.
fn head(base64: &str) -> Vec<u8> {
    let digits = base64.bytes().filter(|byte| !byte.is_ascii_whitespace());
    bytes(digits.map_while(digit).take(16))
}

fn digit(byte: u8) -> Option<u32> {
    let digit = match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(digit.into())
}

fn bytes(digits: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let digits = digits.into_iter();
    let mut bytes = Vec::with_capacity(digits.size_hint().0 / 4 * 3 + 2);
    let (mut bits, mut held) = (0u32, 0);
    for digit in digits {
        bits = bits << 6 | digit;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}

/// An http(s) URL, or a `data:…;base64,…` URL taken apart; anything else is given back as `None`.
pub(crate) fn source_from_url(mut url: String) -> Option<Source> {
    if is_http(&url) {
        return Some(Source::Url(url));
    }
    let comma = url.find(',')?;
    let head = url.get(..comma)?.to_ascii_lowercase();
    let media_type = head.strip_prefix("data:")?.strip_suffix(";base64")?;
    // Parameters between the type and `base64` say nothing about the bytes.
    let media_type = media_type.split(';').next().unwrap_or_default().to_owned();
    let (kind, subtype) = media_type.split_once('/')?;
    if kind.is_empty() || subtype.is_empty() || url.len() == comma + 1 {
        return None;
    }
    url.drain(..=comma);
    Some(Source::Base64 { media_type, data: url })
}

/// The same bytes in the alphabet and with the padding that every API reads: those that read the alphabet of URLs
/// too, padded or not, have callers that write it.
pub(crate) fn usual_base64(mut data: String) -> String {
    if data.contains(['-', '_']) {
        data = data.replace('-', "+").replace('_', "/");
    }
    match data.len() % 4 {
        2 => data.push_str("=="),
        3 => data.push('='),
        _ => {}
    }
    data
}

/// How many bytes the base64 stands for.
pub(crate) fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

fn is_http(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        url.len() > scheme.len()
            && url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && !url.contains(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_their_first_bytes() {
        for (base64, wanted) in [
            ("iVBORw0KGgoAAAANSUhEUg", Some("image/png")),
            ("/9j/4AAQSkZJRg", Some("image/jpeg")),
            ("R0lGODlhAQABAIAAAAA", Some("image/gif")),
            // RIFF 0x24 0 0 0 WEBPVP8, then RIFF 0xff 0xff 0 0 WEBPVP8
            ("UklGRiQAAABXRUJQVlA4", Some("image/webp")),
            ("UklGRv//AABXRUJQVlA4", Some("image/webp")),
            ("UklGRiQAAABXQVZFZm10", None),
            ("AAAAIGZ0eXBhdmlm", Some("image/avif")),
            ("AAAAGGZ0eXBoZWlj", Some("image/heic")),
            ("Qk1GAAAA", Some("image/bmp")),
            ("aGVsbG8=", None),
            ("", None),
        ] {
            assert_eq!(image_type(base64), wanted, "{base64}");
        }
    }

    #[test]
    fn data_urls_are_taken_apart_and_put_together() {
        let source = Source::from_url("data:Image/PNG;name=a;base64,iVBO".to_owned()).unwrap();
        assert_eq!(source, Source::Base64 { media_type: "image/png".to_owned(), data: "iVBO".to_owned() });
        assert_eq!(source.to_url().unwrap(), "data:image/png;base64,iVBO");
        let url = Source::from_url("HTTPS://h/i.png".to_owned()).unwrap();
        assert_eq!(url.to_url().unwrap(), "HTTPS://h/i.png");
        for bad in [
            "",
            "ftp://h",
            "https://",
            "https://a b",
            "data:image/png,x",
            "data:image/;base64,x",
            "data:;base64,x",
            "data:image/png;base64,",
        ] {
            assert_eq!(Source::from_url(bad.to_owned()), None, "{bad}");
        }
    }
}
