//! Proxies that the environment names (providers.md §2): for other machines, never for this one, and their passwords are
//! nobody's to read.

use std::sync::{Arc, Mutex};

use bench_tests::{
    Gateway, Scenario, Upstream,
    scenario::{KEY, question},
    upstream::{Listing, Received, Script, answers, fails},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
    task::JoinSet,
};

const PASSWORD: &str = "hush-hush-password";
/// `me:hush-hush-password`
const SENT: &str = "bWU6aHVzaC1odXNoLXBhc3N3b3Jk";

/// A gateway with one model at this base, in this environment.
async fn gateway(base: &str, environment: &[(&str, String)]) -> Gateway {
    let mut scenario = Scenario::new().endpoint("far", base).key("FAR_KEY", KEY);
    if base.starts_with("http:") {
        scenario = scenario.endpoint_with("plain_http", true);
    }
    scenario = scenario.model("alpha", "far", "alpha-1").collection("core", &["alpha"]);
    for (name, value) in environment {
        scenario.home.set(name, value);
    }
    scenario.start().await
}

fn hosts(requests: &[Received]) -> Vec<&str> {
    requests.iter().filter_map(|request| request.header("host")).collect()
}

#[tokio::test]
async fn calls_lists_and_the_catalog_go_by_the_proxy_but_for_what_it_is_not_for() {
    const FAR: &str = "http://models.example:8080/v1";
    for (variable, but_for, is_used) in [
        ("HTTP_PROXY", "", true),
        ("http_proxy", "", true),
        ("ALL_PROXY", "", true),
        ("HTTP_PROXY", "other.example", true),
        ("HTTP_PROXY", "models.example,lists.example", false),
        ("ALL_PROXY", ".example", false),
        ("HTTP_PROXY", "*", false),
        ("HTTPS_PROXY", "", false),
    ] {
        let what = format!("{variable} but for {but_for:?}");
        let proxy = Upstream::start().await;
        proxy.model("alpha-1", answers("By the proxy."));
        let environment = [
            (variable, proxy.root()),
            ("NO_PROXY", but_for.to_owned()),
            ("BENCHWARMERS_CATALOG_MODELS_DEV", "http://lists.example/v1/models".to_owned()),
            ("BENCHWARMERS_CATALOG_OPENROUTER", "http://lists.example/v1/models".to_owned()),
        ];
        let gateway = gateway(FAR, &environment).await;
        let tested = gateway.command("test_endpoint", &json!({"name": "far"})).await;
        assert_eq!(tested["ok"], is_used, "{what}: {tested}");
        let reply = gateway.http.chat(&question("hi")).await;
        assert_eq!(reply.text().contains("By the proxy."), is_used, "{what}: {}", reply.text());
        gateway.command("refresh_catalog", &json!({})).await;
        let received = proxy.received();
        let wanted = ["models.example:8080", "models.example:8080", "lists.example", "lists.example"];
        assert_eq!(hosts(&received), if is_used { &wanted[..] } else { &[] }, "{what}");
    }
}

#[tokio::test]
async fn what_is_on_this_machine_is_asked_past_any_proxy() {
    let proxy = Upstream::start().await;
    proxy.listing(Listing::Refused);
    let upstream = Upstream::start().await;
    upstream.model("alpha-1", answers("From here."));
    let port = upstream.base().rsplit_once(':').map(|(_, rest)| rest.to_owned()).expect("a port");
    for host in ["127.0.0.1", "localhost", "127.1"] {
        let environment = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map(|variable| (variable, proxy.root()));
        let gateway = gateway(&format!("http://{host}:{port}"), &environment).await;
        let tested = gateway.command("test_endpoint", &json!({"name": "far"})).await;
        assert_eq!(tested["ok"], true, "{host}: {tested}");
        let reply = gateway.http.chat(&question("hi")).await;
        assert!(reply.text().contains("From here."), "{host}: {}", reply.text());
        gateway.command("found", &json!({})).await;
    }
    assert_eq!(hosts(&proxy.received()), [""; 0]);
}

