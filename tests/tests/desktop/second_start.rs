//! One instance a data folder.

use bench_tests::eventually;

use crate::{app::Start, pictures, processes, tray::Tray};

pub async fn shows_the_first() {
    let app = Start::new().plain(&[]).await;
    let window = app.appears().await;
    // Until it is drawn it may still be on its way to the front.
    eventually("a page", || async {
        pictures::lively(&pictures::window_now(&window, "second-start")).then_some(())
    })
    .await;
    app.keys(&["windowminimize", "--sync", &window]).await;
    app.vanishes().await;

    assert_eq!(app.start_again(&[]).await, Some(0));
    assert_eq!(app.appears().await, window, "the same window, not another");
    let focused = eventually("the focus", || async {
        let output =
            tokio::process::Command::new("xdotool").args(["getwindowfocus", "getwindowpid"]).output().await;
        let pid = String::from_utf8_lossy(&output.expect("xdotool runs").stdout).trim().parse::<u32>();
        pid.ok().filter(|pid| *pid == app.pid)
    })
    .await;
    assert_eq!(focused, app.pid);
    assert!(processes::runs(app.pid));

    // Closed, a second start opens it anew.
    app.close_window().await;
    assert_eq!(app.start_again(&[]).await, Some(0));
    app.appears().await;
}

pub async fn hidden() {
    let app = Start::new().plain(&["--hidden"]).await;
    Tray::of(app.pid).await;
    assert_eq!(app.start_again(&["--hidden"]).await, Some(0));
    assert_eq!(app.http.get("/health").await.status, 200);
    assert_eq!(app.shown().await, None);
    assert_eq!(processes::web(app.pid), Vec::<String>::new());
    assert_eq!(app.start_again(&[]).await, Some(0));
    app.appears().await;
}
