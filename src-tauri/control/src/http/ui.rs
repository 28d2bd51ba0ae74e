//! The built window as files at `/ui/`, for `bench serve --ui`.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{self, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::{StatusCode, header};

/// Nothing remote, nothing inline, no frames: the same as in the desktop window.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

pub(super) fn router(dir: PathBuf) -> Router {
    Router::new()
        .route("/ui", get(|| async { Redirect::permanent("/ui/") }))
        .route("/ui/", get(index))
        .route("/ui/{*path}", get(file))
        .with_state(Arc::from(dir))
}

async fn index(State(dir): State<Arc<Path>>) -> Response {
    serve(dir, PathBuf::from("index.html")).await
}

async fn file(State(dir): State<Arc<Path>>, extract::Path(path): extract::Path<String>) -> Response {
    serve(dir, PathBuf::from(path)).await
}

async fn serve(dir: Arc<Path>, path: PathBuf) -> Response {
    let kind = content_type(&path);
    // Vite names what is in `assets` by its content.
    let age = if path.starts_with("assets") { "max-age=31536000, immutable" } else { "no-cache" };
    let read = tokio::task::spawn_blocking(move || read_inside(&dir, &path)).await;
    let Ok(Some(bytes)) = read else {
        let text = "No such file here. If the window is not built: run npm run build in ui.\n";
        return (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text)
            .into_response();
    };
    let head = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, age),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    (head, bytes).into_response()
}

/// The file at `path` inside `dir`, and only inside: no `..`, no absolute path, no link that leads out.
fn read_inside(dir: &Path, path: &Path) -> Option<Vec<u8>> {
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        return None;
    }
    let dir = dir.canonicalize().ok()?;
    let file = dir.join(path).canonicalize().ok()?;
    if !file.starts_with(&dir) {
        return None;
    }
    std::fs::read(file).ok()
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
