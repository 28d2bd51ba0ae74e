//! The gateway cannot start.

use bench_tests::{Home, eventually};

use crate::{
    app::{Start, shown},
    pictures,
};

/// `bench serve` has the data folder: the application says so in a window, and ends with a failure.
pub async fn in_use() {
    let mut home = Home::default();
    let start = Start::new();
    home.set("BENCHWARMERS_HOME", &start.data().to_string_lossy());
    let owner = home.serve().await;

    let mut app =
        start.command(&[]).stderr(std::process::Stdio::piped()).spawn().expect("the application starts");
    let pid = app.id().expect("it runs");
    let window =
        eventually("a window that says so", || shown(&start, pid, "^Benchwarmers did not start$")).await;
    // The page has no way to be asked: it is looked at.
    eventually("a page in it", || async {
        pictures::lively(&pictures::window_now(&window, "trouble")).then_some(())
    })
    .await;
    close(&window).await;
    let output = bench_tests::within("its end", app.wait()).await.expect("it ends");
    assert_eq!(output.code(), Some(1));
    let mut said = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut app.stderr.take().expect("piped"), &mut said)
        .await
        .expect("text");
    assert!(said.contains("bench serve") && said.contains(&owner.pid().to_string()), "{said}");
    assert_eq!(owner.http.get("/health").await.status, 200);
}

async fn close(window: &str) {
    let keys = ["windowfocus", "--sync", window, "key", "alt+F4"];
    let status = tokio::process::Command::new("xdotool").args(keys).status().await.expect("xdotool runs");
    assert!(status.success());
}
