//! Panels: one prompt put to several seats.

mod as_text;
mod ask;
mod failover;
mod finish;
mod markdown;
mod merge;
mod picker;
mod preview;
mod put_together;
mod reply;
mod run;
mod seat;

pub(crate) use as_text::request_for_record;
pub use ask::{Ask, Asked};
pub(crate) use ask::{
    Asking, Panel, collections_in_words, lossy_view, reply_word, skipped_views, unknown_collection,
};
pub(crate) use finish::json;
pub(crate) use reply::{HOW_TO_JUDGE, chair};
pub(crate) use run::{PanelEnd, Running, Update, run};
pub(crate) use seat::{ON_DISK, class_word, cleaned_error, describe, finish_word, in_brief, round, swapped};
