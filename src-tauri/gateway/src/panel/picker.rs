//! The shape picker's call: a small decision model says what the task is, for the explorers' sake (panel.md §2).

use std::{sync::Arc, time::Duration};

use plan::{
    ChosenShape, Reach,
    picker::{self, NoAnswer, Question},
};
use wire::{Message, Part, Raw, Request, Role, StructuredOutput};

use super::ask::Panel;
use crate::{
    asking::{ForText, Told},
    facts::Holds,
    gateway::Gateway,
    metered::{Call, Purpose},
    upstream::{CallEnd, Limits},
};

/// After so long the shape is `general`. The members have been asked meanwhile.
const WAIT: Duration = Duration::from_secs(10);
/// A choice is one line of JSON; some models think before they write it.
const MAX_OUTPUT: u64 = 2_000;

/// Asks the panel's decision model what its task is. There is always a shape: what goes wrong is `general`, and
/// its `by` says why.
pub(super) async fn pick(gateway: Gateway, panel: Arc<Panel>) -> ChosenShape {
    let shapes = panel.snapshot.roster.shapes();
    let model = gateway.look(&panel, |input| picker::decider(input).cloned());
    let Some(model) = model else { return picker::chosen(shapes, "", Err(NoAnswer::NoDecider)) };
    let registered = panel.snapshot.roster.get(&model.alias);
    let Some((it, endpoint)) = registered.zip(panel.snapshot.endpoint(&model.endpoint)) else {
        return picker::chosen(shapes, &model.alias, Err(NoAnswer::Failed));
    };
    let endpoint = gateway.resolve(endpoint);
    let question = picker::question(shapes, &panel.asking.request.last_user_text());
    let request = request(question);
    // The answer's form is ours to ask for.
    let (encoded, body) = gateway.encode_for(it, &endpoint, &request, true);
    let call = Call {
        snapshot: &panel.snapshot,
        it,
        purpose: Purpose::Picker,
        collection: &panel.collection.name,
        caller: &panel.asking.caller,
        body: &body,
        estimate: wire::estimate_tokens(&request),
        holds: Holds::default(),
    };
    let Ok(metered) = gateway.admit(call).await else {
        return picker::chosen(shapes, &model.alias, Err(NoAnswer::Failed));
    };
    let limits = Limits { whole: WAIT, idle: WAIT };
    let asked = ForText { call, request: &request, endpoint: &endpoint, callers_options: true, limits };
    let asked = gateway.ask_for_text(asked, metered, (&encoded, body.clone()), |_| {});
    let answer = match tokio::time::timeout(WAIT, asked).await {
        // Cut off, its call is written down as such.
        Err(_) => Err(NoAnswer::Late),
        Ok(Told { outcome, metered }) => {
            gateway.over(metered, &outcome);
            match outcome.end {
                CallEnd::Ok => Ok(outcome.answer),
                CallEnd::Error(error) if error.class == wire::Class::Timeout => Err(NoAnswer::Late),
                CallEnd::Empty | CallEnd::Error(_) => Err(NoAnswer::Failed),
            }
        }
    };
    if matches!(answer, Err(NoAnswer::Late))
        && let Some(it) = panel.snapshot.roster.get(&model.alias)
    {
        // One that is mute would hold up the explorers of every panel.
        gateway.cools(it, Reach::Model, None);
    }
    picker::chosen(shapes, &model.alias, answer.as_deref().map_err(|no_answer| *no_answer))
}

fn request(question: Question) -> Request {
    let Question { system, prompt, schema } = question;
    Request {
        messages: vec![
            Message::new(Role::System, vec![Part::text(system)]),
            Message::new(Role::User, vec![Part::text(prompt)]),
        ],
        max_output: Some(MAX_OUTPUT),
        structured_output: Some(StructuredOutput::Schema {
            name: Some("shape".to_owned()),
            description: None,
            schema: Raw::from(&schema),
            strict: Some(true),
        }),
        ..Request::default()
    }
}
