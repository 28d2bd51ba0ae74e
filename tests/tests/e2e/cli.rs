//! The command line: cli-mcp.md.

use bench_tests::{
    Gate, Home, Lab, panel_of,
    process::bench_program,
    scenario::{question, served},
    upstream::{Script, answers, fails},
};
use serde_json::json;
use tokio::io::AsyncReadExt;

use crate::checks::{call, panel_id};

async fn lab() -> Lab {
    let echo = Script::by(|request| {
        let turns = request.json()["messages"].clone();
        answers(&format!("Heard {}.", turns))
    });
    panel_of([("alpha", echo), ("beta", answers("Answer of beta.").into())]).await
}

#[tokio::test]
async fn the_ready_line_is_exact() {
    let home = Home::default();
    let mut child = home
        .command(&["serve", "--port", "0"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("bench serve starts");
    let mut out = child.stdout.take().expect("piped");
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        line.push(bench_tests::within("the ready line", out.read_u8()).await.expect("a byte"));
    }
    let line = String::from_utf8(line).expect("text");
    let port = line.strip_prefix("serving http://127.0.0.1:").and_then(|rest| rest.strip_suffix('\n'));
    let port: u16 = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("{line:?}"));
    let http = bench_tests::http::Http::new(&format!("http://127.0.0.1:{port}"));
    assert_eq!(http.get("/health").await.status, 200);
    child.kill().await.expect("killed");

    let gateway = home.serve().await;
    assert_eq!(gateway.ready["pid"], gateway.pid());
    assert_eq!(gateway.ready["data_dir"], home.data().to_string_lossy().as_ref());
    assert_eq!(gateway.ready["url"], format!("http://127.0.0.1:{}", gateway.port()));
}

#[tokio::test]
async fn a_taken_port_is_said_and_the_next_free_one_is_shown() {
    let (taken, listener) = loop {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        if port < 65_000 {
            break (port, listener);
        }
    };
    let gateway = Home::default().serve_with(&["--port", &taken.to_string()]).await;
    assert!(gateway.port() > taken, "{} after {taken}", gateway.port());
    let status = gateway.command("status", &json!({})).await;
    assert_eq!(status["wanted_port"], taken);
    assert_eq!(status["port"], gateway.port());
    let note = status["port_note"].as_str().unwrap_or_default();
    assert!(note.contains(&taken.to_string()) && note.contains(&gateway.port().to_string()), "{note}");
    let shown = gateway.bench(&["status"]).await.exits(0).stdout;
    assert!(shown.contains(&gateway.port().to_string()) && shown.contains(&taken.to_string()), "{shown}");
    drop(listener);
}

#[tokio::test]
async fn status_says_where_and_what() {
    let lab = lab().await;
    let shown = lab.gateway.bench(&["status"]).await.exits(0).stdout;
    assert!(shown.contains(&lab.http().url), "{shown}");
    let json = lab.gateway.bench(&["--json", "status"]).await.exits(0).json();
    assert_eq!(json["url"], lab.http().url.as_str());
    assert_eq!(json["pid"], lab.gateway.pid());
    for (client, path) in [("OpenAI", "/v1"), ("Anthropic", ""), ("Ollama", ""), ("Gemini", "")] {
        let url = format!("{}{path}", lab.http().url);
        assert_eq!(json["urls"][client.to_lowercase()], url);
        assert!(shown.contains(&format!("{url} for {client} clients")), "{shown}");
    }
    // From anywhere, with the URL and the token.
    let mut elsewhere = Home::default();
    let token =
        std::fs::read_to_string(lab.gateway.home.data().join("control.token")).expect("control.token");
    elsewhere.set("BENCHWARMERS_TOKEN", token.trim());
    let reached = elsewhere.bench(&["--url", &lab.http().url, "--json", "status"]).await.exits(0).json();
    assert_eq!(reached["pid"], lab.gateway.pid());
    elsewhere.set("BENCHWARMERS_TOKEN", "not-the-token");
    elsewhere.bench(&["--url", &lab.http().url, "status"]).await.exits(1);
}

