//! The macro behind the command table ([`crate::commands`]): one line there is one command everywhere.
//!
//! A line `/// doc` `name(Args) -> Reply;` becomes
//! - an arm of [`Control::call`](crate::Control::call), which takes and gives JSON: Tauri's IPC and the HTTP
//!   adapter are both this one function;
//! - a typed method of [`Remote`](crate::Remote), so that the command line cannot misspell a command;
//! - an entry of [`COMMANDS`](crate::COMMANDS) and of the TypeScript interface `Commands`.
//!
//! The behaviour is an inherent method `async fn name(&self, args: Args) -> Result<Reply, ControlError>` of
//! `Control`, written beside the table; a line without one does not compile.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Code, ControlError};

/// A command's name and what it does, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    pub name: &'static str,
    /// The doc comment of its line; may be empty.
    pub doc: &'static str,
}

macro_rules! commands {
    ($( $(#[doc = $doc:literal])* $name:ident($args:ty) -> $reply:ty; )*) => {
        /// Every command, in the table's order.
        pub const COMMANDS: &[$crate::table::CommandInfo] = &[$(
            $crate::table::CommandInfo {
                name: stringify!($name),
                doc: concat!($($doc, "\n"),*).trim_ascii(),
            },
        )*];

        impl $crate::Control {
            /// Runs the command `name` on `args` (a JSON object; `null` is `{}`).
            ///
            /// Errors: `not_found` for an unknown command, `bad_input` with the `field` that does not fit,
            /// and whatever the command refuses.
            pub async fn call(
                &self,
                name: &str,
                args: serde_json::Value,
            ) -> Result<serde_json::Value, $crate::ControlError> {
                self.shown(name, self.run(name, args).await)
            }

            async fn run(
                &self,
                name: &str,
                args: serde_json::Value,
            ) -> Result<serde_json::Value, $crate::ControlError> {
                match name {
                    // Boxed, so that this future is as small as its smallest arm, not as large as its largest.
                    $( stringify!($name) => {
                        let args: $args = $crate::table::arguments(args)?;
                        let reply: $reply = Box::pin(self.$name(args)).await?;
                        $crate::table::reply(&reply)
                    } )*
                    _ => Err($crate::table::unknown(name)),
                }
            }
        }

        impl $crate::Remote {
            $(
                $(#[doc = $doc])*
                pub async fn $name(&self, args: $args) -> Result<$reply, $crate::RemoteError> {
                    self.call(stringify!($name), &args).await
                }
            )*
        }

        /// The TypeScript of every command, argument, reply and event: the text of `ui/src/host/gen.ts`.
        pub fn typescript() -> String {
            let mut file = $crate::typescript::File::default();
            $( file.command::<$args, $reply>(stringify!($name), concat!($($doc, "\n"),*)); )*
            file.text()
        }
    };
}

/// Reads a command's arguments; the error's `field` is the path to what does not fit.
pub(crate) fn arguments<T: DeserializeOwned>(args: Value) -> Result<T, ControlError> {
    let args = match args {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::Object(_) => args,
        // serde would read a list as fields by their order.
        _ => return Err(ControlError::new(Code::BadInput, "A command's arguments are a JSON object.")),
    };
    serde_path_to_error::deserialize(args).map_err(|wrong| {
        let path = wrong.path().to_string();
        let problem = wrong.into_inner();
        match path.as_str() {
            "." => ControlError::new(Code::BadInput, problem.to_string()),
            field => ControlError::bad_input(field, format!("{field}: {problem}")),
        }
    })
}

pub(crate) fn reply<T: Serialize>(reply: &T) -> Result<Value, ControlError> {
    serde_json::to_value(reply)
        .map_err(|wrong| ControlError::internal(format!("The reply does not fit into JSON: {wrong}.")))
}

pub(crate) fn unknown(name: &str) -> ControlError {
    let shown: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    ControlError::not_found(format!(
        "There is no command \"{shown}\"; this program and the gateway may differ in version."
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::arguments;
    use crate::dto::{GiveVerdict, Nothing, RegisterModels};
    use crate::{Code, ControlError};

    fn refused<T: serde::de::DeserializeOwned>(args: Value) -> ControlError {
        arguments::<T>(args).err().unwrap()
    }

    #[test]
    fn nothing_may_be_said_in_two_ways() {
        assert!(arguments::<Nothing>(Value::Null).is_ok());
        assert!(arguments::<Nothing>(json!({})).is_ok());
    }

    #[test]
    fn the_field_that_does_not_fit() {
        let error =
            refused::<RegisterModels>(json!({"endpoint": "a", "models": [{"served": "x", "alias": 3}]}));
        assert_eq!(error.code, Code::BadInput);
        assert_eq!(error.field.as_deref(), Some("models[0].alias"));
        assert_eq!(error.message, "models[0].alias: invalid type: integer `3`, expected a string");
        let error = refused::<GiveVerdict>(json!({"call": "p.member1"}));
        assert_eq!((error.field, error.message.as_str()), (None, "missing field `useful`"));
        for args in [json!("p.member1"), json!(["p.member1", true])] {
            let error = refused::<GiveVerdict>(args);
            assert_eq!((error.code, error.field), (Code::BadInput, None));
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = crate::COMMANDS.iter().map(|command| command.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
