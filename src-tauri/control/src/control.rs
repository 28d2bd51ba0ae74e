use gateway::{Events, Gateway};
use serde_json::Value;

use crate::ControlError;

/// The control API in the gateway's own process. Cheap to clone.
#[derive(Clone)]
pub struct Control {
    gateway: Gateway,
    wanted_port: u16,
}

impl Control {
    /// `wanted_port` is the one that was asked for, whichever is served.
    pub fn new(gateway: Gateway, wanted_port: u16) -> Control {
        Control { gateway, wanted_port }
    }

    /// Everything that happens from here on; the first event is a snapshot.
    pub fn events(&self) -> Events {
        self.gateway.events()
    }

    pub(crate) fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    pub(crate) fn wanted_port(&self) -> u16 {
        self.wanted_port
    }

    /// What a command gave, as it may be shown: a set-up of before may hold a key in one of its texts.
    pub(crate) fn shown(
        &self,
        command: &str,
        mut outcome: Result<Value, ControlError>,
    ) -> Result<Value, ControlError> {
        match &mut outcome {
            Ok(reply) => {
                // The one key that is told, once: to whoever makes it.
                let told = reply.get_mut("text").filter(|_| command == "create_key").map(Value::take);
                self.mask(reply);
                if let Some(told) = told {
                    reply["text"] = told;
                }
            }
            Err(error) => self.mask_text(&mut error.message),
        }
        outcome
    }

    fn mask(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.mask_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Value::Object(fields) => {
                self.gateway.mask_names(fields);
                fields.values_mut().for_each(|value| self.mask(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn mask_text(&self, text: &mut String) {
        if let Some(masked) = self.gateway.mask(text) {
            *text = masked;
        }
    }
}
