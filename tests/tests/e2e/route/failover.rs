//! A turn passes to the next member before its caller has heard anything: route.md §4.

use bench_tests::{
    Gate, Gateway, Lab, Scenario, Upstream,
    upstream::{Api, End, Received, Reply, Said, Script, Step},
};
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpListener, task::JoinSet};

use super::{
    caller::{Ask, Caller},
    lab::{asked, head_then, heard_before, named, routed, routed_as, says, served, with_member},
};

/// What a member does instead of an answer.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Status(u16, &'static str),
    Limited,
    NoHead,
    /// A stream in which an error event is all there is; whole, the error with a 200.
    ErrorIn200,
    Empty,
    ThoughtThenEmpty,
    ThoughtThenCut,
    ThoughtThenError,
    QuotaNotice,
    Page,
    /// A body that is not of the API at all.
    Words,
    CutAtOnce,
}

const QUOTA: &str = "You have exceeded your current quota, please check your plan and billing details.";

/// Each fault, and words of it that `bench.failed_over` repeats.
const FAULTS: [(Fault, &str); 27] = [
    (Fault::Status(402, "Insufficient credits"), "Insufficient credits"),
    (Fault::Status(408, "Took too long"), "Took too long"),
    (Fault::Status(409, "Another request is running"), "Another request is running"),
    (Fault::Limited, "Slow down"),
    (Fault::Status(500, "Internal error"), "Internal error"),
    (Fault::Status(502, "Bad gateway"), "Bad gateway"),
    (Fault::Status(503, "Over capacity"), "Over capacity"),
    (Fault::Status(504, "Edge timeout"), "Edge timeout"),
    (Fault::Status(529, "Overloaded"), "Overloaded"),
    (Fault::Status(401, "Invalid API key"), "Invalid API key"),
    (Fault::Status(403, "Not allowed"), "Not allowed"),
    (Fault::Status(404, "The model does not exist"), "does not exist"),
    (Fault::Status(400, "This model's maximum context length is 512 tokens"), "maximum context length"),
    (Fault::Status(413, "Request too large"), "too large"),
    (
        Fault::Status(400, "Unsupported parameter: 'metadata' is not supported with this model."),
        "Unsupported parameter",
    ),
    (
        Fault::Status(400, "tools.0.function.parameters: JSON schema is invalid: unknown keyword 'examples'"),
        "schema",
    ),
    (Fault::Status(422, "Unrecognized request argument supplied: metadata"), "Unrecognized"),
    (Fault::NoHead, ""),
    (Fault::ErrorIn200, "The engine fell over"),
    (Fault::Empty, ""),
    (Fault::ThoughtThenEmpty, ""),
    (Fault::ThoughtThenCut, ""),
    (Fault::ThoughtThenError, "The engine fell over"),
    (Fault::QuotaNotice, "quota"),
    (Fault::Page, ""),
    (Fault::Words, ""),
    (Fault::CutAtOnce, ""),
];

fn does(fault: Fault, api: Api, request: &Received) -> Reply {
    let tells = |said: &[Said], end: End| request.told(api, said, end);
    let thought = [Said::Thinks("Hm, secretly.")];
    match fault {
        Fault::Status(status, words) => api.fails(status, words),
        Fault::Limited => api.fails(429, "Slow down").header("retry-after", "60"),
        Fault::NoHead => Reply { before: vec![Step::Reset], head: false, ..api.fails(500, "never sent") },
        Fault::ErrorIn200 => tells(&[], End::Error("The engine fell over")),
        Fault::Empty => tells(&[], End::Proper),
        Fault::ThoughtThenEmpty => tells(&thought, End::Proper),
        Fault::ThoughtThenCut => tells(&thought, End::BrokenOff),
        Fault::ThoughtThenError => tells(&thought, End::Error("The engine fell over")),
        Fault::QuotaNotice => tells(&[Said::Text(QUOTA)], End::Proper),
        Fault::Page => bench_tests::upstream::html_page(200),
        Fault::Words => Reply::whole(200, "text/plain", "upstream connect error or disconnect"),
        Fault::CutAtOnce => tells(&[], End::BrokenOff),
    }
}

