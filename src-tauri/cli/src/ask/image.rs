//! Images of `bench ask --image`: a file becomes a data URL, a URL stays one.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::failure::Failure;

/// What a panel can be shown.
pub fn image(given: &str) -> Result<String, Failure> {
    let is_url = ["http://", "https://", "data:"].iter().any(|scheme| given.starts_with(scheme));
    if is_url {
        return Ok(given.to_owned());
    }
    let wrong = |why: String| Failure::Usage(format!("--image {given}: {why}"));
    let bytes = std::fs::read(Path::new(given)).map_err(|error| wrong(error.to_string()))?;
    match kind(&bytes) {
        Some(kind) => Ok(format!("data:image/{kind};base64,{}", STANDARD.encode(bytes))),
        None => Err(wrong("this is not a PNG, JPEG, GIF or WebP image".to_owned())),
    }
}

/// By its first bytes: a file's name may lie, and providers look at the bytes.
fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("png"),
        [0xff, 0xd8, 0xff, ..] => Some("jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::image;

    #[test]
    fn a_file_is_known_by_its_first_bytes() {
        let cases: [(&[u8], Option<&str>); 7] = [
            (b"\x89PNG\r\n\x1a\nx", Some("data:image/png;base64,iVBORw0KGgp4")),
            (b"\xff\xd8\xff\xe0", Some("data:image/jpeg;base64,/9j/4A==")),
            (b"GIF89a", Some("data:image/gif;base64,R0lGODlh")),
            (b"RIFF\x04\x00\x00\x00WEBP", Some("data:image/webp;base64,UklGRgQAAABXRUJQ")),
            (b"RIFF\x04\x00\x00\x00WAVE", None),
            (b"<svg/>", None),
            (b"", None),
        ];
        let folder = tempfile::tempdir().unwrap();
        // The name says nothing.
        let file = folder.path().join("picture.png");
        for (bytes, wanted) in cases {
            std::fs::write(&file, bytes).unwrap();
            let made = image(&file.to_string_lossy());
            match wanted {
                Some(url) => assert_eq!(made.unwrap(), url),
                None => {
                    let why = made.unwrap_err().message().unwrap();
                    assert!(
                        why.ends_with("picture.png: this is not a PNG, JPEG, GIF or WebP image"),
                        "{why}"
                    );
                }
            }
        }
    }

    #[test]
    fn urls_stay_and_a_missing_file_is_named() {
        for url in ["https://example.com/a.png", "http://127.0.0.1/a", "data:image/png;base64,AA=="] {
            assert_eq!(image(url).unwrap(), url);
        }
        let failure = image("no-such.png").unwrap_err();
        assert_eq!(failure.exit(), 2);
        assert!(failure.message().unwrap().starts_with("--image no-such.png: "));
    }
}
