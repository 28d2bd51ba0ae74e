//! The simulated world: models whose quality nobody is told, and people whose verdicts are noisy.

use catalog::Endpoint;
use plan::{Setup, Shape};

pub const PANELS: usize = 5_000;
pub const MODELS: usize = 30;
pub const MEMBERS: usize = 3;
pub const SHAPES: [&str; 4] = ["general", "review", "code", "prose"];

/// Of the seats that answer, how many are judged, and how many verdicts are the wrong way round.
const JUDGED: f64 = 0.6;
const MISJUDGED: f64 = 0.1;

/// A model that cannot be asked (a rate limit, a dead endpoint) is away for so many panels; one in ten is.
const AWAY_PANELS: usize = 20;
const AWAY: f64 = 0.1;

pub struct World {
    random: Random,
    /// Chance of a useful answer, by model and shape.
    quality: Vec<[f64; SHAPES.len()]>,
    /// Until which panel a model is away.
    away_until: Vec<usize>,
}

impl World {
    pub fn new(seed: u64) -> World {
        let mut random = Random(seed);
        let mut quality = Vec::with_capacity(MODELS);
        for _ in 0..MODELS {
            // Good models tend to be good at everything, but not alike.
            let general = random.share();
            let of_shape = [(); SHAPES.len()].map(|()| 0.1 + 0.8 * (0.5 * general + 0.5 * random.share()));
            quality.push(of_shape);
        }
        World { random, quality, away_until: vec![0; MODELS] }
    }

    pub fn setup() -> Setup {
        let models = (0..MODELS).map(|n| catalog::Model::new(alias(n), "fake", alias(n))).collect();
        let endpoints = vec![Endpoint::new("fake", "https://example.com/v1")];
        Setup { endpoints, models, ..Setup::default() }
    }

    pub fn quality(&self, model: usize, shape: usize) -> f64 {
        self.quality[model][shape]
    }

    pub fn next_shape(&mut self) -> usize {
        (self.random.share() * SHAPES.len() as f64) as usize % SHAPES.len()
    }

    /// Outages begin so that at any panel about one model in ten is away.
    pub fn next_outages(&mut self, panel: usize) {
        for until in &mut self.away_until {
            if *until <= panel && self.random.chance(AWAY / ((1.0 - AWAY) * AWAY_PANELS as f64)) {
                *until = panel + AWAY_PANELS;
            }
        }
    }

    pub fn is_away(&self, model: usize, panel: usize) -> bool {
        self.away_until[model] > panel
    }

    /// Whether the answer was useful, and the verdict on it, if it gets one.
    pub fn answer(&mut self, model: usize, shape: usize) -> (bool, Option<bool>) {
        let useful = self.random.chance(self.quality[model][shape]);
        let verdict = useful != self.random.chance(MISJUDGED);
        (useful, self.random.chance(JUDGED).then_some(verdict))
    }
}

pub fn alias(model: usize) -> String {
    format!("m{model:02}")
}

pub fn number(alias: &str) -> usize {
    alias.trim_start_matches('m').parse().unwrap_or_default()
}

pub fn shape(at: usize) -> Shape {
    Shape::new(SHAPES[at])
}

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to 1, without 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn chance(&mut self, chance: f64) -> bool {
        self.share() < chance
    }
}
