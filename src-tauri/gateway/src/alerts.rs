//! What the owner should know: raised once a cause, cleared when the cause is gone.

use std::collections::BTreeMap;

use catalog::{Endpoint, Price};
use plan::Failing;
use store::MovedAside;
use wire::{Class, UpstreamError};

use crate::{
    clock::{Clock, rfc3339},
    gateway::Gateway,
    live::Live,
    panel::{Panel, class_word, in_brief},
    view::{Alert, AlertKind, FailedOverView, LiveEvent, Recording, TurnFailedOver},
};

/// The one subject of alerts about the records.
const RECORDS: &str = "records";

/// A refused key is the endpoint's matter, whoever asked; an answer shows that the key is good.
pub(crate) fn after_call(gateway: &Gateway, endpoint: &Endpoint, error: Option<&UpstreamError>) {
    match error {
        Some(error) if error.class == Class::SignIn => key_refused(gateway, endpoint, &error.message),
        Some(_) => {}
        None => end(gateway, AlertKind::KeyRefused, &endpoint.name),
    }
}

pub(crate) fn key_refused(gateway: &Gateway, endpoint: &Endpoint, said: &str) {
    let name = &endpoint.name;
    let said = wire::redact::shorten(&gateway.scrub(said), 160);
    let key = gateway.vault().get().map(|vault| vault.describe(name, endpoint.key_env.as_deref()));
    // A key in the environment goes before any other, so a new one under Endpoints would change nothing.
    let message = match key.and_then(|key| key.variable) {
        Some(variable) => format!(
            "The key for {name} was refused ({said}). It comes from the variable {variable}: change it there, then \
             start Benchwarmers again."
        ),
        None => format!("The key for {name} was refused ({said}). Give it a new one under Endpoints."),
    };
    raise(gateway.live(), gateway.clock(), AlertKind::KeyRefused, name, message);
}

pub(crate) fn after_panel(gateway: &Gateway, panel: &Panel, error: Option<&str>) {
    let collection = &panel.asking.collection;
    match error {
        Some(error) => {
            raise(gateway.live(), gateway.clock(), AlertKind::PanelFailed, collection, error.to_owned())
        }
        None => end(gateway, AlertKind::PanelFailed, collection),
    }
}

/// A seat has passed to another model, with why in a few words: told once, it does not stand.
pub(crate) fn failed_over(gateway: &Gateway, panel: &Panel, failed_over: &FailedOverView, why: &str) {
    let FailedOverView { from, to, .. } = failed_over;
    let collection = &panel.asking.collection;
    let alert = Alert {
        kind: AlertKind::FailedOver,
        subject: collection.clone(),
        message: format!("{from} failed ({why}) → {to} took its seat in bench/{collection}"),
        at: rfc3339(gateway.clock().now_ms()),
    };
    gateway.live().publish(LiveEvent::Noticed { alert });
}

/// A turn has passed to another model: told once too.
pub(crate) fn turn_failed_over(
    gateway: &Gateway,
    collection: &str,
    failed_over: &TurnFailedOver,
    error: &UpstreamError,
) {
    let TurnFailedOver { from, to, .. } = failed_over;
    let alert = Alert {
        kind: AlertKind::TurnFailedOver,
        subject: collection.to_owned(),
        message: format!("{from} failed ({}) → {to} took the turn in bench/{collection}", in_brief(error)),
        at: rfc3339(gateway.clock().now_ms()),
    };
    gateway.live().publish(LiveEvent::Noticed { alert });
}

pub(crate) fn recording(live: &Live, clock: &Clock, recording: &Recording) {
    if recording.ok {
        live.clear(AlertKind::RecordingStopped, RECORDS);
    } else {
        raise(live, clock, AlertKind::RecordingStopped, RECORDS, recording.message.clone());
    }
}

pub(crate) fn port_taken(gateway: &Gateway, wanted: u16, port: u16) {
    let message = format!(
        "Port {wanted} was taken by another program; serving on {port}. Clients need the new address."
    );
    raise(gateway.live(), gateway.clock(), AlertKind::PortTaken, &wanted.to_string(), message);
}

pub(crate) fn records_moved(gateway: &Gateway, moved: &MovedAside) {
    let mut message =
        format!("The records were damaged and were moved to {}; new ones were begun.", moved.to.display());
    if let Some(backup) = &moved.newest_backup {
        message.push_str(&format!(" The newest backup is {}.", backup.display()));
    }
    raise(gateway.live(), gateway.clock(), AlertKind::RecordsMoved, RECORDS, message);
}

/// Of these models, each with what it costs now, and of no others.
pub(crate) fn went_paid(gateway: &Gateway, held: &[(String, Price)]) {
    let messages = held.iter().map(|(alias, price)| {
        let price = [("in", price.input), ("out", price.output)]
            .into_iter()
            .filter_map(|(way, dollars)| Some(format!("${} {way}", dollars?)))
            .collect::<Vec<_>>()
            .join(", ");
        let message = format!(
            "{alias} was free and costs money now ({price} for a million tokens). It is not called until you allow \
             it under Models."
        );
        (alias.clone(), message)
    });
    stand(gateway, AlertKind::WentPaid, messages.collect());
}

/// What is said of a model that has failed for days.
pub(crate) fn retiring(alias: &str, failing: &Failing) -> String {
    let since = rfc3339(failing.since_ms);
    let said = wire::redact::shorten(&failing.words, 160);
    let said = if said.is_empty() { class_word(failing.class).to_owned() } else { said };
    format!(
        "{alias} has failed on {} days and not answered once since {} ({said}). It is no longer picked by itself: \
         retire it or change it under Models. An answer ends this.",
        failing.days,
        since.get(..10).unwrap_or_default(),
    )
}

/// These alerts of a kind, by subject, and no others: what stands as it is keeps its time.
pub(crate) fn stand(gateway: &Gateway, kind: AlertKind, messages: BTreeMap<String, String>) {
    let standing = gateway.live().alerts().into_iter().filter(|alert| alert.kind == kind);
    let standing: BTreeMap<String, String> = standing.map(|alert| (alert.subject, alert.message)).collect();
    for subject in standing.keys().filter(|subject| !messages.contains_key(*subject)) {
        end(gateway, kind, subject);
    }
    for (subject, message) in messages {
        if standing.get(&subject) != Some(&message) {
            raise(gateway.live(), gateway.clock(), kind, &subject, message);
        }
    }
}

/// It stands no more; probes that were held up by it are gone on with.
pub(crate) fn end(gateway: &Gateway, kind: AlertKind, subject: &str) {
    let stood = gateway.live().clear(kind, subject);
    if stood && matches!(kind, AlertKind::KeyRefused | AlertKind::WentPaid) {
        gateway.onboarding().look_again();
    }
}

fn raise(live: &Live, clock: &Clock, kind: AlertKind, subject: &str, message: String) {
    let at = rfc3339(clock.now_ms());
    live.raise(Alert { kind, subject: subject.to_owned(), message, at });
}
