//! Whatever client asks, it is watched in the window.

use bench_tests::{Gate, Upstream, upstream};

use crate::{
    app::Start,
    setup,
    window::{Window, marked},
};

pub async fn appears_as_it_runs() {
    let provider = Upstream::start().await;
    let (first, second) = (Gate::shut(), Gate::shut());
    // The first step is the role, the second the first word.
    let held =
        |words: [&str; 2], gate: &Gate| upstream::tokens(words).at(2, upstream::Step::Wait(gate.clone()));
    provider.model("one", held(["Water ", "boils."], &first));
    provider.model("two", held(["Ice ", "melts."], &second));

    let (app, window) = Start::new().driven().await;
    window.at("first-run").await;
    app.import(&setup::core(&provider, &["one", "two"], None)).await;
    let asking = setup::ask(&app, "What does heat do?");

    // While both wait in mid-sentence, their first words are on the screen.
    says(&window, "running", ["Water", "Ice"]).await;
    window.picture("outside-running").await;
    first.open();
    says(&window, "running", ["Water boils.", "Ice"]).await;
    second.open();
    says(&window, "done", ["Water boils.", "Ice melts."]).await;
    assert_eq!(asking.answer().await.status, 200);
    window.picture("outside-done").await;
}

/// Waits until the panel on screen is in this state and its seats say this, left to right.
async fn says(window: &Window, state: &str, words: [&str; 2]) {
    window.find(&format!("[data-test=panel][data-state={state}]")).await;
    window.texts_when(&marked("answer"), |texts| texts == words).await;
}