/// A proxy that opens no tunnel: it answers with this. And what it was asked.
async fn tunnels(answer: &'static str) -> (String, Arc<Mutex<Vec<String>>>, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let own = asked.clone();
    let mut task = JoinSet::new();
    task.spawn(async move {
        loop {
            let Ok((socket, _)) = listener.accept().await else { return };
            let mut socket = BufReader::new(socket);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && socket.read_line(&mut head).await.unwrap_or(0) > 0 {}
            own.lock().expect("no panic").push(head);
            let _ = socket.write_all(answer.as_bytes()).await;
        }
    });
    (address, asked, task)
}

#[tokio::test]
async fn a_tunnel_is_asked_for_with_its_password_and_a_refusal_is_the_proxys() {
    let refused = "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
    let failed = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n";
    for (variable, answer) in [("HTTPS_PROXY", refused), ("ALL_PROXY", failed)] {
        let (address, asked, _task) = tunnels(answer).await;
        let named = format!("http://me:{PASSWORD}@{address}");
        let gateway = gateway("https://models.example/v1", &[(variable, named)]).await;
        let tested = gateway.command("test_endpoint", &json!({"name": "far"})).await;
        let said = tested["message"].as_str().expect("words");
        assert!(said.contains("proxy"), "{variable}: {said}");
        let reply = gateway.http.chat(&question("hi")).await.text();
        assert!(reply.contains("proxy"), "{variable}: {reply}");
        let heads = asked.lock().expect("no panic").clone();
        assert!(heads.len() >= 2, "{variable}: {heads:?}");
        for head in heads {
            assert!(head.starts_with("CONNECT models.example:443 HTTP/1.1\r\n"), "{variable}: {head}");
            assert!(head.to_lowercase().contains("proxy-authorization: basic "), "{variable}: {head}");
            assert!(head.contains(SENT) && !head.contains(KEY), "{variable}: {head}");
        }
        is_hushed(gateway, &[said, &reply]).await;
    }
}

#[tokio::test]
async fn a_proxys_password_is_masked_though_it_repeats_it() {
    let proxy = Upstream::start().await;
    proxy.model(
        "alpha-1",
        Script::by(|request: &Received| {
            let sent = request.header("proxy-authorization").unwrap_or_default();
            fails(502, "proxy", &format!("who is {sent}, whose password is {PASSWORD}?"))
        }),
    );
    let named = format!("http://me:{PASSWORD}@{}", proxy.root().trim_start_matches("http://"));
    let gateway = gateway("http://models.example/v1", &[("http_proxy", named)]).await;
    let reply = gateway.http.chat(&question("hi")).await.text();
    assert!(reply.contains("whose password is ••••?"), "{reply}");
    let sent = proxy.arrived("alpha-1", 1).await;
    assert_eq!(sent.header("proxy-authorization"), Some(format!("Basic {SENT}").as_str()));
    is_hushed(gateway, &[&reply]).await;
}

/// In no reply, no command's answer, no file and no log.
async fn is_hushed(gateway: Gateway, seen: &[&str]) {
    let mut seen: Vec<String> = seen.iter().map(|text| (*text).to_owned()).collect();
    for (command, arguments) in [
        ("setup", Value::Null),
        ("status", Value::Null),
        ("export_setup", Value::Null),
        ("panels", json!({"before": null, "limit": 10})),
    ] {
        let arguments = if arguments.is_null() { json!({}) } else { arguments };
        seen.push(gateway.command(command, &arguments).await.to_string());
    }
    let (home, _) = gateway.stop().await;
    seen.push(home.logs());
    seen.extend(home.files().into_values().map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    for secret in [PASSWORD, SENT] {
        assert!(!seen.iter().any(|text| text.contains(secret)), "{secret} was shown");
    }
}
