//! The secrets of proxies that the environment names: a proxy may repeat them in what it says.

use base64::{Engine, engine::general_purpose::STANDARD};
use percent_encoding::percent_decode_str;
use secrecy::SecretString;

use crate::Environment;

const VARIABLES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// The password of each, and name and password as they are sent.
pub(crate) fn secrets(environment: &Environment) -> Vec<SecretString> {
    let named = VARIABLES.iter().filter_map(|variable| environment.get(variable));
    named.filter_map(|url| of(url.trim())).flatten().collect()
}

fn of(url: &str) -> Option<[SecretString; 2]> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (name, password) = (plain(name), plain(password));
    let sent = STANDARD.encode(format!("{name}:{password}"));
    (!password.is_empty()).then(|| [password.into(), sent.into()])
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn the_password_and_what_is_sent_of_it() {
        let found = |variable: &str, url: &str| -> Vec<String> {
            let found = secrets(&Environment::of([(variable, url)]));
            found.iter().map(|it| it.expose_secret().to_owned()).collect()
        };
        assert_eq!(found("HTTPS_PROXY", "http://me:p%40ss@proxy.example:3128/"), ["p@ss", "bWU6cEBzcw=="]);
        assert_eq!(found("all_proxy", "socks5://me:secret@10.0.0.1"), ["secret", "bWU6c2VjcmV0"]);
        assert_eq!(found("http_proxy", "me:secret@proxy:1"), ["secret", "bWU6c2VjcmV0"]);
        for url in ["http://proxy:3128", "http://me@proxy:3128", "http://me:@proxy", "http://proxy/a:b@c", ""]
        {
            assert_eq!(found("HTTPS_PROXY", url), [""; 0], "{url}");
        }
        assert_eq!(found("NO_PROXY", "http://me:secret@proxy"), [""; 0]);
    }
}
