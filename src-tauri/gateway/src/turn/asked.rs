//! A member that is asked a turn, and the turn in its words.

use bytes::Bytes;
use catalog::{Endpoint, Model};
use wire::{ApiError, Encoded, Form, Json, Member, Request, Target};

use crate::{asking::Again, gateway::Gateway, setup::Snapshot};

pub(crate) struct Asked {
    pub model: Model,
    /// With a base that can be asked.
    pub endpoint: Endpoint,
    pub member: Member,
    /// It speaks the caller's API: the caller's body goes on, and the answer's bytes come back.
    pub relayed: bool,
    /// Without its body.
    pub encoded: Encoded,
    pub body: Bytes,
}

impl Asked {
    /// The turn as this member is asked it. `None` when its model or endpoint has just been removed.
    ///
    /// Errors: what a relay finds wrong with the caller's body.
    pub(crate) fn new(
        gateway: &Gateway,
        snapshot: &Snapshot,
        alias: &str,
        turn: Said<'_>,
    ) -> Option<Result<Asked, ApiError>> {
        let it = snapshot.roster.get(alias)?;
        let model = it.model.clone();
        let endpoint = gateway.resolve(snapshot.endpoint(&model.endpoint)?);
        let Said { request, body, conversation } = turn;
        let target = Target { callers_options: true, ..gateway.target(it, request, Some(conversation)) };
        let format = wire::format(endpoint.api);
        let relayed = endpoint.api == request.dialect;
        let encoded = match relayed {
            // One array is whole when its last byte has come: events are asked for, and written as the array.
            true if request.form == Form::Array => {
                let events = Request { form: Form::Events, ..request.clone() };
                format.relay(body, &events, &target)
            }
            true => format.relay(body, request, &target),
            false => Ok(format.encode_request(request, &target)),
        };
        Some(encoded.map(|mut encoded| {
            let body = Bytes::from(std::mem::take(&mut encoded.body));
            Asked { model, endpoint, member: target.member, relayed, encoded, body }
        }))
    }
}

impl Asked {
    /// Its body with the room that it is to have for its answer; `None` where there is no more.
    pub(crate) fn widened(&self, gateway: &Gateway, snapshot: &Snapshot, again: &Again) -> Option<Bytes> {
        let it = snapshot.roster.get(&self.model.alias)?;
        again.body(gateway, it, &self.endpoint, self.body.clone())
    }
}

/// What the caller said: read, and as it was sent.
#[derive(Clone, Copy)]
pub(crate) struct Said<'a> {
    pub request: &'a Request,
    pub body: &'a Json,
    pub conversation: &'a str,
}