/// Whoever listens at an address that was typed or pasted must not get the key to the data folder.
#[tokio::test]
async fn the_folders_token_goes_to_its_own_gateway_only() {
    let gateway = Home::default().serve().await;
    let url = gateway.http.url.clone();
    gateway.bench(&["--url", &url, "status"]).await.exits(0);
    gateway.bench(&["--url", &url.replace("127.0.0.1", "localhost"), "status"]).await.exits(0);

    let stranger = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let strange = format!("http://{}", stranger.local_addr().expect("an address"));
    let refused = gateway.bench(&["--url", &strange, "status"]).await.exits(2);
    assert!(refused.stderr.contains("BENCHWARMERS_TOKEN"), "{}", refused.stderr);
    stranger.set_nonblocking(true).expect("it can be asked");
    assert!(stranger.accept().is_err(), "nobody connected");
}

#[tokio::test]
async fn status_shows_the_standing_alerts() {
    let lab = panel_of([("alpha", fails(401, "invalid_api_key", "no such key").into())]).await;
    assert_eq!(lab.gateway.bench(&["--json", "status"]).await.exits(0).json()["alerts"], json!([]));
    lab.gateway.bench(&["ask", "core", "hi"]).await.exits(1);
    let json = lab.gateway.bench(&["--json", "status"]).await.exits(0).json();
    let kinds: Vec<_> = json["alerts"].as_array().expect("a list").iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["key_refused", "panel_failed"], "{json}");
    let shown = lab.gateway.bench(&["status"]).await.exits(0).stdout;
    let alerts: Vec<_> = shown.lines().filter(|line| line.starts_with("alert")).collect();
    assert_eq!(alerts.len(), 2, "{shown}");
    assert!(alerts[0].contains("The key for fake was refused"), "{shown}");
    assert!(alerts[1].contains("bench/core: "), "{shown}");
}

#[tokio::test]
async fn ask_takes_the_reply_mode_behind_the_name() {
    let lab = lab().await;
    let asked = lab.gateway.bench(&["ask", "bench/core:all", "whom?"]).await.exits(0);
    assert!(asked.stdout.contains("Answer of beta."), "{}", asked.stdout);
    let merged = lab.gateway.bench(&["--json", "ask", "core:merged", "whom?"]).await.exits(0).json();
    assert_eq!(merged["reply"], "merged", "{merged}");
    let refused = lab.gateway.bench(&["ask", "core:route", "whom?"]).await.exits(1);
    assert!(refused.stderr.contains("\"route\" is for agents; ask core:all"), "{}", refused.stderr);
}

#[tokio::test]
async fn a_refusal_names_its_subject() {
    let lab = lab().await;
    let refused = lab.gateway.bench(&["model", "add", "fake", "BAD ALIAS=plain"]).await.exits(1);
    assert!(refused.stderr.contains("models[0].alias: 1 to 64 letters"), "{}", refused.stderr);
}

#[tokio::test]
async fn what_a_provider_says_stays_in_its_cell() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model(&"long".repeat(1250), answers("x"));
    upstream.model("evil\n\u{1b}[2J\u{202e}id", answers("x"));
    let gateway = Home::default().serve().await;
    gateway.bench(&["endpoint", "add", "fake", "--base", &upstream.base()]).await.exits(0);
    let shown = gateway.bench(&["model", "add", "fake"]).await.exits(0).stdout;
    assert_eq!(shown.lines().count(), 3, "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() < 200), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("evil id ")), "{shown}");
}

