//! What only shows when real time passes: these two run beside the others.

use std::time::Duration;

use bench_tests::{
    Gate, panel_of,
    scenario::question,
    upstream::{Step, answers},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn a_silent_stream_is_kept_alive_by_comments() {
    let gate = Gate::shut();
    let lab = panel_of([("alpha", answers("Answer of alpha.").at(0, Step::Wait(gate.clone())).into())]).await;
    let stream = lab.http().stream(&question("hi")).await;
    let reading = stream.rest();
    let waiting = async {
        tokio::time::sleep(Duration::from_secs(12)).await;
        gate.open();
    };
    let (streamed, ()) = tokio::join!(reading, waiting);
    assert!(streamed.comments >= 1, "ten silent seconds without a byte");
    assert!(streamed.text().contains("Answer of alpha."));
}

#[tokio::test]
async fn a_body_that_never_comes_is_a_408() {
    let lab = panel_of([("alpha", answers("A").into())]).await;
    let mut connection = lab.http().connect().await;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         content-length: 500\r\nconnection: close\r\n\r\n{{\"model\":",
        lab.http().authority()
    );
    connection.write_all(head.as_bytes()).await.expect("written");
    let mut back = Vec::new();
    bench_tests::within("the 408", connection.read_to_end(&mut back)).await.expect("a reply, not a reset");
    let back = String::from_utf8_lossy(&back);
    assert!(back.starts_with("HTTP/1.1 408"), "{back}");
    assert!(back.contains("\"error\""), "{back}");
}
