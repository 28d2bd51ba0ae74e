use std::collections::HashMap;

use catalog::Model;

use crate::DAY_MS;

/// Models left alone for a while after a rate limit (providers.md §4). Times are ms since 1970.
///
/// A cooldown is of a model at its endpoint, so another endpoint serving the same model is not touched, and is
/// widened to the connection when the provider says that its account or key is what is limited.
#[derive(Clone, Debug, Default)]
pub struct Cooldowns {
    models: HashMap<(String, String), Cooldown>,
    connections: HashMap<String, Cooldown>,
}

/// How far a rate limit reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This model at this endpoint.
    Model,
    /// Everything on the connection: the message named an account or a key.
    Connection,
}

/// A cooldown that is running, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cooling {
    pub place: Place,
    pub until_ms: i64,
    /// The provider said how long; else the gateway guesses, longer each time.
    pub stated: bool,
}

/// What is cooling. Of use to show it and to clear it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Model { endpoint: String, served: String },
    Connection(String),
}

/// All that is known of a place, to be kept over a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCooldown {
    pub cooling: Cooling,
    /// How long the last guess lasted; 0 before the first.
    pub step_ms: i64,
}

#[derive(Clone, Copy, Debug)]
struct Cooldown {
    until_ms: i64,
    stated: bool,
    /// How long the last guess lasted, halved with each success; 0 before the first.
    step_ms: i64,
}

/// Shortest and longest guess, and the most that is believed of a provider.
const FIRST_MS: i64 = 60_000;
const LONGEST_GUESS_MS: i64 = 30 * 60_000;
const LONGEST_MS: i64 = DAY_MS;

impl Cooldowns {
    /// A rate limit was met; says until when the model, or all of `connection`, is left alone.
    ///
    /// `stated_ms` is the wait the provider named, of which 24 h are believed at most. Without one it is 60 s,
    /// doubling up to 30 min as limits are met again. Limits met while the cooldown runs come from calls that
    /// were under way, so they do not double it.
    pub fn limited(
        &mut self,
        model: &Model,
        connection: &str,
        reach: Reach,
        stated_ms: Option<i64>,
        now_ms: i64,
    ) -> i64 {
        let idle = Cooldown { until_ms: i64::MIN, stated: false, step_ms: 0 };
        let cooldown = match reach {
            Reach::Model => self.models.entry(key(model)).or_insert(idle),
            Reach::Connection => self.connections.entry(connection.to_owned()).or_insert(idle),
        };
        cooldown.meet(stated_ms, now_ms);
        cooldown.until_ms
    }

    /// A call was answered: what a guess has grown to is halved, for the model and its connection. Says whether one was
    /// known.
    pub fn succeeded(&mut self, model: &Model, connection: &str) -> bool {
        // Almost always nothing is known, and a key costs two copies.
        if self.models.is_empty() && self.connections.is_empty() {
            return false;
        }
        let mut changed = false;
        let cooldowns = [self.models.get_mut(&key(model)), self.connections.get_mut(connection)];
        for cooldown in cooldowns.into_iter().flatten() {
            changed |= cooldown.step_ms > 0;
            cooldown.step_ms /= 2;
            if cooldown.step_ms < FIRST_MS {
                cooldown.step_ms = 0;
            }
        }
        changed
    }

    /// Until when a model is to be left alone, for its own sake or its connection's.
    pub fn cooling(&self, model: &Model, connection: &str, now_ms: i64) -> Option<i64> {
        // Almost always nothing is cooling, and a key costs two copies.
        let own = match self.models.is_empty() {
            true => None,
            false => self.models.get(&key(model)),
        };
        let until = own.into_iter().chain(self.connections.get(connection)).map(|it| it.until_ms).max();
        until.filter(|until| *until > now_ms)
    }

    /// Ends a cooldown and forgets what it had grown to. Says whether there was one.
    pub fn clear(&mut self, place: &Place) -> bool {
        match place {
            Place::Model { endpoint, served } => {
                self.models.remove(&(endpoint.clone(), served.clone())).is_some()
            }
            Place::Connection(connection) => self.connections.remove(connection).is_some(),
        }
    }

    /// Everything that is cooling, the last to end first.
    pub fn list(&self, now_ms: i64) -> Vec<Cooling> {
        let mut list: Vec<Cooling> = self.all().map(|kept| kept.cooling).collect();
        list.retain(|cooling| cooling.until_ms > now_ms);
        list.sort_by(|a, b| b.until_ms.cmp(&a.until_ms).then_with(|| a.place.cmp(&b.place)));
        list
    }

    /// What is worth keeping over a restart, by place: what cools, and what guesses have grown to.
    pub fn state(&self, now_ms: i64) -> Vec<KeptCooldown> {
        let mut state: Vec<KeptCooldown> = self.all().collect();
        state.retain(|kept| kept.step_ms > 0 || kept.cooling.until_ms > now_ms);
        state.sort_by(|a, b| a.cooling.place.cmp(&b.cooling.place));
        state
    }

    /// What was kept, in place of what is known of those places. Of a clock that was ahead then, a day is believed at
    /// most.
    pub fn load(&mut self, kept: impl IntoIterator<Item = KeptCooldown>, now_ms: i64) {
        for KeptCooldown { cooling: Cooling { place, until_ms, stated }, step_ms } in kept {
            let until_ms = until_ms.min(now_ms.saturating_add(LONGEST_MS));
            let cooldown = Cooldown { until_ms, stated, step_ms: step_ms.clamp(0, LONGEST_GUESS_MS) };
            match place {
                Place::Model { endpoint, served } => self.models.insert((endpoint, served), cooldown),
                Place::Connection(connection) => self.connections.insert(connection, cooldown),
            };
        }
    }

    fn all(&self) -> impl Iterator<Item = KeptCooldown> {
        let models = self.models.iter().map(|((endpoint, served), cooldown)| {
            (Place::Model { endpoint: endpoint.clone(), served: served.clone() }, cooldown)
        });
        let connections =
            self.connections.iter().map(|(name, cooldown)| (Place::Connection(name.clone()), cooldown));
        models.chain(connections).map(|(place, it)| KeptCooldown {
            cooling: Cooling { place, until_ms: it.until_ms, stated: it.stated },
            step_ms: it.step_ms,
        })
    }
}

impl Cooldown {
    fn meet(&mut self, stated_ms: Option<i64>, now_ms: i64) {
        let is_cooling = self.until_ms > now_ms;
        match stated_ms {
            Some(wait) => {
                let until = now_ms.saturating_add(wait.clamp(0, LONGEST_MS));
                // Two limits may be stated, of a minute and of a day: the longer holds. A guess gives way.
                self.until_ms = if is_cooling && self.stated { self.until_ms.max(until) } else { until };
                self.stated = true;
            }
            None if is_cooling => {}
            None => {
                self.step_ms = (self.step_ms * 2).clamp(FIRST_MS, LONGEST_GUESS_MS);
                self.until_ms = now_ms.saturating_add(self.step_ms);
                self.stated = false;
            }
        }
    }
}

fn key(model: &Model) -> (String, String) {
    (model.endpoint.clone(), model.served.clone())
}
