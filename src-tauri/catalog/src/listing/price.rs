use serde_json::Value;

use crate::Price;

/// What a number of a list is the price of, in dollars.
#[derive(Clone, Copy)]
enum Unit {
    Token,
    Million,
    /// Hundredths of a cent a million, as xAI counts: 20000 is two dollars.
    TenThousandthOfMillion,
    /// A text is a token's, a number a million tokens': Vercel's gateway writes the one, Together the other.
    AsWritten,
}

/// The places of input, output, cache read and cache write.
type Places = [&'static str; 4];

const ROWS: &[(Places, Unit)] = &[
    (
        ["/pricing/prompt", "/pricing/completion", "/pricing/input_cache_read", "/pricing/input_cache_write"],
        Unit::Token,
    ),
    (
        ["/pricing/input", "/pricing/output", "/pricing/input_cache_read", "/pricing/input_cache_write"],
        Unit::AsWritten,
    ),
    (["/cost/input", "/cost/output", "/cost/cache_read", "/cost/cache_write"], Unit::Million),
    (
        ["/prompt_text_token_price", "/completion_text_token_price", "/cached_prompt_text_token_price", "/"],
        Unit::TenThousandthOfMillion,
    ),
    (
        [
            "/model_info/input_cost_per_token",
            "/model_info/output_cost_per_token",
            "/model_info/cache_read_input_token_cost",
            "/model_info/cache_creation_input_token_cost",
        ],
        Unit::Token,
    ),
];

/// The price, where input and output both have one.
pub(super) fn read(item: &Value) -> Option<Price> {
    ROWS.iter().find_map(|(places, unit)| {
        let [input, output, cache_read, cache_write] =
            places.map(|place| dollars(item.pointer(place)?, *unit));
        Some(Price { input: Some(input?), output: Some(output?), cache_read, cache_write })
    })
}

/// Dollars a million tokens; `None` where it is no price (OpenRouter's router has `-1`: it depends).
fn dollars(value: &Value, unit: Unit) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    let price = match unit {
        Unit::Token => number * 1e6,
        Unit::AsWritten if value.is_string() => number * 1e6,
        Unit::Million | Unit::AsWritten => number,
        Unit::TenThousandthOfMillion => number / 1e4,
    };
    // Six digits: `0.00000035` a token is 0.35 a million, not 0.35000000000000003.
    (0.0..=MOST).contains(&price).then(|| (price * 1e6).round() / 1e6)
}

/// Nothing costs so much; a number that large is counted in something else.
const MOST: f64 = 10_000.0;
