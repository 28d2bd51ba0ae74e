//! The gate and the window's files. The commands themselves are tested against a whole gateway in
//! `tests/http.rs`.

use axum::body::Body;
use axum::routing::get;
use axum::{Router, middleware};
use http::{Request, StatusCode, header};
use tower::ServiceExt;

use super::{gate, ui};

const TOKEN: &str = "0123456789abcdef";
const OURS: &str = "http://127.0.0.1:8123";

type Headers<'a> = &'a [(&'a str, &'a str)];

async fn ask(own_pages: bool, headers: Headers<'_>) -> StatusCode {
    let gate = gate::Gate { token: TOKEN.into(), own_pages };
    let app = Router::new()
        .route("/", get(|| async { "in" }))
        .route_layer(middleware::from_fn_with_state(gate, gate::check));
    let mut request = Request::get("/").header(header::HOST, "127.0.0.1:8123");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    app.oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
}

#[tokio::test]
async fn the_token_and_no_foreign_page() {
    let good = ("authorization", "Bearer 0123456789abcdef");
    let same = ("sec-fetch-site", "same-origin");
    let cases: &[(bool, Headers<'_>, u16)] = &[
        (false, &[good], 200),
        (false, &[("authorization", "bearer 0123456789abcdef")], 200),
        (false, &[], 401),
        (false, &[("authorization", "Bearer")], 401),
        (false, &[("authorization", "Bearer ")], 401),
        (false, &[("authorization", "Bearer 0123456789abcde")], 401),
        (false, &[("authorization", "Bearer 0123456789abcdeg")], 401),
        (false, &[("authorization", "Bearer 0123456789abcdef0")], 401),
        (false, &[("authorization", "Basic  0123456789abcdef")], 401),
        (false, &[("x-api-key", TOKEN)], 401),
        // Any page is foreign while no window is served.
        (false, &[good, ("origin", OURS)], 403),
        (false, &[good, ("origin", "null")], 403),
        (false, &[good, ("sec-fetch-site", "cross-site")], 403),
        (false, &[good, ("sec-fetch-site", "same-site")], 403),
        // With a window its own pages may, and still only with the token.
        (true, &[good, same, ("origin", OURS)], 200),
        (true, &[good, same], 200),
        (true, &[same, ("origin", OURS)], 401),
        (true, &[good, ("origin", "http://127.0.0.1:9999")], 403),
        (true, &[good, ("origin", "https://127.0.0.1:8123")], 403),
        (true, &[good, ("origin", "http://evil.example")], 403),
        (true, &[good, ("sec-fetch-site", "cross-site"), ("origin", OURS)], 403),
        // The page is judged before the token.
        (true, &[("origin", "http://evil.example")], 403),
    ];
    for (own_pages, headers, status) in cases {
        assert_eq!(ask(*own_pages, headers).await.as_u16(), *status, "own pages {own_pages}: {headers:?}");
    }
}

#[tokio::test]
async fn an_empty_token_lets_nobody_in() {
    let gate = gate::Gate { token: "".into(), own_pages: false };
    let app = Router::new()
        .route("/", get(|| async { "in" }))
        .route_layer(middleware::from_fn_with_state(gate, gate::check));
    let request = Request::get("/").header(header::AUTHORIZATION, "Bearer ").body(Body::empty()).unwrap();
    assert_eq!(app.oneshot(request).await.unwrap().status(), 401);
}

#[tokio::test]
async fn the_window_and_nothing_beside_it() {
    let home = tempfile::tempdir().unwrap();
    let dist = home.path().join("dist");
    std::fs::create_dir_all(dist.join("assets")).unwrap();
    std::fs::write(home.path().join("control.token"), "secret").unwrap();
    std::fs::write(dist.join("index.html"), "<!doctype html>").unwrap();
    std::fs::write(dist.join("assets/a.js"), "1").unwrap();
    std::fs::write(dist.join("assets/a.css"), "2").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.path().join("control.token"), dist.join("link.txt")).unwrap();
    let app = ui::router(dist);

    let cases = [
        ("/ui/", 200, "text/html; charset=utf-8"),
        ("/ui/index.html", 200, "text/html; charset=utf-8"),
        ("/ui/assets/a.js", 200, "text/javascript; charset=utf-8"),
        ("/ui/assets/a.css", 200, "text/css; charset=utf-8"),
        ("/ui", 308, ""),
        ("/ui/assets", 404, "text/plain; charset=utf-8"),
        ("/ui/none.js", 404, "text/plain; charset=utf-8"),
        ("/ui/../control.token", 404, "text/plain; charset=utf-8"),
        ("/ui/%2e%2e/control.token", 404, "text/plain; charset=utf-8"),
        ("/ui/assets/..%2f..%2fcontrol.token", 404, "text/plain; charset=utf-8"),
        ("/ui//etc/passwd", 404, "text/plain; charset=utf-8"),
        ("/ui/%00", 404, "text/plain; charset=utf-8"),
        ("/ui/link.txt", 404, "text/plain; charset=utf-8"),
    ];
    for (path, status, kind) in cases {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = app.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status, "{path}");
        let given = response.headers().get(header::CONTENT_TYPE).map_or("", |kind| kind.to_str().unwrap());
        assert_eq!(given, kind, "{path}");
        if status == 200 {
            let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
            assert!(policy.contains("default-src 'none'; script-src 'self';"), "{policy}");
            assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        }
    }
}
