//! Keys that stand in a turn: panel.md §8, for what route.md §6 keeps.

use bench_tests::{
    scenario::KEY,
    upstream::{Api, Reply, Script},
};
use serde_json::json;

use super::{
    caller::{Ask, Caller},
    lab::{conversations, routed_as, says},
};

/// Where an owner keeps the texts of turns, a key that stands in a question or an answer is masked in them, and in the
/// conversation's title.
#[tokio::test]
async fn a_key_that_is_said_in_a_turn_is_not_recorded() {
    let told = format!("Your key is {KEY}, isn't it?");
    let alpha = Script::in_any(move |api, request| says(api, request, &told));
    let lab = routed_as([("alpha", Api::Chat, alpha)], |it| it.setting("keep_route_text", true)).await;
    // The key is cut by the title's end, and stands whole in the text.
    let asked = format!("{} {KEY} is mine", "x".repeat(80));
    for caller in [Caller::Chat, Caller::Anthropic] {
        for stream in [false, true] {
            let heard = caller.either(lab.http(), &Ask::of(&asked), stream).await;
            assert!(heard.text().contains(KEY), "it is told as it is: {}", heard.raw);
        }
    }
    let live = conversations(&lab.gateway).await;
    let id = live[0]["id"].clone();
    let turns = json!({"conversation": id, "before": null, "limit": 10, "texts": true});
    let turns = lab.gateway.command("turns", &turns).await;
    let turn = &turns["turns"][0];
    assert!(turn["question"].as_str().is_some_and(|text| text.contains("•••• is mine")), "{turn}");
    assert_eq!(turn["answer"], "Your key is ••••, isn't it?");
    let shown = format!("{live:?}{turns}");
    let (home, _) = lab.gateway.stop().await;
    let part = &KEY[..9];
    assert!(!shown.contains(part), "{shown}");
    for (path, bytes) in home.files() {
        let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
        assert!(!found, "the key is in {}", path.display());
    }
}

/// JSON may spell a key in many ways, and whoever reads it has it all the same.
#[tokio::test]
async fn a_refusal_that_goes_back_as_it_came_holds_no_key_however_it_is_spelled() {
    let escaped: String = KEY.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let twice = escaped.replace('\\', "\\\\");
    let said =
        format!(r#"{{"error":{{"message":"You sent {KEY}, {escaped} and \"{twice}\".","code":"bad"}}}}"#);
    let alpha = Script::from(Reply::whole(400, "application/json", said));
    let lab = routed_as([("alpha", Api::Chat, alpha)], |it| it).await;
    for stream in [false, true] {
        let heard = Caller::Chat.either(lab.http(), &Ask::of("hi"), stream).await;
        assert_eq!(heard.status, 400, "{}", heard.raw);
        assert_eq!(heard.said_error(), "You sent ••••, •••• and \"••••\".", "{}", heard.raw);
    }
}