/// The turn went to beta, and its caller saw nothing of alpha.
fn unseen(heard: &super::heard::Heard, caller: Caller, words: &str, what: &str) {
    assert_eq!(heard.status, 200, "{what}: {}", heard.raw);
    assert!(heard.is_whole(), "{what}: {}", heard.raw);
    assert_eq!((heard.by(), heard.text().as_str()), ("beta", "Said by beta."), "{what}: {}", heard.raw);
    assert_eq!(heard.thinking(), "", "{what}: nothing of the thoughts of the first: {}", heard.raw);
    if let Some(bench) = &heard.bench {
        let handed = &bench["failed_over"];
        assert_eq!(handed.as_array().map(Vec::len), Some(1), "{what}: {bench}");
        assert_eq!(
            (&handed[0]["from"], &handed[0]["to"]),
            (&json!("alpha"), &json!("beta")),
            "{what}: {bench}"
        );
        let why = handed[0]["why"].as_str().unwrap_or_default();
        assert!(!why.is_empty() && why.contains(words), "{what}: {words:?} in {why:?}");
        assert_eq!(bench["alias"], "beta", "{what}");
    } else {
        assert!(caller.is_gemini() || caller.own().is_some(), "{what}: no bench: {}", heard.raw);
    }
}

/// Every fault of a member of every dialect, before a caller of every API, streamed and whole; the one that takes
/// over speaks chat. A fresh collection each, so that nobody rests.
async fn each_fault(member: Api) {
    for (fault, words) in FAULTS {
        let upstream = Upstream::start().await;
        let mut scenario = Scenario::new();
        let mut cases = Vec::new();
        for (at, caller) in Caller::ALL.into_iter().enumerate() {
            for stream in [false, true] {
                let name = format!("c{at}{}", if stream { "s" } else { "w" });
                let alias = format!("alpha-{name}");
                upstream
                    .model(&served(&alias), Script::in_any(move |api, request| does(fault, api, request)));
                scenario = with_member(scenario, &alias, &upstream.base_of(member), member);
                cases.push((caller, stream, name, alias));
            }
        }
        upstream.model(&served("beta"), named("beta"));
        scenario = with_member(scenario, "beta", &upstream.base_of(Api::Chat), Api::Chat);
        for (_, _, name, alias) in &cases {
            scenario = scenario.collection(name, &[alias, "beta"]).with("reply", "route");
        }
        let gateway = scenario.start().await;
        for (caller, stream, name, alias) in cases {
            let what = format!("{fault:?} of {member:?} before {caller:?}, streamed: {stream}");
            let ask = Ask::of("whom?").model(&format!("bench/{name}"));
            let mut heard = caller.either(&gateway.http, &ask, stream).await;
            if let Some(bench) = &mut heard.bench
                && bench["failed_over"][0]["from"] == json!(alias)
            {
                bench["failed_over"][0]["from"] = json!("alpha");
            }
            unseen(&heard, caller, words, &what);
            // A kept connection that is lost before any byte says nothing of its member yet.
            let most = if matches!(fault, Fault::NoHead) { 2 } else { 1 };
            let asked = upstream.asked(&served(&alias)).len();
            assert!((1..=most).contains(&asked), "{what}: asked once, no more: {asked}");
        }
        alerts(&gateway, fault).await;
    }
}

/// A refused key is the owner's to mend, and nothing else is.
async fn alerts(gateway: &Gateway, fault: Fault) {
    let alerts = gateway.command("status", &json!({})).await["alerts"].clone();
    let refused = alerts.as_array().expect("alerts").iter().filter(|it| it["kind"] == "key_refused").count();
    let wanted = if matches!(fault, Fault::Status(401 | 403, _)) { 16 } else { 0 };
    assert_eq!(refused, wanted, "{fault:?}: {alerts}");
}

#[tokio::test]
async fn unseen_whatever_a_chat_member_does() {
    each_fault(Api::Chat).await;
}

#[tokio::test]
async fn unseen_whatever_a_responses_member_does() {
    each_fault(Api::Responses).await;
}

#[tokio::test]
async fn unseen_whatever_an_anthropic_member_does() {
    each_fault(Api::Anthropic).await;
}

#[tokio::test]
async fn unseen_whatever_a_gemini_member_does() {
    each_fault(Api::Gemini).await;
}

#[tokio::test]
async fn unseen_whatever_an_ollama_member_does() {
    each_fault(Api::Ollama).await;
}

