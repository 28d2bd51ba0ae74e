//! Nothing recorded is lost, and a data folder has one owner.

use std::{collections::BTreeSet, path::PathBuf};

use bench_tests::{
    Home, Scenario, Upstream, panel_of,
    scenario::{question, served},
    upstream::{Script, Step, answers, tokens},
};
use serde_json::json;
use tokio::task::JoinSet;

use crate::checks::{call, panel_id, recorded, seat};

/// The call ids in a streamed text whose whole section is there.
fn delivered(text: &str) -> BTreeSet<String> {
    let whole = text.rfind("END.").map_or("", |at| &text[..at]);
    whole
        .split('`')
        .filter(|word| word.starts_with('p') && word.contains(".member"))
        .map(str::to_owned)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_kill_9_every_finished_call_is_there() {
    // Three members: two answer at once, one never does, so that every panel is killed in the middle.
    let lab = panel_of([
        ("alpha", answers("Answer of alpha. END.").into()),
        (
            "beta",
            Script::by(|_| {
                answers("Answer of beta. END.").at(2, Step::Pause(std::time::Duration::from_millis(30)))
            }),
        ),
        ("gamma", answers("Never said.").at(1, Step::Stall).into()),
    ])
    .await;
    let mut reading = JoinSet::new();
    for number in 0..12 {
        let http = lab.http().clone();
        reading.spawn(async move {
            let mut stream = http.stream(&question(&format!("number {number}"))).await;
            let first = stream.until("END.").await;
            // Some are killed between their first and second seat, some after it; both may come at once.
            let waits = number % 2 == 0 && first.matches("END.").count() < 2;
            if waits { first + &stream.until("END.").await } else { first }
        });
    }
    let mut seen = BTreeSet::new();
    while let Some(text) = reading.join_next().await {
        seen.append(&mut delivered(&text.expect("read")));
    }
    assert!((18..=24).contains(&seen.len()), "{seen:?}");
    let home = lab.gateway.kill().await;

    let gateway = home.serve().await;
    for id in &seen {
        let kept = call(&gateway, id).await;
        assert_eq!(kept.status, 200, "{id} was delivered and is lost");
        assert_eq!(kept.json()["status"], "ok", "{id}");
        assert!(
            kept.json()["answer"].as_str().is_some_and(|answer| answer.ends_with("END.")),
            "{id}: {}",
            kept.text()
        );
    }
    // The command line sees the same, and the panels say what became of them.
    let page = gateway.command("panels", &json!({"before": null, "limit": 100})).await;
    let panels = page["panels"].as_array().expect("panels");
    assert_eq!(panels.len(), 12);
    assert!(panels.iter().all(|panel| panel["state"] == "interrupted"), "{page}");
    // A verdict can still be given on what was answered.
    let one = seen.iter().next().expect("one");
    let verdict = gateway.bench(&["verdict", one, "--useful"]).await.exits(0);
    assert!(verdict.stderr.is_empty() || !verdict.stderr.contains("error"), "{}", verdict.stderr);
    let unheard = format!("{}.member3", one.split('.').next().expect("a panel id"));
    assert_ne!(call(&gateway, &unheard).await.json()["status"], "ok");
}

#[tokio::test]
async fn a_whole_reply_is_on_disk_when_it_is_sent() {
    let lab = panel_of([("alpha", answers("Answer of alpha.").into())]).await;
    let mut gateway = lab.gateway;
    for _ in 0..3 {
        let reply = gateway.http.chat(&question("hi")).await.json();
        gateway = gateway.kill().await.serve().await;
        let id = seat(&reply, "alpha")["call"].as_str().expect("an id").to_owned();
        assert_eq!(call(&gateway, &id).await.json()["answer"], "Answer of alpha.");
    }
}

#[tokio::test]
async fn asked_to_stop_it_finishes_what_it_streams_and_takes_nothing_new() {
    let gate = bench_tests::Gate::shut();
    let lab = panel_of([(
        "alpha",
        Script::by({
            let gate = gate.clone();
            // Only the first panel is slow.
            move |request| match request.json()["messages"][0]["content"].as_str() {
                Some("slow") => answers("Answer of alpha.").held(&gate),
                _ => answers("Quick."),
            }
        }),
    )])
    .await;
    let stream = lab.http().stream(&question("slow")).await;
    lab.upstream.arrived(&served("alpha"), 1).await;
    let http = lab.http().clone();
    let stopping = lab.gateway.stop();
    let reading = async {
        bench_tests::eventually("new panels to be refused", || async {
            match http.try_chat(&question("quick")).await {
                None => Some(()),
                Some(answer) => (answer.status == 503).then(|| {
                    assert!(answer.json()["error"]["message"].is_string(), "{}", answer.text());
                }),
            }
        })
        .await;
        gate.open();
        stream.rest().await
    };
    let ((home, code), streamed) = tokio::join!(stopping, reading);
    assert_eq!(code, Some(0), "{}", home.logs());
    assert!(streamed.text().contains("Answer of alpha."), "{}", streamed.text());
    assert_eq!(streamed.data.last().map(String::as_str), Some("[DONE]"));
}

#[tokio::test]
async fn a_data_folder_has_one_owner() {
    let gateway = Home::default().serve().await;
    let second = gateway.home.bench(&["serve", "--port", "0"]).await;
    assert_eq!(second.code, 1, "{}{}", second.stdout, second.stderr);
    assert_eq!(second.stdout, "", "no ready line");
    for told in [gateway.pid().to_string(), gateway.port().to_string()] {
        assert!(second.stderr.contains(&told), "it says who: {told} is not in {}", second.stderr);
    }
    assert_eq!(gateway.http.get("/health").await.status, 200, "the first goes on");
    // The folder is free again after kill -9: a lock, not a file that lies.
    let home = gateway.kill().await;
    home.serve().await;
}

#[tokio::test]
async fn of_many_that_start_at_once_one_gets_the_folder() {
    let home = Home::default();
    let mut starting = JoinSet::new();
    let mut running = Vec::new();
    for _ in 0..4 {
        let mut command = home.command(&["serve", "--port", "0"]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        running.push(std::sync::Arc::new(tokio::sync::Notify::new()));
        let stop = running.last().expect("pushed").clone();
        let mut child = command.spawn().expect("bench serve starts");
        starting.spawn(async move {
            let mut said = child.stderr.take().expect("piped");
            let mut words = String::new();
            tokio::select! {
                read = tokio::io::AsyncReadExt::read_to_string(&mut said, &mut words) => {
                    read.expect("text");
                    Some((child.wait().await.expect("waited").code(), words))
                }
                () = stop.notified() => None,
            }
        });
    }
    for _ in 0..3 {
        let ended = bench_tests::within("the losers to say so", starting.join_next()).await;
        let (code, words) = ended.expect("three are left").expect("waited").expect("it ended by itself");
        assert_eq!(code, Some(1), "{words}");
        assert!(words.contains("data folder") || words.contains("already"), "{words}");
    }
    let shown = bench_tests::eventually("the winner to answer", || async {
        let shown = home.bench(&["--json", "status"]).await;
        (shown.code == 0).then_some(shown)
    })
    .await;
    assert!(shown.json()["port"].is_number(), "{}", shown.stdout);
    running.iter().for_each(|stop| stop.notify_one());
    assert!(starting.join_next().await.expect("the winner").expect("waited").is_none(), "it ran until now");
}

/// The SQLite files of a home.
fn databases(home: &Home) -> Vec<PathBuf> {
    home.files()
        .into_iter()
        .filter(|(_, bytes)| bytes.starts_with(b"SQLite format 3\0"))
        .map(|(path, _)| path)
        .collect()
}

#[tokio::test]
async fn a_store_from_a_newer_version_is_left_alone() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    assert_eq!(lab.http().chat(&question("hi")).await.status, 200);
    let (home, _) = lab.gateway.stop().await;
    let databases = databases(&home);
    let store = databases.first().expect("a store");
    // `user_version` is the big-endian word at byte 60 of the header.
    let mut bytes = std::fs::read(store).expect("the store");
    bytes[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    std::fs::write(store, &bytes).expect("written");

    let refused = home.bench(&["serve", "--port", "0"]).await;
    assert_eq!(refused.code, 1, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("newer"), "{}", refused.stderr);
    assert_eq!(std::fs::read(store).expect("the store"), bytes, "untouched");
}

#[tokio::test]
async fn a_corrupt_store_is_moved_aside_and_the_gateway_starts() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let (home, _) = lab.gateway.stop().await;
    let databases = databases(&home);
    let store = databases.first().expect("a store");
    let whole = std::fs::read(store).expect("the store");
    // Its header lost; its header whole and all else lost.
    for kept in [0, 100] {
        let mut bytes = whole.clone();
        for (at, byte) in bytes.iter_mut().enumerate().skip(kept) {
            *byte = b"this is not a database "[at % 23];
        }
        std::fs::write(store, &bytes).expect("written");
        let gateway = home.serve().await;
        assert_eq!(gateway.http.get("/v1/models").await.status, 200, "{kept}");
        let aside: Vec<_> =
            home.files().into_iter().filter(|(_, found)| *found == bytes).map(|(path, _)| path).collect();
        assert!(
            aside.len() == 1 && aside[0] != *store,
            "the corrupt store is kept under another name: {aside:?}"
        );
        gateway.kill().await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn with_a_full_disk_calls_still_answer_and_the_owner_is_told() {
    let upstream = Upstream::start().await;
    upstream.model(&served("alpha"), tokens(["A long answer. ".repeat(500).as_str(); 8]));
    let scenario = Scenario::new()
        .endpoint("fake", &upstream.base())
        .model("alpha", "fake", &served("alpha"))
        .collection("core", &["alpha"]);
    let file = scenario.home.file("setup.json", &scenario.file().to_string());
    let home = &scenario.home;
    home.bench(&["import", &file.to_string_lossy()]).await.exits(0);
    // No file may grow past 600 KB: what a full disk looks like to SQLite, without one.
    let program = bench_tests::process::bench_program().to_string_lossy().into_owned();
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -S -f \"$1\"; shift; exec \"$@\"", "sh", "1200", &program]);
    command.args(["--json", "serve", "--port", "0"]);
    home.dress(&mut command);
    let gateway = home.serve_as(command).await;
    let mut full = false;
    for _ in 0..40 {
        let answer = gateway.http.chat(&question("hi")).await;
        assert_eq!(answer.status, 200, "{}", answer.text().chars().take(300).collect::<String>());
        let status = gateway.command("status", &json!({})).await;
        if status["recording"]["ok"] == false {
            assert!(
                status["recording"]["message"].as_str().is_some_and(|message| !message.is_empty()),
                "{status}"
            );
            full = true;
            break;
        }
    }
    assert!(full, "nobody was told");
    let asked = json!({"model": "bench/core", "input": "and this?"});
    let kept_later = gateway.http.post("/v1/responses", &asked).await;
    assert_eq!(kept_later.status, 200, "{}", kept_later.text());

    let freed = tokio::process::Command::new("prlimit")
        .args(["--pid", &gateway.pid().to_string(), "--fsize=unlimited"])
        .status()
        .await
        .expect("prlimit runs");
    assert!(freed.success());
    let reply = gateway.http.chat(&question("again")).await.json();
    let id = format!("{}.member1", panel_id(&reply));
    bench_tests::eventually("recording to resume by itself", || async {
        let status = gateway.command("status", &json!({})).await;
        (status["recording"]["ok"] == true).then_some(())
    })
    .await;
    assert_eq!(recorded(&gateway, &id).await["status"], "ok");
    let kept_later = kept_later.json();
    let path = format!("/v1/responses/{}", kept_later["id"].as_str().expect("an id"));
    assert_eq!(gateway.http.get(&path).await.json(), kept_later);
}
