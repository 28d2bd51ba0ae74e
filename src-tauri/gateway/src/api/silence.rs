//! A stream that is silent shows that it is alive (wire.md §6).

use std::time::Duration;

use wire::Silence;

/// What may pass without a byte.
const QUIET: Duration = Duration::from_secs(10);
/// So many times [`QUIET`] is a long silence: a client's idle timer may not have counted what was sent meanwhile.
const LONG: u32 = 6;

/// The silence of one stream.
#[derive(Default)]
pub(crate) struct Silences {
    in_a_row: u32,
}

impl Silences {
    /// What `next` gives, or the silence that is to be filled now. `next` is dropped then, and must be one that
    /// loses nothing by that.
    pub(crate) async fn unless<T>(&mut self, next: impl Future<Output = T>) -> Result<T, Silence> {
        match tokio::time::timeout(QUIET, next).await {
            Ok(came) => {
                self.in_a_row = 0;
                Ok(came)
            }
            Err(_) => {
                self.in_a_row += 1;
                Err(if self.in_a_row.is_multiple_of(LONG) { Silence::Long } else { Silence::Short })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{sync::mpsc, time::Instant};
    use wire::{Dialect, ReplyHead};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_comment_every_ten_seconds_and_an_event_every_sixty() {
        let (sender, mut pieces) = mpsc::channel::<&str>(1);
        let mut silences = Silences::default();
        let mut encoder = wire::format(Dialect::Responses).encoder(ReplyHead::default());
        encoder.text("heading");
        let begun = Instant::now();
        let mut told = Vec::new();
        for _ in 0..13 {
            let Err(silence) = silences.unless(pieces.recv()).await else { panic!("nothing was sent") };
            let bytes = String::from_utf8(encoder.keep_alive(silence)).unwrap();
            told.push((begun.elapsed().as_secs(), bytes));
        }
        for (at, bytes) in &told {
            let is_event = bytes.starts_with("event: response.in_progress\n");
            assert_eq!(is_event, [60, 120].contains(at), "{at}: {bytes}");
            assert!(is_event || bytes.starts_with(':'), "{at}: {bytes}");
        }
        assert_eq!(told.last().map(|(at, _)| *at), Some(130));

        // A piece ends the silence, whenever it comes; the next is counted from it.
        tokio::time::advance(Duration::from_secs(9)).await;
        sender.send("piece").await.unwrap();
        assert_eq!(silences.unless(pieces.recv()).await, Ok(Some("piece")));
        let begun = Instant::now();
        let mut next = Vec::new();
        for _ in 0..6 {
            next.push(silences.unless(pieces.recv()).await.unwrap_err());
        }
        assert_eq!(next, [&[Silence::Short; 5][..], &[Silence::Long]].concat());
        assert_eq!(begun.elapsed(), Duration::from_secs(60));
    }
}