/// Nobody listens, or somebody who speaks no TLS.
#[tokio::test]
async fn unseen_when_there_is_no_connection() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its address").port();
    drop(listener);
    let (plain, _task) = speaks_no_tls().await;
    for base in [format!("http://127.0.0.1:{port}"), format!("https://{plain}")] {
        for api in Api::ALL {
            let root = match api {
                Api::Gemini => format!("{base}/v1beta"),
                Api::Ollama => base.clone(),
                _ => format!("{base}/v1"),
            };
            let upstream = Upstream::start().await;
            upstream.model(&served("beta"), named("beta"));
            let scenario = with_member(Scenario::new(), "alpha", &root, api);
            let scenario = with_member(scenario, "beta", &upstream.base(), Api::Chat);
            let gateway =
                scenario.collection("core", &["alpha", "beta"]).with("reply", "route").start().await;
            for caller in Caller::ALL {
                for stream in [false, true] {
                    let what = format!("{base} of {api:?} before {caller:?}, streamed: {stream}");
                    let ask = Ask::of(&what);
                    unseen(&caller.either(&gateway.http, &ask, stream).await, caller, "", &what);
                }
            }
        }
    }
}

/// Answers every connection at once, in plain words; where it listens.
async fn speaks_no_tls() -> (std::net::SocketAddr, JoinSet<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = listener.local_addr().expect("its address");
    let mut task = JoinSet::new();
    task.spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            let _ = connection.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await;
        }
    });
    (address, task)
}

/// A plain 400 about what the caller sent is the caller's: nobody else is asked.
#[tokio::test]
async fn a_refusal_of_the_content_is_given_back_as_it_is() {
    for member in Api::ALL {
        let words = "messages.0: all messages must have non-empty content";
        let refuses = Script::in_any(move |api, _| api.fails(400, words));
        let lab = routed([("alpha", member, refuses), ("beta", Api::Chat, named("beta"))]).await;
        for caller in Caller::ALL {
            for stream in [false, true] {
                let what = format!("{member:?} before {caller:?}, streamed: {stream}");
                let heard = caller.either(lab.http(), &Ask::of(&what), stream).await;
                assert_eq!(heard.status, 400, "{what}: {}", heard.raw);
                assert!(heard.said_error().contains(words), "{what}: {}", heard.raw);
                let error = heard.error.clone().expect("an error");
                if caller.own() == Some(member) {
                    let told = member.fails(400, words);
                    let [Step::Send(body)] = &told.steps[..] else { panic!("{told:?}") };
                    assert_eq!(heard.raw.as_bytes(), body, "{what}: to the byte");
                    continue;
                }
                match caller {
                    Caller::Anthropic => assert_eq!(error["type"], "invalid_request_error", "{what}"),
                    Caller::Gemini | Caller::GeminiArray => {
                        assert_eq!(error["status"], "INVALID_ARGUMENT", "{what}")
                    }
                    Caller::Ollama | Caller::Generate => assert!(error.is_string(), "{what}"),
                    _ => assert_eq!(error["type"], "invalid_request_error", "{what}"),
                }
            }
        }
        assert_eq!(asked(&lab, "beta").len(), 0, "{member:?}");
    }
}

#[tokio::test]
async fn at_most_three_members_are_asked() {
    let fails = || Script::in_any(|api, _| api.fails(500, "Internal error"));
    for caller in Caller::ALL {
        for stream in [false, true] {
            let members = [
                ("one", Api::Chat, fails()),
                ("two", Api::Anthropic, fails()),
                ("three", Api::Gemini, fails()),
                ("four", Api::Chat, named("four")),
            ];
            let lab = routed(members).await;
            let heard = caller.either(lab.http(), &Ask::of("hi"), stream).await;
            assert_eq!(heard.status, 502, "{caller:?}: {}", heard.raw);
            let times = ["one", "two", "three", "four"].map(|alias| asked(&lab, alias).len());
            assert_eq!(times, [1, 1, 1, 0], "{caller:?}, streamed: {stream}");
        }
    }
}

/// The third one answers: two handed over.
#[tokio::test]
async fn each_that_failed_is_named_in_order_and_a_notice_is_raised() {
    let members = || {
        [
            (
                "one",
                Api::Chat,
                Script::in_any(|api, _| api.fails(429, "Slow down").header("retry-after", "30")),
            ),
            ("two", Api::Anthropic, Script::in_any(|api, _| api.fails(529, "Overloaded"))),
            ("three", Api::Ollama, named("three")),
        ]
    };
    for stream in [false, true] {
        let lab = routed(members()).await;
        let mut live = crate::frames::Frames::live(&lab.gateway).await;
        live.until("\"snapshot\"").await;
        let heard = Caller::Chat.either(lab.http(), &Ask::of("hi"), stream).await;
        let handed = heard.bench("failed_over");
        let from_to: Vec<_> =
            handed.as_array().into_iter().flatten().map(|it| (&it["from"], &it["to"])).collect();
        assert_eq!(
            from_to,
            [(&json!("one"), &json!("two")), (&json!("two"), &json!("three"))],
            "{}",
            heard.raw
        );
        assert!(handed[0]["why"].as_str().is_some_and(|why| why.contains("Slow down")), "{handed}");
        live.until("\"turn_failed_over\"").await;
        let lines = live.lines();
        let notice = lines.iter().find(|event| event["type"] == "noticed").expect("a notice");
        assert_eq!(notice["alert"]["kind"], "turn_failed_over", "{notice}");
        assert_eq!(notice["alert"]["subject"], "core", "{notice}");
    }
}

