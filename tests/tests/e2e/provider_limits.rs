//! A provider's refusal as it really comes, to its last effect: who takes the work, what rests and for how long, and
//! what is shown of quotas (providers.md §4 and §5).

use bench_tests::{
    Lab, Scenario, Upstream,
    scenario::{KEY, question, served},
    upstream::{Api, Reply, Script},
};
use serde_json::{Value, json};

use crate::checks::seat;

/// A refusal of the model `alpha`.
struct Case {
    name: &'static str,
    api: Api,
    status: u16,
    headers: &'static [(&'static str, &'static str)],
    body: fn(model: &str) -> Value,
    /// What rests: the model, or all that is called with the key.
    rests: &'static str,
    /// For how long, in seconds.
    wait_s: f64,
    /// Metric, window in seconds, limit, what is left.
    quotas: fn() -> Value,
    /// The rule that is kept to from now on.
    stated: fn() -> Value,
}

const CASES: &[Case] = &[
    // https://console.groq.com/docs/rate-limits: limits are each model's, whoever's organization it is.
    Case {
        name: "Groq",
        api: Api::Chat,
        status: 429,
        headers: &[("retry-after", "727")],
        body: |model| {
            let message = format!(
                "Rate limit reached for model `{model}` in organization `org_x` service tier `on_demand` on tokens per \
                 day (TPD): Limit 100000, Used 99336, Requested 1405. Please try again in 12m6.5s. Visit \
                 https://console.groq.com/account/limits"
            );
            json!({"error": {"message": message, "type": "tokens", "code": "rate_limit_exceeded"}})
        },
        rests: "alpha",
        wait_s: 727.0,
        quotas: || json!([["tokens", 86_400, 100_000, 664]]),
        stated: || json!([["tpd", 100_000]]),
    },
    // https://docs.anthropic.com/en/api/rate-limits: of each model apart.
    Case {
        name: "Anthropic",
        api: Api::Anthropic,
        status: 429,
        headers: &[
            ("retry-after", "41"),
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "0"),
        ],
        body: |_| {
            let message = "This request would exceed your organization's rate limit of 50 requests per minute. For \
                           details, refer to: https://docs.anthropic.com/en/api/rate-limits.";
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": message}})
        },
        rests: "alpha",
        wait_s: 41.0,
        quotas: || json!([["requests", 60, 50, 0]]),
        stated: || json!([["rpm", 50]]),
    },
    // https://openrouter.ai/docs/api-reference/limits
    Case {
        name: "OpenRouter",
        api: Api::Chat,
        status: 429,
        headers: &[],
        body: |_| {
            let message = "Rate limit exceeded: free-models-per-min. ";
            let headers = json!({"X-RateLimit-Limit": "20", "X-RateLimit-Remaining": "0"});
            json!({"error": {"message": message, "code": 429, "metadata": {"headers": headers}}, "user_id": "user_x"})
        },
        rests: "alpha",
        // Nothing is stated.
        wait_s: 60.0,
        quotas: || json!([["requests", 60, 20, 0]]),
        stated: || json!([["rpm", 20]]),
    },
    // https://ai.google.dev/gemini-api/docs/rate-limits
    Case {
        name: "Gemini",
        api: Api::Gemini,
        status: 429,
        headers: &[],
        body: |model| {
            let violation = json!({
                "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
                "quotaDimensions": {"location": "global", "model": model},
                "quotaValue": "10"
            });
            json!({"error": {
                "code": 429,
                "message": "You exceeded your current quota, please check your plan and billing details. For more \
                            information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
                "status": "RESOURCE_EXHAUSTED",
                "details": [
                    {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "36.5s"}
                ]
            }})
        },
        rests: "alpha",
        wait_s: 36.5,
        quotas: || json!([["requests", 60, 10, 0]]),
        stated: || json!([["rpm", 10]]),
    },
    // https://docs.cohere.com/docs/rate-limits: a trial key is limited whatever it asks.
    Case {
        name: "Cohere",
        api: Api::Chat,
        status: 429,
        headers: &[],
        body: |_| {
            json!({"message": "You are using a Trial key, which is limited to 10 API calls / minute. You can continue \
                               to use the Trial key for free or upgrade to a Production key with higher rate limits."})
        },
        rests: "like",
        wait_s: 60.0,
        quotas: || json!([["requests", 60, 10, null]]),
        stated: || json!([["rpm", 10]]),
    },
];