#[tokio::test]
async fn a_locked_key_file_without_a_server() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model("vendor/alpha-1", answers("Answer of alpha."));
    let mut home = Home::default();
    let made = home.bench_with(&["vault", "--passphrase-stdin"], PASSPHRASE).await.exits(0);
    assert!(made.stderr.contains("bench serve"), "it says that it is locked again: {}", made.stderr);
    let add = ["endpoint", "add", "fake", "--base", &upstream.base(), "--key-stdin"];
    // Nobody to ask.
    let refused = home.bench_with(&add, "sk-locked-0123456789").await.exits(1);
    for way_out in ["bench serve", "BENCHWARMERS_VAULT_PASSPHRASE"] {
        assert!(refused.stderr.contains(way_out), "{}", refused.stderr);
    }
    assert_eq!(home.bench(&["--json", "endpoint", "list"]).await.exits(0).json(), json!([]));

    let locked = home.clone();
    home.set("BENCHWARMERS_VAULT_PASSPHRASE", PASSPHRASE);
    let added = home.bench_with(&add, "sk-locked-0123456789").await.exits(0);
    assert!(added.stdout.contains("in the vault file ••••6789"), "{}", added.stdout);
    home.bench(&["model", "add", "fake", "alpha=vendor/alpha-1"]).await.exits(0);
    home.bench(&["collection", "save", "core", "-m", "alpha"]).await.exits(0);
    home.bench(&["ask", "core", "whom?"]).await.exits(0);
    assert_eq!(last_key(&upstream), "Bearer sk-locked-0123456789");

    // Still nobody to ask: it says so, and goes on without.
    let asked = locked.bench(&["ask", "core", "whom?"]).await;
    assert!(asked.stderr.contains("BENCHWARMERS_VAULT_PASSPHRASE"), "{}", asked.stderr);
    // What needs no key says nothing.
    let quiet = locked.bench(&["collection", "list"]).await.exits(0);
    assert_eq!(quiet.stderr, "");
}

/// A terminal, a question and a typed answer.
#[cfg(unix)]
#[tokio::test]
async fn the_passphrase_is_asked_for_in_the_middle_of_a_command() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model("vendor/alpha-1", answers("Answer of alpha."));
    let mut home = Home::default();
    home.bench_with(&["vault", "--passphrase-stdin"], PASSPHRASE).await.exits(0);
    let locked = home.clone();
    home.set("BENCHWARMERS_VAULT_PASSPHRASE", PASSPHRASE);
    let add = ["endpoint", "add", "fake", "--base", &upstream.base(), "--key-stdin"];
    home.bench_with(&add, "sk-locked-0123456789").await.exits(0);

    let said = at_a_terminal(&locked, &["endpoint", "test", "fake"], PASSPHRASE).await.exits(0).stdout;
    assert!(said.contains("Passphrase of the key file"), "{said}");
    assert!(said.contains("vendor/alpha-1"), "{said}");
    assert!(!said.contains(PASSPHRASE), "it is not shown: {said}");
    assert_eq!(last_key(&upstream), "Bearer sk-locked-0123456789");
    let wrong = at_a_terminal(&locked, &["endpoint", "test", "fake"], "not that one").await.exits(1).stdout;
    assert!(wrong.contains("wrong passphrase"), "{wrong}");
}

const PASSPHRASE: &str = "correct horse battery staple";

fn last_key(upstream: &bench_tests::Upstream) -> String {
    let received = upstream.received();
    received.last().and_then(|request| request.header("authorization")).unwrap_or_default().to_owned()
}

/// Runs `bench` on a terminal of its own and types `answer` once it asks for a passphrase.
#[cfg(unix)]
async fn at_a_terminal(home: &Home, arguments: &[&str], answer: &str) -> bench_tests::Bench {
    const TERMINAL: &str = r#"
import os, pty, sys, termios, time
answer, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
said, answered = b"", False
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    said += piece
    if not answered and b"Passphrase" in said and said.endswith(b": "):
        # The question stands a moment before what is typed is hidden.
        while termios.tcgetattr(terminal)[3] & termios.ECHO:
            time.sleep(0.01)
        os.write(terminal, answer.encode() + b"\n")
        answered = True
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;
    let mut command = tokio::process::Command::new("python3");
    command.args(["-c", TERMINAL, answer]).arg(bench_program()).args(arguments);
    home.dress(&mut command);
    command.stdin(std::process::Stdio::null());
    let ran = bench_tests::within("bench at a terminal", command.output()).await.expect("python3 runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    bench_tests::Bench {
        code: ran.status.code().unwrap_or(-1),
        stdout: text(&ran.stdout),
        stderr: text(&ran.stderr),
    }
}

