//! A turn whose reply goes out in one piece.

use bytes::Bytes;
use serde_json::Value;
use tokio::time::Instant;
use wire::{Class, Notice, Reply, ReplyHead, relay};

use super::{Turn, answering::Answering, commit::lost, failure::Refusal};
use crate::{api::Keeping, panel::ON_DISK, view::TurnStatus};

/// A reply and what its head says.
pub(crate) struct Whole {
    pub body: Bytes,
    pub alias: String,
    pub notices: Vec<Notice>,
    pub overhead_ms: f64,
}

impl Turn {
    /// The turn from beginning to end. The reply is on record when it comes, or the disk is slow.
    pub(crate) async fn whole(
        self: Box<Self>,
        head: ReplyHead,
        keeping: Option<Keeping>,
    ) -> Result<Whole, Refusal> {
        if !self.finishes_alone() {
            return Box::pin(self.answered(head, keeping)).await;
        }
        let tasks = self.gateway.panel_tasks().clone();
        tasks.spawn(self.answered(head, keeping)).await.unwrap_or_else(|_| Err(lost().into()))
    }

    async fn answered(
        mut self: Box<Self>,
        head: ReplyHead,
        keeping: Option<Keeping>,
    ) -> Result<Whole, Refusal> {
        let mut answering = match self.commit().await {
            Ok(answering) => answering,
            Err(refusal) => {
                self.ends_failed().await;
                return Err(refusal);
            }
        };
        let done = Instant::now();
        answering.reuse(self.gateway.tasks());
        let body = self.written(&mut answering, &head, &self.bench());
        self.record.took(done.elapsed());
        let overhead_ms = self.record.own_ms();
        let notices = std::mem::take(&mut answering.asked.encoded.notices);
        let shadows = self.shadows(&answering.asked.model.alias);
        let written = self.record.end(Some(&mut answering.watch), TurnStatus::Ok);
        if let Some(keeping) = keeping {
            keep(keeping, &body).await;
        }
        if let Some(written) = written {
            let _ = tokio::time::timeout(ON_DISK, written).await;
        }
        if let Some(shadows) = shadows {
            shadows.begin();
        }
        Ok(Whole { body, alias: answering.asked.model.alias, notices, overhead_ms })
    }

    fn written(&self, answering: &mut Answering, head: &ReplyHead, bench: &Value) -> Bytes {
        if let Some(whole) = answering.take_whole() {
            return relay::whole(&self.request, &whole, Some(bench)).into();
        }
        let reply = Reply::from_events(&answering.take_events());
        wire::format(self.request.dialect).encode_reply(head, &reply, Some(bench)).into()
    }

    /// Nobody answered: that is written down too.
    pub(super) async fn ends_failed(self: Box<Self>) {
        let errors = self.record.errors();
        let all_empty = !errors.is_empty() && errors.iter().all(|error| error.class == Class::Empty);
        let status = if all_empty { TurnStatus::Empty } else { TurnStatus::Error };
        if let Some(written) = self.record.end(None, status) {
            let _ = tokio::time::timeout(ON_DISK, written).await;
        }
    }
}

/// Keeps a whole response as its caller was told it.
async fn keep(keeping: Keeping, body: &[u8]) {
    #[derive(serde::Deserialize)]
    struct Named {
        id: String,
    }
    if let Ok(Named { id }) = serde_json::from_slice(body) {
        keeping.under(&id).keep(String::from_utf8_lossy(body).into_owned()).await;
    }
}
