//! Who takes a turn of a routed conversation: every reason that keeps a member out, and the order of the others.

use catalog::{Model, ModelRole};
use plan::{
    Candidate, Collection, Evidence, SeatingError, SeatingInput, Shape, Suite, Tally, TurnInput, TurnOrder,
    Unavailable, turn_order,
};
use wire::ApiError;

use crate::bench::{Bench, DAY, at, model, retired};

/// What is asked for beside what a bench says.
#[derive(Clone, Copy, Default)]
pub struct Turn<'a> {
    pub tools: bool,
    pub by_name: bool,
    pub kept: Option<&'a str>,
    pub rotates: bool,
}

impl Turn<'_> {
    pub fn order(self, bench: &Bench) -> Result<TurnOrder, SeatingError> {
        let Turn { tools, by_name, kept, rotates } = self;
        bench.input(|input| {
            // A model served as this is one of another vendor than the tools that the turn declares.
            let barred =
                |model: &Model| (model.served == "elsewhere").then(|| "runs no web search".to_owned());
            let seating = SeatingInput { barred: &barred, ..*input };
            turn_order(&TurnInput { seating, tools, by_name, kept, rotates })
        })
    }

    /// The candidates' aliases, and why the first is the first; none, and the refusal, where nobody may take it.
    fn names(self, bench: &Bench) -> (Vec<String>, String) {
        match self.order(bench) {
            Ok(order) => (order.candidates.into_iter().map(|it| it.alias).collect(), order.by),
            Err(refused) => (Vec::new(), refused.message),
        }
    }
}

/// A model that can take anything.
fn able(alias: &str) -> Model {
    let mut model = model(alias);
    let facts = &mut model.facts;
    (facts.tools, facts.vision, facts.pdf, facts.audio) = (Some(true), Some(true), Some(true), Some(true));
    facts.context_window = Some(1_000_000);
    model
}

fn with(change: impl FnOnce(&mut Model)) -> Model {
    let mut model = able("alpha");
    change(&mut model);
    model
}

struct Reason {
    model: Model,
    tools: bool,
    bench: fn(Bench) -> Bench,
    /// Of the refusal where nobody else is there.
    status: u16,
    code: &'static str,
    why: &'static str,
}

fn reasons() -> Vec<Reason> {
    let same = |bench: Bench| bench;
    let images = |bench| Bench { has_images: true, ..bench };
    let documents = |bench| Bench { documents: true, ..bench };
    let audio = |bench| Bench { audio: true, ..bench };
    let long = |bench| Bench { estimate: 501, ..bench };
    let role = |role| with(|model| model.role = role);
    let reason = |model, bench: fn(Bench) -> Bench, status, code, why| Reason {
        model,
        tools: false,
        bench,
        status,
        code,
        why,
    };
    let tools = |fact, why| Reason {
        tools: true,
        ..reason(with(|model| model.facts.tools = fact), same, 400, "tools_not_taken", why)
    };
    vec![
        reason(retired(able("alpha")), same, 400, "no_member", "retired on 2026-11-29: gone"),
        reason(
            with(|model| model.ad_hoc = true),
            same,
            400,
            "no_member",
            "ad hoc, never chosen automatically; ask for bench/model/alpha",
        ),
        reason(
            role(ModelRole::DECISION),
            same,
            400,
            "no_member",
            "its role is decision; such a model never sits",
        ),
        reason(role(ModelRole::IMAGE), same, 400, "no_member", "its role is image; such a model never sits"),
        reason(
            role(ModelRole::VISION),
            same,
            400,
            "images_not_seen",
            "its role is vision and the request holds no image",
        ),
        tools(None, "not known to take tools; if it does, set the fact tools on the model"),
        tools(Some(false), "takes no tools; if it does, set the fact tools on the model"),
        reason(
            with(|model| model.facts.vision = None),
            images,
            400,
            "images_not_seen",
            "not known to see images; if it does, set the fact vision on the model",
        ),
        reason(
            with(|model| model.facts.vision = Some(false)),
            images,
            400,
            "images_not_seen",
            "does not see images; if it does, set the fact vision on the model",
        ),
        reason(
            with(|model| model.facts.pdf = None),
            documents,
            400,
            "documents_not_read",
            "not known to read documents; if it does, set the fact pdf on the model",
        ),
        reason(
            with(|model| model.facts.audio = Some(false)),
            audio,
            400,
            "audio_not_heard",
            "does not hear audio; if it does, set the fact audio on the model",
        ),
        reason(
            with(|model| model.served = "elsewhere".to_owned()),
            same,
            400,
            "content_not_taken",
            "runs no web search",
        ),
        reason(
            with(|model| model.facts.context_window = Some(500)),
            long,
            413,
            "too_large",
            "the prompt is about 501 tokens, its window is 500",
        ),
        reason(
            able("alpha"),
            |mut bench| {
                bench.away.insert("alpha".to_owned(), Unavailable::WentPaid);
                bench
            },
            400,
            "no_member",
            "it was free and costs money now; allow that under Models (bench model allow), or take it off",
        ),
        reason(
            able("alpha"),
            |mut bench| {
                bench.away.insert("alpha".to_owned(), Unavailable::NoKey);
                bench
            },
            400,
            "no_member",
            "its endpoint free has no key that is taken; set it in Endpoints",
        ),
        reason(
            able("alpha"),
            |mut bench| {
                bench.away.insert("alpha".to_owned(), Unavailable::Gone);
                bench
            },
            400,
            "no_member",
            "retired or removed since the panel began",
        ),
        reason(able("unknown"), same, 400, "no_member", "no model of this alias is registered"),
    ]
}

