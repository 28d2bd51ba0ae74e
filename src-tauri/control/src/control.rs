use gateway::{Events, Gateway};

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
}
