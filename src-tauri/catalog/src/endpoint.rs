use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wire::Dialect;

use crate::{
    BaseError, FieldError, Limits, PRACTICE_BASE, Quirks, check_base, headers::check_headers, is_loopback,
};

/// A place models are served from. As in the set-up file; never a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    pub name: String,
    /// Base URL; the dialect's path is joined to it. `bench:/practice/v1` is the gateway's own address.
    pub base: String,
    #[serde(default)]
    pub api: Dialect,
    /// Inferred when absent: a loopback base is `local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<EndpointKind>,
    /// Read the key from this variable at each start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    #[serde(default)]
    pub paid: bool,
    /// The owner agreed to plain http to another machine. Means nothing for https or loopback.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain_http: bool,
    /// What its models do otherwise than their API says, where it is not known already.
    #[serde(default, skip_serializing_if = "Quirks::is_empty")]
    pub quirks: Quirks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ts_rs::TS)]
#[serde(rename_all = "lowercase")]
pub enum EndpointKind {
    Provider,
    Aggregator,
    Hub,
    Local,
    /// The built-in practice endpoint: its record is kept apart.
    Practice,
}

impl Endpoint {
    /// An endpoint with a name and a base and nothing else set.
    pub fn new(name: impl Into<String>, base: impl Into<String>) -> Endpoint {
        Endpoint {
            name: name.into(),
            base: base.into(),
            api: Dialect::default(),
            kind: None,
            key_env: None,
            headers: BTreeMap::new(),
            limits: Limits::default(),
            paid: false,
            plain_http: false,
            quirks: Quirks::default(),
        }
    }

    /// The kind as set, else inferred from the base.
    pub fn kind(&self) -> EndpointKind {
        self.kind.unwrap_or_else(|| match is_loopback(&self.base) {
            true => EndpointKind::Local,
            false => EndpointKind::Provider,
        })
    }

    /// Whether this is the built-in practice endpoint.
    pub fn is_practice(&self) -> bool {
        self.kind == Some(EndpointKind::Practice)
    }

    /// Name, base, key variable, headers and limits, in that order; the first that is wrong.
    pub fn check(&self) -> Result<(), FieldError> {
        if !valid_endpoint_name(&self.name) {
            return Err(FieldError::new(
                "name",
                "2 to 32 lower-case letters, digits and -, beginning and ending with a letter or digit",
            ));
        }
        match (self.is_practice(), self.base == PRACTICE_BASE) {
            (true, true) => {}
            (true, false) => {
                return Err(FieldError::new("kind", "practice is the built-in endpoint's own kind"));
            }
            (false, _) => match check_base(&self.base) {
                Err(BaseError::PlainHttp(_)) if self.plain_http => {}
                outcome => outcome.map_err(|error| FieldError::new("base", error.to_string()))?,
            },
        }
        if !wire::format(self.api).is_spoken_to_members() {
            return Err(FieldError::new("api", "only callers speak this API; use chat for the endpoint"));
        }
        if let Some(variable) = &self.key_env
            && !valid_variable(variable)
        {
            return Err(FieldError::new(
                "key_env",
                "the name of an environment variable, not the key itself: letters, digits and _",
            ));
        }
        check_headers(&self.headers)?;
        self.limits.check()
    }
}

/// The environment variable an endpoint's key is looked up in: `BENCHWARMERS_KEY_<NAME>`, upper case, `-` as
/// `_`.
pub fn env_variable(name: &str) -> String {
    format!("BENCHWARMERS_KEY_{}", name.to_ascii_uppercase().replace('-', "_"))
}

