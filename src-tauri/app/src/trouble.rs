//! The gateway did not start: a small window says why and what to do, standard error too, and the process
//! ends with a failure when the window is closed.

use std::fmt::Write as _;

use tauri::{
    AppHandle, Builder, UriSchemeContext, Url, WebviewUrl, WebviewWindowBuilder, Wry, http::Response,
};

pub(crate) const LABEL: &str = "trouble";
const SCHEME: &str = "trouble";

/// What the page says; set once.
#[derive(Default)]
pub(crate) struct Said(std::sync::OnceLock<String>);

/// Serves the page: one document without scripts, so that it needs nothing that may be what is broken.
pub(crate) fn register(builder: Builder<Wry>) -> Builder<Wry> {
    builder.manage(Said::default()).register_uri_scheme_protocol(
        SCHEME,
        |context: UriSchemeContext<'_, Wry>, _| {
            let message =
                tauri::Manager::state::<Said>(context.app_handle()).0.get().cloned().unwrap_or_default();
            let html = page(&message).into_bytes();
            let policy = "default-src 'none'; style-src 'unsafe-inline'";
            let response = Response::builder().header("content-type", "text/html; charset=utf-8");
            response.header("content-security-policy", policy).body(html).unwrap_or_default()
        },
    )
}

/// Shows `message`. Not from the main thread.
pub(crate) fn show(app: &AppHandle, message: &str) -> anyhow::Result<()> {
    let _ = tauri::Manager::state::<Said>(app).0.set(message.to_owned());
    let url: Url =
        if cfg!(windows) { "http://trouble.localhost/" } else { "trouble://localhost/" }.parse()?;
    let window = WebviewWindowBuilder::new(app, LABEL, WebviewUrl::CustomProtocol(url))
        .title("Benchwarmers did not start")
        .inner_size(520.0, 260.0)
        .center()
        .on_navigation(|url| url.scheme() == SCHEME || url.host_str() == Some("trouble.localhost"))
        .build()?;
    window.set_focus()?;
    Ok(())
}

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 13px/1.5 system-ui, sans-serif; margin: 32px; background: light-dark(#faf9f7, #17181a);
  color: light-dark(#1d1c1a, #e9e7e3); }
h1 { font-size: 20px; margin: 0 0 12px; }
p { margin: 0; overflow-wrap: anywhere; white-space: pre-line; }";

fn page(message: &str) -> String {
    let mut html = String::from("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">");
    let _ = write!(
        html,
        "<title>Benchwarmers did not start</title><style>{STYLE}</style><main role=\"alert\">\
         <h1>Benchwarmers did not start</h1><p>{}</p></main></html>",
        escaped(&sentence(message))
    );
    html
}

/// An error's text begins small and ends without a stop, to be put together with others.
fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_the_message_is_no_markup() {
        let html = page("the folder /home/<me>&co is in use");
        assert!(html.contains("<p>The folder /home/&lt;me&gt;&amp;co is in use.</p>"), "{html}");
    }
}
