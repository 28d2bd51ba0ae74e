//! The members the clients' collections have: what each does, in whatever dialect its endpoint speaks.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bench_tests::{
    Gate, Gateway, Reply, Scenario, Upstream,
    upstream::{Api, End, Received, Script, Step},
};
use serde_json::json;

/// Served under these ids on every endpoint. In collection X-core the answers are told apart by their members.
fn scripts() -> Vec<(&'static str, Script)> {
    let gates = Gates::default();
    let (opens, edits) = (gates.clone(), gates.clone());
    vec![
        ("alpha", says("Answer of alpha, word by word.")),
        ("beta", says("Answer of beta.")),
        ("slow", Script::in_any(move |api, request| api.says("Answer of slow.").held(&gates.of(request)))),
        (
            "opener",
            Script::in_any(move |api, request| {
                opens.of(request).open();
                api.says("Opened.")
            }),
        ),
        ("editor", Script::in_any(move |api, request| merges(api, &edits.of(request)))),
        ("seer", Script::in_any(sees)),
        ("refuser", Script::in_any(|api, _| api.fails(401, "Incorrect API key provided"))),
        ("limit-7", Script::in_any(|api, _| api.fails(429, "Slow down").header("retry-after", "7"))),
        ("limit-40", Script::in_any(|api, _| api.fails(429, "Slow down").header("retry-after", "40"))),
        ("overloaded", Script::in_any(|api, _| api.fails(503, "Over capacity"))),
        ("cut", Script::in_any(|api, _| api.streams(["Half ", "of "], End::BrokenOff))),
        ("erring", Script::in_any(|api, _| api.streams(["Half ", "of "], End::Error("Lost my thread")))),
    ]
}

/// Each collection's name, less its dialect, and its members.
const COLLECTIONS: [(&str, &[&str]); 8] = [
    ("core", &["alpha", "beta"]),
    ("edited", &["alpha", "beta"]),
    ("slow", &["alpha", "slow"]),
    ("seer", &["seer"]),
    ("refused", &["refuser"]),
    ("limited", &["limit-40", "limit-7"]),
    ("overloaded", &["overloaded"]),
    ("broken", &["cut", "erring"]),
];

/// Tokens that fit the member `small`.
const SMALL_WINDOW: u64 = 600;

/// One upstream that speaks every dialect; for each dialect an endpoint and the collections `DIALECT-core` and so on;
/// and some collections that need no more than one.
pub async fn gateway() -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    let mut scenario = Scenario::new();
    for (served, script) in scripts() {
        upstream.model(served, script);
    }
    for api in Api::ALL {
        let dialect = api.name();
        let alias = |served: &str| format!("{served}-{dialect}");
        // A refused key is its endpoint's: other cases ask the others at the same time.
        let refusing = format!("{dialect}-refusing");
        for name in [dialect, &refusing] {
            scenario = scenario.endpoint(name, &upstream.base_of(api)).api(dialect);
        }
        for (served, _) in scripts() {
            let endpoint = if served == "refuser" { &refusing } else { dialect };
            scenario = scenario.model(&alias(served), endpoint, served);
            if served == "seer" {
                scenario = scenario.facts(json!({"vision": true}));
            }
        }
        for (name, members) in COLLECTIONS {
            let members: Vec<String> = members.iter().map(|served| alias(served)).collect();
            let members: Vec<&str> = members.iter().map(String::as_str).collect();
            scenario = scenario.collection(&format!("{dialect}-{name}"), &members);
            if name == "edited" {
                scenario = scenario.with("merger", alias("editor"));
            }
        }
    }
    let chat = Api::Chat;
    upstream.model("once", once());
    let gateway = scenario
        .endpoint("any", &upstream.base_of(chat))
        .model("small", "any", "alpha")
        .facts(json!({"context_window": SMALL_WINDOW}))
        .model("once", "any", "once")
        .collection("opener", &["opener-chat"])
        .collection("small", &["small"])
        .collection("once", &["once"])
        .start()
        .await;
    (upstream, gateway)
}

fn says(text: &'static str) -> Script {
    Script::in_any(move |api, _| api.says(text))
}

/// Merges word by word, and waits before the last. What comes together goes out together: its words come apart, and its
/// end after them.
fn merges(api: Api, gate: &Gate) -> Reply {
    let reply = api.says("One merged answer.");
    let says = |word: &str, step: &Step| matches!(step, Step::Send(bytes) if String::from_utf8_lossy(bytes).contains(word));
    let place = |word: &str| reply.steps.iter().position(|step| says(word, step)).expect("a word");
    let (second, last) = (place("merged"), place("answer."));
    let apart = || Step::Pause(Duration::from_millis(100));
    reply.at(last + 1, apart()).at(last, Step::Wait(gate.clone())).at(second, apart())
}

/// Says the base64 of the picture it was sent; without one, or with the wrong media type, it refuses.
fn sees(api: Api, request: &Received) -> Reply {
    match api.picture(&request.json()) {
        Some((media_type, data)) if media_type.as_deref().is_none_or(|said| said == "image/png") => {
            api.says(&format!("I see {data}"))
        }
        other => api.fails(400, &format!("no image/png but {other:?}")),
    }
}

/// Limited at the first request of each gate's name, and answering from the second on.
fn once() -> Script {
    let gates = Gates::default();
    Script::in_any(move |api, request| {
        let asked = gates.of(request);
        if asked.is_open() {
            return api.says("Second time lucky.");
        }
        asked.open();
        api.fails(429, "Slow down").header("retry-after", "1")
    })
}

/// Gates by the name a question mentions, `gate-…`, so that cases that run at once do not open each other's.
#[derive(Clone, Default)]
struct Gates(Arc<Mutex<HashMap<String, Gate>>>);

impl Gates {
    fn of(&self, request: &Received) -> Gate {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let from = body.find("gate-").unwrap_or_else(|| panic!("no gate is named in {body}"));
        let name: String = body[from..]
            .chars()
            .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '-')
            .collect();
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        gates.entry(name).or_insert_with(Gate::shut).clone()
    }
}
