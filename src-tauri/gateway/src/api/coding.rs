//! Content codings of request bodies (wire.md §1): which are taken, and undoing them while the body arrives.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use async_compression::{
    tokio::bufread::{BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder},
    zstd::DParameter,
};
use http::{HeaderMap, header};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader, ReadBuf};
use wire::{ApiError, Kind, Origin};

/// `Accept-Encoding` of a refusal.
const TAKEN: &str = "gzip, br, deflate, zstd";

/// One may lie in another; nobody sends more, and each holds a window of memory.
const MOST: usize = 3;

/// RFC 9659: the largest window of `zstd` over HTTP is 8 MB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A body as it is being read.
pub(crate) type Reader<'a> = Box<dyn AsyncRead + Send + Unpin + 'a>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Brotli,
    /// zlib's, as the standard has it; bare deflate, as some send it.
    Deflate,
    Zstd,
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Brotli => "br",
            Coding::Deflate => "deflate",
            Coding::Zstd => "zstd",
        }
    }
}

/// More came out of a coding than it may hold.
#[derive(Debug, thiserror::Error)]
#[error("larger than it may be")]
pub(crate) struct TooMuch;

/// The codings of a body in the order they were applied. 415 for one that is not taken, with those that are.
pub(crate) fn codings(headers: &HeaderMap) -> Result<Vec<Coding>, ApiError> {
    let mut codings = Vec::new();
    for stated in headers.get_all(header::CONTENT_ENCODING) {
        for name in String::from_utf8_lossy(stated.as_bytes()).split(',').map(str::trim) {
            codings.extend(match name.to_ascii_lowercase().as_str() {
                "" | "identity" => None,
                "gzip" | "x-gzip" => Some(Coding::Gzip),
                "br" => Some(Coding::Brotli),
                "deflate" => Some(Coding::Deflate),
                "zstd" => Some(Coding::Zstd),
                _ => return Err(not_taken(&format!("\"{}\" is not read", wire::redact::shorten(name, 40)))),
            });
        }
    }
    match codings.len() {
        0..=MOST => Ok(codings),
        more => Err(not_taken(&format!("a body coded {more} times is not read; code it once"))),
    }
}

/// Undoes the codings, the last applied first. What comes out is at most `whole` bytes, and at most `coded`
/// between two codings: past that [`TooMuch`] is the error. Anything but the codings' own bytes, and all of
/// them, is an error too.
pub(crate) async fn undone<'a>(
    body: Reader<'a>,
    codings: &[Coding],
    coded: usize,
    whole: usize,
) -> io::Result<Reader<'a>> {
    let mut reader = body;
    for (at, coding) in codings.iter().enumerate().rev() {
        let mut coded_bytes = BufReader::new(reader);
        let decoder = match coding {
            Coding::Gzip => {
                let mut decoder = GzipDecoder::new(coded_bytes);
                decoder.multiple_members(true);
                Decoder::Gzip(decoder)
            }
            Coding::Brotli => Decoder::Brotli(BrotliDecoder::new(coded_bytes)),
            // Bare deflate never begins so: these bits would be a stored block's padding, which is zero.
            Coding::Deflate => match coded_bytes.fill_buf().await?.first() {
                Some(first) if first & 0x0f == 8 => Decoder::Zlib(ZlibDecoder::new(coded_bytes)),
                _ => Decoder::Deflate(DeflateDecoder::new(coded_bytes)),
            },
            Coding::Zstd => {
                let window = [DParameter::window_log_max(ZSTD_WINDOW_LOG)];
                let mut decoder = ZstdDecoder::with_params(coded_bytes, &window);
                decoder.multiple_members(true);
                Decoder::Zstd(decoder)
            }
        };
        reader = Box::new(Undone { decoder, left: if at == 0 { whole } else { coded } });
    }
    Ok(reader)
}

/// 400: the body is not what its codings say.
pub(crate) fn malformed(error: &io::Error, codings: &[Coding]) -> ApiError {
    let names: Vec<&str> = codings.iter().map(|coding| coding.name()).collect();
    let message = format!(
        "content-encoding: the body cannot be decoded as {}: it is damaged or not whole ({error}); send it \
         again, or uncompressed",
        names.join(", ")
    );
    ApiError::invalid("content_encoding", message)
}

fn not_taken(why: &str) -> ApiError {
    let message = format!("content-encoding: {why}; these are: {TAKEN}");
    let error = ApiError::new(Kind::UnsupportedMediaType, Origin::Client, "content_encoding", message);
    ApiError { taken: Some(("accept-encoding", TAKEN)), ..error }
}

enum Decoder<R> {
    Gzip(GzipDecoder<R>),
    Brotli(BrotliDecoder<R>),
    Zlib(ZlibDecoder<R>),
    Deflate(DeflateDecoder<R>),
    Zstd(ZstdDecoder<R>),
}

impl<R: AsyncBufRead + Unpin> Decoder<R> {
    fn poll_read(&mut self, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self {
            Decoder::Gzip(decoder) => Pin::new(decoder).poll_read(context, into),
            Decoder::Brotli(decoder) => Pin::new(decoder).poll_read(context, into),
            Decoder::Zlib(decoder) => Pin::new(decoder).poll_read(context, into),
            Decoder::Deflate(decoder) => Pin::new(decoder).poll_read(context, into),
            Decoder::Zstd(decoder) => Pin::new(decoder).poll_read(context, into),
        }
    }

    fn coded(&mut self) -> Pin<&mut R> {
        Pin::new(match self {
            Decoder::Gzip(decoder) => decoder.get_mut(),
            Decoder::Brotli(decoder) => decoder.get_mut(),
            Decoder::Zlib(decoder) => decoder.get_mut(),
            Decoder::Deflate(decoder) => decoder.get_mut(),
            Decoder::Zstd(decoder) => decoder.get_mut(),
        })
    }
}

/// One coding undone, up to a limit and to its very end.
struct Undone<R> {
    decoder: Decoder<R>,
    /// What may still come out.
    left: usize,
}

impl<R: AsyncBufRead + Unpin> AsyncRead for Undone<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(self.decoder.poll_read(context, into))?;
        let read = into.filled().len() - before;
        self.left = self.left.checked_sub(read).ok_or_else(|| io::Error::other(TooMuch))?;
        if read == 0
            && into.remaining() > 0
            && !ready!(self.decoder.coded().poll_fill_buf(context))?.is_empty()
        {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "bytes come after its end")));
        }
        Poll::Ready(Ok(()))
    }
}
