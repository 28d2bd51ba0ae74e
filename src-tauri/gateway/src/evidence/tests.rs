//! The evidence in memory is what a recount of the store says, whatever happened in whatever order.

use std::{collections::BTreeMap, convert::Infallible, net::SocketAddr, path::Path, time::Duration};

use axum::{Router, body::Body, extract::Json, http::StatusCode, response::IntoResponse, routing::post};
use catalog::{Endpoint, Model, ModelRole};
use futures_util::stream;
use plan::{Collection, Settings, Setup};
use serde_json::{Value, json};

use super::*;
use crate::{
    Ask, Clock, Options, Serving, Verdict, VerdictError,
    view::{PanelState, PanelView},
};

/// By what a model is served as: `ok-…` answers at once, `bad-…` fails, `late-…` takes its time, `judge` decides.
async fn provider() -> SocketAddr {
    async fn answer(Json(body): Json<Value>) -> axum::response::Response {
        let served = body["model"].as_str().unwrap_or_default().to_owned();
        let event = |text: &str| {
            let delta = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
            format!("data: {delta}\n\n")
        };
        let (wait, text) = match served.as_str() {
            bad if bad.starts_with("bad") => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
            late if late.starts_with("late") => (40, "Late, and yet.".to_owned()),
            "judge" => (15, json!({"choice": "review", "confidence": 0.9}).to_string()),
            served => (0, format!("Answer of {served}.")),
        };
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let whole = event(&text) + "data: [DONE]\n\n";
        let body = Body::from_stream(stream::iter([Ok::<_, Infallible>(whole)]));
        ([("content-type", "text/event-stream")], body).into_response()
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/v1/chat/completions", post(answer));
    #[expect(clippy::disallowed_methods, reason = "it ends with the test's runtime")]
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

async fn open(dir: &Path) -> (Gateway, Serving) {
    let options = Options { data_dir: dir.to_owned(), program: "test".to_owned(), clock: Clock::system() };
    let gateway = Gateway::open(options).await.unwrap();
    let serving = gateway.serve(0, None).await.unwrap();
    (gateway, serving)
}

fn roster(address: SocketAddr) -> Setup {
    let names = ["ok-a", "ok-b", "ok-c", "ok-d", "bad-a", "bad-b", "late-a", "late-b", "judge"];
    let model = |name: &str| Model {
        role: if name == "judge" { ModelRole::DECISION } else { ModelRole::GENERAL },
        ..Model::new(name, "fake", name)
    };
    let collection = |name: &str, members: &[&str]| {
        Collection::new(name, members.iter().map(|member| (*member).to_owned()))
    };
    Setup {
        version: 1,
        endpoints: vec![Endpoint::new("fake", format!("http://{address}/v1"))],
        models: names.map(model).into(),
        collections: vec![
            collection("mixed", &["ok-a", "bad-a"]),
            Collection {
                shape: Some(Shape::new("prose".to_owned())),
                ..collection("set", &["bad-b", "ok-b"])
            },
            collection("slow", &["ok-c", "late-b"]),
        ],
        settings: Settings { explorer_grace: 0, reserves: 2, ..Settings::default() },
        ..Setup::default()
    }
}

/// A small generator, so that a failure can be played again by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

async fn play(seed: u64) {
    let (folder, address) = (tempfile::tempdir().unwrap(), provider().await);
    let (mut gateway, mut serving) = open(folder.path()).await;
    let setup = roster(address);
    let changed = gateway.change_setup("test", |known| {
        *known = setup;
        Ok::<_, Infallible>(())
    });
    assert!(changed.await.is_ok());
    let mut dice = Dice(seed);
    let mut asked: Vec<String> = Vec::new();
    for _ in 0..60 {
        match dice.roll(10) {
            0..=4 => asked.push(ask(&gateway, &mut dice)),
            5..=7 => judge(&gateway, &mut dice, &asked).await,
            8 => {
                quiet(&gateway, &asked).await;
                assert_recount(&gateway, seed);
            }
            _ => {
                quiet(&gateway, &asked).await;
                serving.shutdown().await;
                drop(gateway);
                (gateway, serving) = open(folder.path()).await;
                assert_recount(&gateway, seed);
            }
        }
    }
    quiet(&gateway, &asked).await;
    assert_recount(&gateway, seed);
    assert!(!gateway.store().record_by_shape().unwrap().is_empty(), "seed {seed} did nothing");
    serving.shutdown().await;
}

fn ask(gateway: &Gateway, dice: &mut Dice) -> String {
    let ask = Ask {
        collection: ["mixed", "set", "slow"][dice.roll(3)].to_owned(),
        prompt: "Whom?".to_owned(),
        with: if dice.roll(3) == 0 { vec!["ok-d".to_owned()] } else { Vec::new() },
        reply: Some(if dice.roll(2) == 0 { wire::ReplyMode::Merged } else { wire::ReplyMode::All }),
        ..Ask::default()
    };
    gateway.ask(ask).unwrap().panel
}

/// A verdict on any call there is by now, or the same one's withdrawal, or several at once.
async fn judge(gateway: &Gateway, dice: &mut Dice, asked: &[String]) {
    if asked.is_empty() {
        return;
    }
    let panel = &asked[dice.roll(asked.len())];
    let Some(PanelView { seats, .. }) = gateway.panel(panel).unwrap() else { return };
    if seats.is_empty() {
        return;
    }
    let call = seats[dice.roll(seats.len())].call.clone();
    let verdict = |useful| Verdict {
        call: call.clone(),
        useful,
        note: None,
        real: None,
        false_claims: None,
        by: "test".to_owned(),
    };
    let (first, second, third) = tokio::join!(
        gateway.give_verdict(verdict(dice.roll(2) == 0)),
        gateway.give_verdict(verdict(true)),
        async {
            match seed_of(&call) % 3 {
                0 => gateway.clear_verdict(&call, "test").await,
                _ => gateway.give_verdict(verdict(false)).await,
            }
        },
    );
    // One that has not ended cannot be judged; it may end while the three come in, in whatever order.
    for error in [first.err(), second.err(), third.err()].into_iter().flatten() {
        assert!(matches!(error, VerdictError::UnknownCall(_)), "{error}");
    }
}

fn seed_of(call: &str) -> usize {
    call.bytes().map(usize::from).sum()
}

/// Waits till nothing runs, late explorers included.
async fn quiet(gateway: &Gateway, asked: &[String]) {
    let over = async {
        while !gateway.panel_tasks().is_empty() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), over).await.unwrap_or_else(|_| panic!("something runs on"));
    for panel in asked {
        let state = gateway.panel(panel).unwrap().unwrap().state;
        assert!(matches!(state, PanelState::Done | PanelState::Failed), "{panel}: {state:?}");
    }
}

fn assert_recount(gateway: &Gateway, seed: u64) {
    let mut overall: BTreeMap<String, Tally> = BTreeMap::new();
    let evidence = gateway.known().evidence();
    for ShapeRecord { shape, record } in gateway.store().record_by_shape().unwrap() {
        let counted = Tally {
            useful: record.useful as u32,
            judged: record.judged as u32,
            offloads: record.offloads as u32,
            last_offload_ms: Some(record.last_at_ms),
        };
        let known = evidence.record(&record.alias, &Shape::new(shape.clone())).shape;
        assert_eq!(known, counted, "seed {seed}: {} on {shape:?}", record.alias);
        let sum = overall.entry(record.alias).or_default();
        sum.useful += counted.useful;
        sum.judged += counted.judged;
        sum.offloads += counted.offloads;
        sum.last_offload_ms = sum.last_offload_ms.max(counted.last_offload_ms);
    }
    for (alias, counted) in overall {
        let known = evidence.record(&alias, &Shape::GENERAL).overall;
        assert_eq!(known, counted, "seed {seed}: {alias} overall");
        assert_eq!(evidence.in_flight(&alias), 0, "seed {seed}: {alias} holds a seat");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn evidence_equals_a_recount_after_any_sequence() {
    for seed in 1..=6 {
        play(seed).await;
    }
}
