//! The seats have ended: what the reply is made of. Every answer, one of them, or a merge of them.

use std::sync::Arc;

use plan::{Mergers, Seat, Skipped};
use tokio_util::sync::CancellationToken;
use wire::estimate_tokens;

use super::{
    markdown::{closing, one_line},
    merge,
    reply::Given,
    run::{Run, Update},
    seat::{SeatEnd, book_seat, not_sent, run_seat},
};
use crate::{
    evidence::Held,
    view::{SeatStatus, SeatView},
};

/// What the reply is, and what it cost to write it.
pub(super) struct PutTogether {
    pub(super) given: Given,
    pub(super) text: String,
    /// Mergers that were asked, failed ones too.
    pub(super) merges: Vec<SeatEnd>,
}

impl Run {
    pub(super) async fn put_together(&mut self, cancel: &CancellationToken) -> PutTogether {
        self.ended.sort_by_key(|end| end.order);
        if self.gives_all() {
            self.say(closing());
            return self.every_answer_as("all");
        }
        let answered: Vec<SeatView> = self
            .ended
            .iter()
            .filter(|end| end.view.status == SeatStatus::Ok)
            .map(|end| end.view.clone())
            .collect();
        match answered.as_slice() {
            [] => {
                self.say(self.every_answer());
                self.every_answer_as("merged")
            }
            [only] => self.only(only),
            answers => self.merge(answers, cancel).await,
        }
    }

    fn every_answer_as(&self, reply: &'static str) -> PutTogether {
        let given = Given { reply, ..Given::default() };
        let streams = self.panel.asking.request.stream;
        let text = if streams { String::new() } else { self.every_answer() };
        PutTogether { given, text, merges: Vec::new() }
    }

    /// One answer needs no merging.
    fn only(&self, only: &SeatView) -> PutTogether {
        let text = format!("{}{}", only.answer.trim_end(), merge::only_answer(only, &self.ended));
        self.say(text.clone());
        let note = Some(format!("not merged: {} alone answered", only.alias));
        PutTogether { given: Given { reply: "merged", note, merger: None }, text, merges: Vec::new() }
    }

    async fn merge(&mut self, answers: &[SeatView], cancel: &CancellationToken) -> PutTogether {
        if cancel.is_cancelled() {
            return self.not_merged(Vec::new(), &["the panel was stopped".to_owned()], false);
        }
        let request = Arc::new(merge::request(&self.panel.asking.request, answers));
        let estimate = estimate_tokens(&request);
        let shape = self.shape.as_ref().map_or(plan::Shape::GENERAL, |shape| shape.shape.clone());
        let chosen = self.gateway.choose(&self.panel, |input| {
            let Mergers { seats, skipped } = plan::mergers(input, &shape, estimate);
            Ok::<_, std::convert::Infallible>((seats, skipped))
        });
        let Ok((seats, skipped)) = chosen;
        let mut merges = Vec::new();
        let mut why: Vec<String> =
            skipped.iter().map(|Skipped { alias, why, .. }| format!("{alias}: {why}")).collect();
        let mut broken_off = false;
        for (seat, held) in seats {
            let Some(mut end) = self.ask_merger(seat, held, &request, cancel).await else {
                why.push("the panel was stopped".to_owned());
                broken_off = true;
                break;
            };
            let view = end.view.clone();
            // What it was sent is larger than the panel's question.
            end.usage.input.get_or_insert(estimate);
            merges.push(end);
            if view.status == SeatStatus::Ok {
                let text = merge::attribution(&view, &self.ended);
                self.say(text.clone());
                let text = format!("{}{text}", view.answer.trim_end());
                return PutTogether {
                    given: Given { reply: "merged", merger: Some(view), note: None },
                    text,
                    merges,
                };
            }
            let failed = if view.status == SeatStatus::Empty { "an empty answer" } else { &view.error };
            why.push(format!("{}: {failed}", view.alias));
            if !view.answer.trim().is_empty() {
                // Its words are out; nobody goes on with another's.
                broken_off = true;
                break;
            }
        }
        self.not_merged(merges, &why, broken_off)
    }

    async fn ask_merger(
        &mut self,
        seat: Seat,
        held: Held,
        request: &Arc<wire::Request>,
        cancel: &CancellationToken,
    ) -> Option<SeatEnd> {
        let plan = self.gateway.seat_plan(&self.panel, seat, held, Some(request.clone()))?;
        self.seat_added(&plan);
        let (updates, gateway) = (self.updates.clone(), self.gateway.clone());
        let streams = self.panel.asking.request.stream;
        // Spaces wait for a word after them: the whole reply has none at the merge's end.
        let mut spaces = String::new();
        let on_text = move |text: &str| {
            if !streams {
                return;
            }
            let words = text.trim_end();
            if !words.is_empty() {
                let words = gateway.scrub(&format!("{spaces}{words}"));
                let _ = updates.send(Update::Text(words));
                spaces.clear();
            }
            spaces.push_str(&text[words.len()..]);
        };
        let mut end = match book_seat(&self.gateway, &self.panel, &plan) {
            Err(error) => not_sent(&self.gateway, &self.panel, plan, error),
            Ok(booked) => {
                let asked = run_seat(self.gateway.clone(), self.panel.clone(), plan, booked, on_text);
                tokio::select! {
                    end = asked => end,
                    () = cancel.cancelled() => return None,
                }
            }
        };
        self.last_done = self.last_done.max(end.done);
        self.tell_evidence(&mut end);
        Some(end)
    }

    /// Every answer instead, with why.
    fn not_merged(&self, merges: Vec<SeatEnd>, why: &[String], broken_off: bool) -> PutTogether {
        let why = match why {
            [] => "nobody may merge".to_owned(),
            why => why.join("; "),
        };
        let (note, before) = match broken_off {
            true => (format!("the merge broke off ({why})"), "\n\n---\n\n"),
            false => (format!("not merged ({why})"), ""),
        };
        let begun = merges.last().map_or("", |end| end.view.answer.trim_end());
        let rest = format!("{before}*Every answer follows: {}.*\n\n{}", one_line(&note), self.every_answer());
        self.say(rest.clone());
        let text = if broken_off { format!("{begun}{rest}") } else { rest };
        let merger = merges.last().map(|end| end.view.clone());
        PutTogether { given: Given { reply: "all", merger, note: Some(note) }, text, merges }
    }

    /// The heading, a section for every seat in seating order, and how to judge.
    fn every_answer(&self) -> String {
        let mut text = self.heading();
        self.ended.iter().for_each(|end| text.push_str(&self.section(end)));
        text.push_str(&closing());
        text
    }
}
