//! The wanted port is taken: the next free one is served, and shown wherever an address is.

use std::net::TcpListener;

use crate::{app::Start, tray::Tray, window::marked};

const WANTED: u16 = 8123;

pub async fn shown_everywhere() {
    // Whether by us or by somebody else on this machine: it is taken.
    let _taken = TcpListener::bind(("127.0.0.1", WANTED));
    let (app, window) = Start::new().driven().await;
    assert_ne!(app.http.authority(), format!("127.0.0.1:{WANTED}"));
    assert_eq!(app.http.get("/health").await.status, 200);

    let shown = window.texts_when(&marked("copy-base-url"), |texts| !texts.is_empty()).await;
    assert_eq!(shown, [app.http.authority()]);
    window.at("alert-port_taken").await;
    window.picture("port-taken").await;

    let tray = Tray::of(app.pid).await;
    tray.line(&format!("Serving on {} ({WANTED} was taken)", app.http.authority())).await;
    tray.shows("idle").await;
}