#[test]
fn every_reason_keeps_a_member_out_and_says_so() {
    for Reason { model, tools, bench, status, code, why } in reasons() {
        let turn = Turn { tools, ..Turn::default() };
        let alone = bench(Bench::new().model(model.clone()).members(["alpha"]));
        let refused = turn.order(&alone).expect_err(why);
        assert_eq!(refused.skipped.len(), 1, "{why}");
        assert_eq!((refused.skipped[0].alias.as_str(), refused.skipped[0].why.as_str()), ("alpha", why));
        assert_eq!((refused.kind.status(), refused.code), (status, code), "{why}");
        assert!(refused.message.contains(&format!("alpha: {why}")), "{}", refused.message);
        assert!(refused.message.contains("bench/core"), "{}", refused.message);
        assert_eq!(ApiError::from(refused).code, code);

        // Beside one that can take it, it is skipped and no more; so it is though the conversation is its own.
        let beside = bench(Bench::new().model(model).model(able("beta")).members(["alpha", "beta"]));
        for kept in [None, Some("alpha")] {
            let TurnOrder { candidates, skipped, by } = Turn { kept, ..turn }.order(&beside).expect(why);
            assert_eq!(candidates.iter().map(|it| it.alias.as_str()).collect::<Vec<_>>(), ["beta"], "{why}");
            assert_eq!(skipped.len(), 1, "{why}");
            assert_eq!((skipped[0].seat, skipped[0].alias.as_str()), ("member", "alpha"));
            assert_eq!(skipped[0].why, why);
            let wanted = match kept {
                None => "the only member that may take it",
                Some(_) => "best record; the conversation's model alpha cannot take this turn",
            };
            assert_eq!(by, wanted, "{why}");
        }
    }
}

#[test]
fn no_reason_holds_where_the_turn_does_not_ask_for_it() {
    for Reason { model, .. } in reasons() {
        let facts = &model.facts;
        let lacks_a_fact =
            [facts.tools, facts.vision, facts.pdf, facts.audio].iter().any(|it| *it != Some(true));
        let small = facts.context_window == Some(500);
        if lacks_a_fact || small {
            let bench = Bench { estimate: 500, ..Bench::new().model(model).members(["alpha"]) };
            assert_eq!(Turn::default().names(&bench).0, ["alpha"]);
        }
    }
    let vision = with(|model| model.role = ModelRole::VISION);
    let bench = Bench { has_images: true, ..Bench::new().model(vision).members(["alpha"]) };
    assert_eq!(Turn::default().names(&bench).0, ["alpha"]);
}

#[test]
fn nobody_left_is_too_large_only_where_size_is_why_for_all() {
    let small = |alias: &str, window| {
        let mut model = able(alias);
        model.facts.context_window = Some(window);
        model
    };
    let blind = |alias: &str| {
        let mut model = able(alias);
        model.facts.vision = None;
        model
    };
    let cases: [(Vec<Model>, u16, &str); 6] = [
        (vec![], 503, "no_member"),
        (vec![small("a", 100), small("b", 200)], 413, "too_large"),
        (vec![small("a", 100), blind("b")], 400, "images_not_seen"),
        (vec![blind("a"), small("b", 100)], 400, "images_not_seen"),
        (vec![small("a", 100), retired(able("b"))], 400, "no_member"),
        (vec![retired(able("a")), blind("b")], 400, "images_not_seen"),
    ];
    for (models, status, code) in cases {
        let mut bench = Bench { has_images: true, estimate: 300, ..Bench::new() };
        bench.collection.members = models.iter().map(|model| model.alias.clone()).collect();
        bench.setup.models = models;
        let refused = Turn::default().order(&bench).expect_err(code);
        let named: Vec<_> = refused.skipped.iter().map(|skip| skip.alias.clone()).collect();
        assert_eq!(named, bench.collection.members, "each is named");
        assert_eq!((refused.kind.status(), refused.code), (status, code), "{}", refused.message);
        match named.is_empty() {
            true => assert_eq!(refused.message, "bench/core has no members; add one"),
            false => assert!(refused.skipped.iter().all(|skip| refused.message.contains(&skip.why))),
        }
    }
}

