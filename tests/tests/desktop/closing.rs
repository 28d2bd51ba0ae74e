//! Closing the window, and quitting.

use bench_tests::{Gate, Upstream, eventually, upstream};
use serde_json::json;

use crate::{
    app::{App, Start},
    bare::BareDesktop,
    pictures, processes, setup,
    tray::Tray,
};

pub async fn leaves_nothing() {
    let app = Start::new().plain(&[]).await;
    let tray = Tray::of(app.pid).await;
    let first_run = settled(&app, "closing-live").await;

    // On another page than the first, so that it can be seen to come back.
    tray.click("No verdicts owed").await;
    let window = app.appears().await;
    eventually("another page", || async {
        let now = pictures::window_now(&window, "closing-verdicts");
        (pictures::difference(&first_run, &now) > 1.0).then_some(())
    })
    .await;
    let verdicts = settled(&app, "closing-verdicts").await;
    assert_eq!(processes::web(app.pid), ["WebKitNetworkPr", "WebKitWebProces"]);

    for round in ["once", "twice"] {
        app.close_window().await;
        eventually("no web process", || async { processes::web(app.pid).is_empty().then_some(()) }).await;
        assert_eq!(app.shown().await, None);
        let health = app.http.get("/health").await;
        assert_eq!((health.status.as_u16(), &health.json()["ok"]), (200, &json!(true)));

        tray.click("Open window").await;
        let name = format!("closing-again-{round}");
        eventually("the page it was closed on", || async {
            let window = app.shown().await?;
            (pictures::difference(&verdicts, &pictures::window_now(&window, &name)) < 0.5).then_some(())
        })
        .await;
    }
}

/// A desktop without a tray: the window is minimised, which is said once, and the way out is a command.
pub async fn without_a_tray() {
    let desktop = BareDesktop::start().await;
    let mut app = desktop.start_on_it().plain(&[]).await;
    for _ in 0..2 {
        app.close_window().await;
        let web = processes::web(app.pid);
        assert!(web.contains(&"WebKitWebProces".to_owned()), "minimised, not destroyed: {web:?}");
        assert_eq!(app.http.get("/health").await.status, 200);
        assert_eq!(app.start_again(&[]).await, Some(0));
        app.appears().await;
    }
    let notice = desktop.notices.notice("Benchwarmers is minimised").await;
    assert!(notice.contains("string \"Quit\""), "there is a way out: {notice}");
    assert_eq!(desktop.notices.count("Benchwarmers is minimised"), 1);

    assert_eq!(app.start_again(&["--quit"]).await, Some(0));
    assert_eq!(app.ends().await, Some(0));
}

/// A desktop with an X11 tray only: the window goes there as to any other.
pub async fn with_an_x11_tray() {
    // The session's panel on a bus where it does not show itself.
    let desktop = BareDesktop::start().await;
    let app = Start::new().env("DBUS_SESSION_BUS_ADDRESS", &desktop.bus).plain(&[]).await;
    let window = app.appears().await;
    eventually("a web process", || std::future::ready((!processes::web(app.pid).is_empty()).then_some(())))
        .await;
    pictures::desktop_now("tray-x11");
    app.keys(&["windowfocus", "--sync", &window, "key", "alt+F4"]).await;
    eventually("no web process", || std::future::ready(processes::web(app.pid).is_empty().then_some(())))
        .await;
    assert_eq!(app.http.get("/health").await.status, 200);
}

/// Quit takes the window away at once, and the process ends when the running panel has.
pub async fn quit_drains() {
    let provider = Upstream::start().await;
    let gate = Gate::shut();
    provider.model("one", upstream::answers("To the end.").held(&gate));
    let mut app = Start::new().plain(&[]).await;
    app.import(&setup::core(&provider, &["one"], None)).await;
    app.appears().await;
    let asking = setup::ask(&app, "Finish?");
    provider.arrived("one", 1).await;

    let tray = Tray::of(app.pid).await;
    tray.click("Quit").await;
    tray.line("Finishing running panels").await;
    app.vanishes().await;
    assert!(processes::runs(app.pid), "the panel still runs");
    gate.open();
    let answer = asking.answer().await;
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("To the end."), "{}", answer.text());
    assert_eq!(app.ends().await, Some(0));
}

/// A screenshot of the window once two in a row are the same.
async fn settled(app: &App, name: &str) -> std::path::PathBuf {
    let window = app.appears().await;
    // Away from anything that shows a pointer over it.
    app.keys(&["mousemove", "1270", "890"]).await;
    eventually("a page that stands still", || async {
        let before = pictures::window_now(&window, &format!("{name}-before"));
        tokio::time::sleep(std::time::Duration::from_millis(400)).await;
        let now = pictures::window_now(&window, name);
        (pictures::lively(&now) && pictures::difference(&before, &now) == 0.0).then_some(now)
    })
    .await
}
