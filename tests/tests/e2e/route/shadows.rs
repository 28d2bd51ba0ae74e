//! Shadows run beside each other and beside nothing else: route.md §7.

use bench_tests::{
    eventually,
    upstream::{Api, stalls},
};

use super::{
    caller::{Ask, Caller},
    lab::{call, named, routed_as, served},
};

#[tokio::test]
async fn one_that_says_nothing_holds_up_neither_the_others_nor_a_stop() {
    let lab = routed_as(
        [
            ("alpha", Api::Chat, named("alpha")),
            ("silent", Api::Chat, stalls().into()),
            ("beta", Api::Anthropic, named("beta")),
        ],
        |it| it.with("shadow", 2),
    )
    .await;
    let heard = Caller::Chat.ask(lab.http(), &Ask::of("hi")).await;
    assert_eq!(heard.by(), "alpha", "{}", heard.raw);
    lab.upstream.arrived(&served("silent"), 1).await;
    let shadow = format!("{}.s1", heard.bench("call").as_str().expect("a call"));
    eventually("the other shadow's end", async || {
        (lab.http().get(&format!("/bench/calls/{shadow}")).await.status == 200).then_some(())
    })
    .await;
    let shadow = call(&lab.gateway, &shadow).await;
    assert_eq!((&shadow["alias"], &shadow["answer"]), (&"beta".into(), &"Said by beta.".into()), "{shadow}");
    let (home, code) = lab.gateway.stop().await;
    assert_eq!(code, Some(0));
    assert!(!home.logs().contains("cut off"), "{}", home.logs());
}