#[tokio::test]
async fn ask_prints_seat_by_seat_and_the_table_beside() {
    let gate = Gate::shut();
    let lab = panel_of([
        ("alpha", answers("Answer of alpha.").into()),
        ("beta", answers("Answer of beta.").held(&gate).into()),
    ])
    .await;
    let mut child = lab
        .gateway
        .home
        .command(&["ask", "core", "whom?"])
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("bench ask starts");
    let mut out = child.stdout.take().expect("piped");
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("Answer of alpha.") {
        let mut piece = [0; 4096];
        let count =
            bench_tests::within("alpha's answer on stdout", out.read(&mut piece)).await.expect("read");
        assert_ne!(count, 0, "ended: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&piece[..count]);
    }
    assert!(!String::from_utf8_lossy(&read).contains("Answer of beta."));
    gate.open();
    bench_tests::within("the rest", out.read_to_end(&mut read)).await.expect("read");
    assert!(String::from_utf8_lossy(&read).contains("Answer of beta."));
    let ended = bench_tests::within("its end", child.wait_with_output()).await.expect("waited");
    assert_eq!(ended.status.code(), Some(0));
    let table = String::from_utf8_lossy(&ended.stderr);
    assert!(table.contains("alpha") && table.contains("beta") && table.contains(".member1"), "{table}");
}

#[tokio::test]
async fn ask_takes_stdin_files_and_a_system_prompt() {
    let lab = lab().await;
    let home = &lab.gateway.home;
    let piped = home.bench_with(&["ask", "core", "-"], "from the pipe\n").await.exits(0);
    assert!(piped.stdout.contains("from the pipe"), "{}", piped.stdout);
    let one = home.file("one.txt", "first file text");
    let two = home.file("two.txt", "second file text");
    let arguments = [
        "ask",
        "core",
        "read these",
        "-f",
        &one.to_string_lossy(),
        "-f",
        &two.to_string_lossy(),
        "--system",
        "Be short.",
    ];
    home.bench(&arguments).await.exits(0);
    let sent = lab.upstream.arrived(&served("alpha"), 2).await.json();
    assert_eq!(sent["messages"][0], json!({"role": "system", "content": "Be short."}));
    let asked = sent["messages"].to_string();
    for words in ["read these", "first file text", "second file text", "one.txt", "two.txt"] {
        assert!(asked.contains(words), "{words} is not in {asked}");
    }
    let missing = home.bench(&["ask", "core", "x", "-f", "/no/such/file"]).await;
    assert_ne!(missing.code, 0);
    assert!(missing.stderr.contains("/no/such/file"), "{}", missing.stderr);
}

#[tokio::test]
async fn ask_in_json_is_the_panel() {
    let lab = lab().await;
    let json = lab.gateway.bench(&["--json", "ask", "bench/core", "whom?"]).await.exits(0).json();
    let text = json.to_string();
    assert!(text.contains("Answer of beta.") && text.contains(".member2"), "{text}");
}

#[tokio::test]
async fn exit_codes() {
    let lab = panel_of([("alpha", fails(500, "boom", "no luck").into())]).await;
    let home = &lab.gateway.home;
    let unknown = home.bench(&["ask", "nope", "hi"]).await.exits(1);
    assert!(unknown.stderr.contains("core"), "it lists what there is: {}", unknown.stderr);
    home.bench(&["ask", "core", "hi"]).await.exits(1);
    home.bench(&["verdict", "p20200101-000000-00000000.member1", "--useful"]).await.exits(1);
    for usage in [
        &["ask"][..],
        &["nonsense"],
        &["verdict", "x"],
        &["verdict", "x", "--useful", "--not-useful"],
        &["serve", "--port", "many"],
    ] {
        home.bench(usage).await.exits(2);
    }
    home.bench(&["--version"]).await.exits(0);
    home.bench(&["--help"]).await.exits(0);

    let lost = Home::default().bench(&["status"]).await.exits(3);
    assert!(lost.stderr.contains("bench serve"), "the way out: {}", lost.stderr);
    let mut elsewhere = Home::default();
    elsewhere.set("BENCHWARMERS_TOKEN", "some token");
    let wrong = elsewhere.bench(&["--url", "http://127.0.0.1:1", "ask", "core", "hi"]).await;
    assert_eq!(wrong.code, 3, "{}", wrong.stderr);
}

#[tokio::test]
async fn a_verdict_from_the_command_line_with_and_without_a_server() {
    let lab = lab().await;
    let panel = panel_id(&lab.http().chat(&question("hi")).await.json());
    let (first, second) = (format!("{panel}.member1"), format!("{panel}.member2"));
    lab.gateway
        .bench(&[
            "verdict", &first, "--useful", "--note", "clear", "--real", "a", "--real", "b", "--false", "c",
        ])
        .await
        .exits(0);
    let kept = call(&lab.gateway, &first).await.json()["verdict"].clone();
    assert_eq!((&kept["useful"], &kept["note"]), (&json!(true), &json!("clear")));
    assert_eq!((&kept["real"], &kept["false"]), (&json!(["a", "b"]), &json!(["c"])));
    let told = lab.gateway.bench(&["--json", "verdict", &first, "--useful"]).await.exits(0).json();
    assert_eq!(told["recorded"], false);
    lab.gateway.bench(&["verdict", &first, "--clear"]).await.exits(0);

    let (home, _) = lab.gateway.stop().await;
    home.bench(&["verdict", &second, "--not-useful"]).await.exits(0);
    let gateway = home.serve().await;
    let record = gateway.http.get("/bench/record?collection=bench/core").await.json();
    assert_eq!(record["aliases"]["beta"]["notUseful"], 1, "{record}");
    let alpha = &record["aliases"]["alpha"];
    assert!(alpha.is_null() || alpha["judged"] == 0, "withdrawn: {record}");
}

#[tokio::test]
async fn ask_needs_no_server() {
    let lab = lab().await;
    let (home, _) = lab.gateway.stop().await;
    let asked = home.bench(&["ask", "core", "whom?"]).await.exits(0);
    assert!(asked.stdout.contains("Answer of beta."), "{}", asked.stdout);
    // It was recorded like any other.
    let gateway = home.serve().await;
    let page = gateway.command("panels", &json!({"before": null, "limit": 10})).await;
    assert_eq!(page["panels"][0]["prompt"], "whom?");
    assert_eq!(page["panels"][0]["state"], "done");
}

#[tokio::test]
async fn data_dir_goes_before_the_environment() {
    let (home, other) = (Home::default(), Home::default());
    let folder = other.data().to_string_lossy().into_owned();
    let gateway = home.serve_with(&["--data-dir", &folder]).await;
    assert_eq!(gateway.ready["data_dir"], folder.as_str());
    assert_eq!(home.files().len(), 0, "{:?}", home.files().keys());
    assert!(!other.files().is_empty());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn bench_links_neither_gtk_nor_webkit() {
    let ran = tokio::process::Command::new("ldd").arg(bench_program()).output().await.expect("ldd runs");
    let linked = String::from_utf8_lossy(&ran.stdout).to_lowercase();
    assert!(linked.contains("libc"), "{linked}");
    for library in ["gtk", "webkit", "gdk", "javascriptcore", "ayatana", "libsoup"] {
        assert!(!linked.contains(library), "{linked}");
    }
}

#[tokio::test]
async fn from_nothing_to_a_verdict_by_the_command_line() {
    let upstream = bench_tests::Upstream::start().await;
    upstream.model("vendor/alpha-1", answers("Answer of alpha."));
    let gateway = Home::default().serve().await;
    let run = |arguments: Vec<String>| {
        let home = gateway.home.clone();
        async move {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            home.bench(&arguments).await.exits(0)
        }
    };
    let words =
        |line: &str| line.split(' ').map(|word| word.replace("BASE", &upstream.base())).collect::<Vec<_>>();
    run(words("endpoint add fake --base BASE")).await;
    assert!(run(words("endpoint test fake")).await.stdout.contains("1 model"));
    assert!(run(words("model add fake")).await.stdout.contains("vendor/alpha-1"));
    run(words("model add fake first=vendor/alpha-1")).await;
    assert!(run(words("model list")).await.stdout.contains("first"));
    run(words("collection save core --member first --tag code")).await;
    assert!(run(words("collection list")).await.stdout.contains("core"));
    assert!(run(words("ask core whom?")).await.stdout.contains("Answer of alpha."));
    let owed = run(words("--json owed")).await.json();
    let call = owed["calls"][0].as_str().expect("a call").to_owned();
    run(words(&format!("verdict {call} --useful"))).await;
    assert_eq!(run(words("--json owed")).await.json()["calls"], json!([]));
    run(words("--yes collection rm core")).await;
    run(words("--yes model rm first")).await;
    run(words("--yes endpoint rm fake")).await;
    assert_eq!(gateway.command("setup", &json!({})).await["endpoints"], json!([]));
}
