use std::{collections::HashMap, fmt, sync::Arc};

/// The environment variables, injectable: tests have their own.
#[derive(Clone)]
pub struct Environment(Arc<Look>);

type Look = dyn Fn(&str) -> Option<String> + Send + Sync;

impl Environment {
    /// This process's own. A value that is not Unicode is as good as absent: it cannot be a key.
    pub fn process() -> Environment {
        Environment::from(|name: &str| std::env::var(name).ok())
    }

    /// Exactly these.
    pub fn of<N: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (N, V)>) -> Environment {
        let variables: HashMap<String, String> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Environment::from(move |name: &str| variables.get(name).cloned())
    }

    /// The variable's value; an empty or blank one counts as absent.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }
}

/// The variable an endpoint's key is looked up in: `BENCHWARMERS_KEY_<NAME>`, upper case, `-` as `_`.
pub fn variable_of(endpoint: &str) -> String {
    format!("BENCHWARMERS_KEY_{}", endpoint.to_ascii_uppercase().replace('-', "_"))
}

impl<F: Fn(&str) -> Option<String> + Send + Sync + 'static> From<F> for Environment {
    fn from(look: F) -> Environment {
        Environment(Arc::new(look))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_variable_is_absent() {
        let environment = Environment::of([("A", "x"), ("B", ""), ("C", " \n")]);
        assert_eq!(environment.get("A").as_deref(), Some("x"));
        assert_eq!((environment.get("B"), environment.get("C"), environment.get("D")), (None, None, None));
    }

    #[test]
    fn the_variable_of_an_endpoint() {
        assert_eq!(variable_of("lm-studio"), "BENCHWARMERS_KEY_LM_STUDIO");
    }
}