/// 2 to 32 of `a-z 0-9 -`, no `-` at either end.
pub fn valid_endpoint_name(name: &str) -> bool {
    (2..=32).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn valid_variable(name: &str) -> bool {
    name.len() <= 128
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Endpoint {
        serde_json::from_str(json).expect(json)
    }

    fn error_of(endpoint: &Endpoint) -> String {
        endpoint.check().expect_err("should be refused").to_string()
    }

    #[test]
    fn the_kind_is_inferred_from_the_base() {
        assert_eq!(Endpoint::new("aa", "http://127.0.0.1:1/v1").kind(), EndpointKind::Local);
        assert_eq!(Endpoint::new("aa", "https://example.com").kind(), EndpointKind::Provider);
        let hub = Endpoint { kind: Some(EndpointKind::Hub), ..Endpoint::new("aa", "http://127.0.0.1:1/v1") };
        assert_eq!(hub.kind(), EndpointKind::Hub);
    }

    #[test]
    fn the_example_of_the_set_up_file_reads() {
        let endpoint = read(
            r#"{"name": "fake", "base": "http://127.0.0.1:9900/v1", "api": "chat", "kind": "provider",
                "key_env": "FAKE_KEY", "headers": {"X-Title": "bench"},
                "limits": {"rpm": 60, "rpd": null, "tpm": null, "tpd": null, "rpmo": null}, "paid": false}"#,
        );
        assert_eq!(endpoint.check(), Ok(()));
        assert_eq!(endpoint.limits, Limits { rpm: Some(60), ..Limits::default() });
        assert_eq!(endpoint.kind(), EndpointKind::Provider);
    }

    #[test]
    fn names() {
        for good in ["ab", "a1", "lm-studio", &"a".repeat(32)] {
            assert!(valid_endpoint_name(good), "{good}");
        }
        for bad in ["", "a", "A1", "a_b", "-a", "a-", "a b", "ä1", "a.b", &"a".repeat(33)] {
            assert!(!valid_endpoint_name(bad), "{bad}");
        }
        assert_eq!(env_variable("lm-studio"), "BENCHWARMERS_KEY_LM_STUDIO");
    }

    #[test]
    fn the_first_wrong_field_is_named() {
        let good = Endpoint::new("lan", "https://example.com/v1");
        assert_eq!(good.check(), Ok(()));
        assert!(error_of(&Endpoint { name: "Lan".into(), ..good.clone() }).starts_with("name: 2 to 32"));
        assert!(
            error_of(&Endpoint { base: "ftp://x/".into(), ..good.clone() })
                .starts_with("base: the base URL must")
        );
        assert!(
            error_of(&Endpoint { key_env: Some("sk-abc".into()), ..good.clone() })
                .starts_with("key_env: the name")
        );
        let headers = BTreeMap::from([("Authorization".to_owned(), "x".to_owned())]);
        assert!(error_of(&Endpoint { headers, ..good.clone() }).starts_with("headers[\"Authorization\"]: "));
        let limits = Limits { rpm: Some(0), ..Limits::default() };
        assert!(error_of(&Endpoint { limits, ..good }).starts_with("limits.rpm: 1 to"));
    }

    #[test]
    fn plain_http_to_another_machine_needs_consent_and_consent_is_kept() {
        let plain = Endpoint::new("lan", "http://10.0.0.5:8000/v1");
        assert!(error_of(&plain).contains("plain http to 10.0.0.5"));
        let agreed = Endpoint { plain_http: true, ..plain };
        assert_eq!(agreed.check(), Ok(()));
        assert_eq!(read(&serde_json::to_string(&agreed).expect("json")), agreed);
        let query = Endpoint { base: "http://10.0.0.5/v1?x".into(), ..agreed };
        assert!(error_of(&query).contains("query"), "consent overrules nothing else");
    }

    #[test]
    fn the_practice_base_and_kind_go_together() {
        let practice =
            Endpoint { kind: Some(EndpointKind::Practice), ..Endpoint::new("practice", PRACTICE_BASE) };
        assert_eq!(practice.check(), Ok(()));
        assert!(practice.is_practice());
        assert!(error_of(&Endpoint::new("practice", PRACTICE_BASE)).starts_with("base: "));
        let other = Endpoint { base: "https://example.com".into(), ..practice };
        assert!(error_of(&other).starts_with("kind: practice"));
    }
}