#[test]
fn the_best_record_goes_first_then_paid_then_the_collections_order() {
    let mut bench = Bench::new()
        .models(["last", "plain"])
        .model(at("paid", "paid", "p"))
        .models(["suite", "prose", "here", "more"])
        .members(["last", "plain", "paid", "suite", "prose", "here", "more", "last"])
        .worked("here", "code", 1, 3)
        .worked("more", "code", 2, 90)
        // Useful for other shapes: behind any that is for this one, however much.
        .worked("prose", "prose", 50, 1);
    bench.collection.shape = Some(Shape::new("code"));
    bench.evidence.suite("suite", Suite { verified: 3, tasks: 2, recall: 0.5 });
    // One that was judged and never useful has no worse a place than one that nothing is known of.
    let judged = Tally { useful: 0, judged: 9, offloads: 9, last_offload_ms: Some(0) };
    bench.evidence.add("last", &Shape::new("code"), judged);
    let order = Turn::default().order(&bench).expect("seven");
    let seen: Vec<_> = order.candidates.iter().map(|it| (it.alias.as_str(), it.why.as_str())).collect();
    assert_eq!(
        seen,
        [
            ("more", "2 useful of 2 judged on code, 2 of 2 overall"),
            ("here", "1 useful of 1 judged on code, 1 of 1 overall"),
            ("prose", "0 useful of 0 judged on code, 50 of 50 overall"),
            ("suite", "3 verified suite findings in 2 tasks"),
            ("paid", "no evidence yet; paid"),
            ("last", "0 useful of 9 judged on code, 0 of 9 overall"),
            ("plain", "no evidence yet"),
        ]
    );
    assert_eq!((order.by.as_str(), order.skipped.len()), ("best record", 0));
    let more = &order.candidates[0];
    assert_eq!((more.record.shape.useful, more.record.overall.offloads, more.held_back), (2, 2, None));

    // Without a shape of its own a collection goes by the general one.
    bench.collection.shape = None;
    assert_eq!(Turn::default().names(&bench).0[..3], ["prose", "more", "here"]);
}

/// Alpha has the best record, then beta, gamma and delta.
fn four() -> Bench {
    Bench::new()
        .models(["delta", "gamma", "beta", "alpha"])
        .members(["delta", "gamma", "beta", "alpha"])
        .worked("alpha", "general", 9, 1)
        .worked("beta", "general", 5, 20)
        .worked("gamma", "general", 2, 40)
        .worked("delta", "general", 1, 30)
}

fn away(mut bench: Bench, away: &[(&str, Unavailable)]) -> Bench {
    bench.away = away.iter().map(|&(alias, why)| (alias.to_owned(), why)).collect();
    bench
}

#[test]
fn those_that_rest_come_last_in_the_same_order() {
    let cooling = |bench: &Bench, ms: i64| Unavailable::Cooling { until_ms: bench.now_ms + ms };
    let bench = four();
    let rests = [("alpha", cooling(&bench, 4_001)), ("gamma", Unavailable::Retiring)];
    let order = Turn::default().order(&away(bench, &rests)).expect("four");
    let names: Vec<_> = order.candidates.iter().map(|it| it.alias.as_str()).collect();
    assert_eq!(names, ["beta", "delta", "alpha", "gamma"]);
    assert_eq!(
        order.candidates[2].why,
        "9 useful of 9 judged on general, 9 of 9 overall; cooling down for 5 s"
    );
    assert!(order.candidates[3].why.ends_with("; failing for days"), "{}", order.candidates[3].why);
    assert_eq!(order.candidates[3].held_back, Some(Unavailable::Retiring));
    assert_eq!(order.candidates[0].held_back, None);

    for (held_back, words) in [
        (Unavailable::Unlisted, "no longer listed by its endpoint"),
        (Unavailable::ProbeFailed, "without an answer to its last probe"),
        (Unavailable::OverLimit, "at a limit of its endpoint"),
    ] {
        let order = Turn::default().order(&away(four(), &[("alpha", held_back)])).expect("four");
        let last: &Candidate = &order.candidates[3];
        assert_eq!((last.alias.as_str(), last.held_back), ("alpha", Some(held_back)));
        assert!(last.why.ends_with(words), "{}", last.why);
    }
    // All of them rest: the order is as if none did.
    let all = ["alpha", "beta", "gamma", "delta"].map(|alias| (alias, Unavailable::Retiring));
    assert_eq!(Turn::default().names(&away(four(), &all)).0, ["alpha", "beta", "gamma", "delta"]);
}