/// Nobody else is there: it is asked once more, after a wait that it states and that is short.
#[tokio::test]
async fn the_last_one_is_asked_once_more() {
    let answers = |api: Api, request: &Received| says(api, request, "Said by alpha.");
    let second = move |first: fn(Api) -> Reply| {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        Script::in_any(move |api, request| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => first(api),
            _ => answers(api, request),
        })
    };
    for (first, again) in [
        ((|api: Api| api.fails(503, "Busy").header("retry-after", "1")) as fn(Api) -> Reply, true),
        (|api: Api| api.fails(429, "Slow down").header("retry-after", "1"), true),
        (|api: Api| api.fails(429, "Slow down").header("retry-after", "6"), false),
        (|api: Api| api.fails(401, "Invalid API key"), false),
    ] {
        for caller in [Caller::Chat, Caller::Anthropic, Caller::Gemini] {
            let lab = routed([("alpha", Api::Chat, second(first))]).await;
            let heard = caller.stream(lab.http(), &Ask::of("hi")).await;
            let times = asked(&lab, "alpha").len();
            match again {
                true => {
                    assert!(heard.is_whole(), "{caller:?}: {}", heard.raw);
                    assert_eq!((heard.text().as_str(), times), ("Said by alpha.", 2), "{caller:?}");
                }
                false => assert_eq!((heard.status == 200, times), (false, 1), "{caller:?}: {}", heard.raw),
            }
        }
    }
    // One that is not the last is not asked again.
    let lab = routed([
        ("alpha", Api::Chat, second(|api| api.fails(503, "Busy").header("retry-after", "1"))),
        ("beta", Api::Chat, named("beta")),
    ])
    .await;
    assert_eq!(Caller::Chat.ask(lab.http(), &Ask::of("hi")).await.by(), "beta");
    assert_eq!(asked(&lab, "alpha").len(), 1);
}

/// Its owner wants to see thoughts as they come: a member that has shown some keeps the turn.
#[tokio::test]
async fn thoughts_shown_early_hold_the_turn() {
    for caller in Caller::AGENTS {
        for own in [true, false] {
            let member = if own { caller.own().expect("an agent") } else { other_than(caller) };
            let what = format!("{caller:?} over {member:?}");
            let gate = Gate::shut();
            let held = gate.clone();
            let thinks = Script::in_any(move |api, request| {
                let reply = request.told(api, &[Said::Thinks("Hm.")], End::Error("The engine fell over"));
                heard_before(reply, b"Hm.", &held)
            });
            let members = [("alpha", member, thinks), ("beta", Api::Chat, named("beta"))];
            let lab = routed_as(members, |it| it.setting("show_reasoning_early", true)).await;
            let heard = head_then(lab.http(), caller, &Ask::of("hi"), &gate).await;
            assert_eq!((heard.status, heard.thinking().as_str()), (200, "Hm."), "{what}: {}", heard.raw);
            assert!(heard.error.is_some() && !heard.is_whole(), "{what}: {}", heard.raw);
            assert_eq!(asked(&lab, "beta").len(), 0, "{what}");
        }
    }
}

fn other_than(caller: Caller) -> Api {
    if caller == Caller::Chat { Api::Anthropic } else { Api::Chat }
}

/// Thoughts are held back with the turn, and come when the answer does.
#[tokio::test]
async fn thoughts_come_with_the_first_piece() {
    let thinks = || Script::tells(&[Said::Thinks("Hm."), Said::Text("Yes.")], End::Proper);
    for caller in Caller::AGENTS {
        for member in Api::ALL {
            let lab: Lab = routed([("alpha", member, thinks())]).await;
            for stream in [false, true] {
                let heard = caller.either(lab.http(), &Ask::of("hi"), stream).await;
                let what = format!("{caller:?} over {member:?}, streamed: {stream}");
                assert!(heard.is_whole(), "{what}: {}", heard.raw);
                assert_eq!(
                    (heard.thinking().as_str(), heard.text().as_str()),
                    ("Hm.", "Yes."),
                    "{what}: {}",
                    heard.raw
                );
            }
        }
    }
}