/// `alpha` and `beta` at the provider, `gamma` elsewhere.
async fn lab(case: &Case) -> Lab {
    let upstream = Upstream::start().await;
    let model = served("alpha");
    let body = (case.body)(&model).to_string();
    let refusal = case
        .headers
        .iter()
        .fold(Reply::whole(case.status, "application/json", body), |reply, (name, value)| {
            reply.header(name, value)
        });
    upstream.model(&model, refusal);
    for alias in ["beta", "gamma"] {
        upstream.model(&served(alias), Script::in_any(|api, _| api.says("An answer.")));
    }
    let scenario = Scenario::new()
        .setting("rotate", 0.0)
        .setting("reserves", 1)
        .setting("max_explorers", 0)
        .endpoint("like", &upstream.base_of(case.api))
        .api(case.api.name())
        .key("LIKE_KEY", KEY)
        .endpoint("spare", &upstream.base())
        .key("SPARE_KEY", KEY)
        .model("alpha", "like", &served("alpha"))
        .model("beta", "like", &served("beta"))
        .model("gamma", "spare", &served("gamma"));
    let scenario = scenario
        .collection("agents", &["alpha", "beta", "gamma"])
        .with("reply", "route")
        .collection("core", &["alpha"]);
    Lab { upstream, gateway: scenario.start().await }
}

/// What is shown of it, without the times.
async fn told(lab: &Lab) -> Value {
    let limits = lab.gateway.command("limits", &json!({})).await;
    let like = limits["connections"].as_array().expect("connections").iter();
    let like = like.clone().find(|it| it["connection"] == "like").cloned().unwrap_or_default();
    let all = |list: &Value, fields: &[&str]| -> Value {
        let rows = list.as_array().into_iter().flatten();
        rows.map(|row| fields.iter().map(|field| row[*field].clone()).collect::<Value>()).collect()
    };
    json!({
        "rests": all(&limits["cooling"], &["name", "is_connection"]),
        "quotas": all(&like["quota"], &["metric", "window_s", "limit", "remaining"]),
        "stated": all(&like["stated"], &["axis", "limit"]),
    })
}

/// For how long the first that rests still does, in seconds.
#[expect(clippy::disallowed_methods, reason = "the gateway under test has the same clock")]
async fn rests_for(lab: &Lab) -> f64 {
    let limits = lab.gateway.command("limits", &json!({})).await;
    let until = limits["cooling"][0]["until"].as_str().expect("a time").parse::<jiff::Timestamp>();
    until.expect("a time").duration_since(jiff::Timestamp::now()).as_secs_f64()
}

#[tokio::test]
async fn refusals_of_real_providers_rest_what_they_speak_of_and_no_more() {
    for case in CASES {
        let of_all = case.rests == "like";
        let wanted = json!({
            "rests": [[case.rests, of_all]], "quotas": (case.quotas)(), "stated": (case.stated)(),
        });
        // What is limited for the whole key is not asked of its other model.
        let next = if of_all { "gamma" } else { "beta" };

        let lab_of_turns = lab(case).await;
        let turn =
            |text: &str| json!({"model": "bench/agents", "messages": [{"role": "user", "content": text}]});
        for text in ["one", "two, of another conversation"] {
            let answer = lab_of_turns.http().chat(&turn(text)).await.json();
            assert_eq!(answer["bench"]["alias"], next, "{}: {answer}", case.name);
        }
        assert_eq!(lab_of_turns.upstream.asked(&served("alpha")).len(), 1, "{}", case.name);
        assert_eq!(told(&lab_of_turns).await, wanted, "{}, a turn", case.name);
        let left = rests_for(&lab_of_turns).await;
        assert!(left <= case.wait_s && left > case.wait_s - 30.0, "{}: {left}", case.name);

        let lab_of_panels = lab(case).await;
        let answer = lab_of_panels.http().chat(&question("one")).await.json();
        assert_eq!(seat(&answer, "gamma")["stood_in_for"], "alpha", "{}: {answer}", case.name);
        assert_eq!(told(&lab_of_panels).await, wanted, "{}, a panel", case.name);
    }
}