#[test]
fn rotation_begins_with_the_oldest_last_offload_of_those_that_do_not_rest() {
    let rotates = Turn { rotates: true, ..Turn::default() };
    let names = |aliases: [&str; 4]| aliases.map(str::to_owned).to_vec();
    let (order, by) = rotates.names(&four());
    assert_eq!(order, names(["gamma", "alpha", "beta", "delta"]));
    assert_eq!(by, "rotation: longest without real work (40 days)");

    let bench = away(four(), &[("gamma", Unavailable::Retiring)]);
    let (order, by) = rotates.names(&bench);
    assert_eq!(order, names(["delta", "alpha", "beta", "gamma"]));
    assert_eq!(by, "rotation: longest without real work (30 days)");

    let mut bench = four().models(["new", "newer"]);
    bench.collection.members.extend(["newer", "new"].map(str::to_owned));
    let (order, by) = rotates.names(&bench);
    assert_eq!(
        (order[0].as_str(), by.as_str()),
        ("newer", "rotation: never asked"),
        "the collection's order"
    );

    // One that has just been given a conversation is at work, though nothing of it has ended.
    let mut bench = four();
    bench.evidence.seated("gamma", bench.now_ms);
    assert_eq!(rotates.names(&bench).0[0], "delta");
    ["alpha", "beta", "delta"].iter().for_each(|alias| bench.evidence.seated(alias, bench.now_ms));
    bench.evidence.seated("gamma", bench.now_ms);
    let (order, by) = rotates.names(&bench);
    assert_eq!(order[0], "alpha");
    assert_eq!(by, "rotation: every candidate is at work; it holds the fewest seats (1)");

    let all = ["alpha", "beta", "gamma", "delta"].map(|alias| (alias, Unavailable::Retiring));
    let (order, by) = rotates.names(&away(four(), &all));
    assert_eq!((order[0].as_str(), by.as_str()), ("alpha", "best record"));
}

#[test]
fn a_conversations_model_goes_first_while_it_can() {
    let kept = Turn { kept: Some("delta"), rotates: true, ..Turn::default() };
    let (order, by) = kept.names(&four());
    assert_eq!(order, ["delta", "alpha", "beta", "gamma"]);
    assert_eq!(by, "the conversation's model");

    let until_ms = four().now_ms + 9_000;
    let (order, by) = kept.names(&away(four(), &[("delta", Unavailable::Cooling { until_ms })]));
    assert_eq!(order, ["alpha", "beta", "gamma", "delta"]);
    assert_eq!(by, "best record; the conversation's model delta is cooling down for 9 s");

    // Where everybody rests, nobody is better for it; nor where nobody else is there.
    let all = ["alpha", "beta", "gamma", "delta"].map(|alias| (alias, Unavailable::Retiring));
    let (order, by) = kept.names(&away(four(), &all));
    assert_eq!((order[0].as_str(), by.as_str()), ("delta", "the conversation's model"));
    let alone = Bench::new().models(["delta"]).members(["delta"]);
    let (_, by) = kept.names(&away(alone, &[("delta", Unavailable::Cooling { until_ms })]));
    assert_eq!(by, "the conversation's model");

    // It is no member any more.
    let left = Turn { kept: Some("omega"), ..kept };
    let (order, by) = left.names(&four());
    assert_eq!(order, ["alpha", "beta", "gamma", "delta"]);
    assert_eq!(by, "best record; the conversation's model omega cannot take this turn");
}

#[test]
fn one_that_is_ad_hoc_is_reached_by_its_name_alone() {
    let mut bench = Bench::new().model(with(|model| model.ad_hoc = true));
    bench.collection = Collection::new("model/alpha", ["alpha"]);
    let by_name = Turn { by_name: true, ..Turn::default() };
    assert_eq!(by_name.names(&bench).0, ["alpha"]);
    // What the turn asks for is asked of it all the same.
    bench.setup.models[0].facts.tools = None;
    let refused = Turn { tools: true, ..by_name }.order(&bench).expect_err("no tools");
    assert_eq!((refused.kind.status(), refused.code), (400, "tools_not_taken"));
    bench.setup.models[0] = retired(bench.setup.models[0].clone());
    assert_eq!(by_name.order(&bench).expect_err("retired").code, "no_member");
}

#[test]
fn practice_members_are_ordered_like_any_other() {
    let mut bench = Bench::new()
        .model(at("practice", "quick", "quick"))
        .model(at("practice", "slow", "slow"))
        .members(["quick", "slow"]);
    assert_eq!(Turn::default().names(&bench).0, ["quick", "slow"]);
    bench.evidence = Evidence::default();
    bench.evidence.offload("quick", &Shape::GENERAL, bench.now_ms - 2 * DAY);
    let rotates = Turn { rotates: true, ..Turn::default() };
    assert_eq!(rotates.names(&bench).0, ["slow", "quick"]);
}
