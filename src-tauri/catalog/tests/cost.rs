//! What calls cost, against sums worked by hand: prices are dollars for a million tokens.

use catalog::Price;
use wire::Usage;

/// Input, output, cache read, cache write.
type Prices = [Option<f64>; 4];
/// Input with cache, output, reasoning, cache read, cache write.
type Tokens = [Option<u64>; 5];

const FREE: Prices = [Some(0.0), Some(0.0), None, None];
/// 3 in, 15 out, a tenth for what is read from the cache, a quarter more for what is written to it.
const CLAUDE: Prices = [Some(3.0), Some(15.0), Some(0.3), Some(3.75)];
/// 1.25 in, 10 out, and a price for what is read from the cache alone.
const GPT: Prices = [Some(1.25), Some(10.0), Some(0.125), None];
const PLAIN: Prices = [Some(0.5), Some(1.5), None, None];

fn cost(prices: Prices, tokens: Tokens) -> Option<f64> {
    let [input, output, cache_read, cache_write] = prices;
    let price = Price { input, output, cache_read, cache_write };
    let [input, output, reasoning, cache_read, cache_write] = tokens;
    price.cost(&Usage { input, output, reasoning, cache_read, cache_write })
}

#[test]
fn worked_by_hand() {
    let cases: &[(&str, Prices, Tokens, f64)] = &[
        // 1000 × 0.5 + 200 × 1.5 = 500 + 300 millionths
        ("plain", PLAIN, [Some(1000), Some(200), None, None, None], 0.0008),
        ("nothing in, nothing out", PLAIN, [Some(0), Some(0), None, None, None], 0.0),
        // 300 fresh × 0.5 + 700 read × 0.5 + 200 × 1.5
        ("read, at the price of input", PLAIN, [Some(1000), Some(200), None, Some(700), None], 0.0008),
        // 200,000 × 3 = 0.60; 600,000 × 0.3 = 0.18; 200,000 × 3.75 = 0.75; 100,000 × 15 = 1.50
        (
            "read and written",
            CLAUDE,
            [Some(1_000_000), Some(100_000), None, Some(600_000), Some(200_000)],
            3.03,
        ),
        // 10 × 3 + 90 × 3.75 + 5 × 15 = 30 + 337.5 + 75 millionths
        ("written alone", CLAUDE, [Some(100), Some(5), None, Some(0), Some(90)], 0.000_442_5),
        // 2000 × 10 in output, 1500 of them reasoning, counted once; 400 × 1.25 + 600 × 0.125 = 575
        ("reasoning is in the output", GPT, [Some(1000), Some(2000), Some(1500), Some(600), None], 0.020_575),
        ("reasoning alone", GPT, [Some(0), Some(64), Some(64), None, None], 0.000_64),
        ("nothing written, and no price for it", GPT, [Some(800), Some(0), None, None, Some(0)], 0.001),
        // More cached than there is input: nothing is fresh, and what is cached is paid for.
        ("an odd count", CLAUDE, [Some(10), Some(0), None, Some(100), None], 0.000_03),
        ("free, whatever was used", FREE, [None, None, None, None, None], 0.0),
        ("free, and so is what it writes", FREE, [Some(9), Some(9), None, Some(3), Some(3)], 0.0),
        // Output is free and was not counted: 1000 × 2
        ("half free", [Some(2.0), Some(0.0), None, None], [Some(1000), None, None, None, None], 0.002),
        // Input is free and was not counted; what the cache holds is not: 100 × 0.1 + 10 × 1
        (
            "free input and a dear cache",
            [Some(0.0), Some(1.0), Some(0.1), None],
            [None, Some(10), None, Some(100), Some(7)],
            0.000_02,
        ),
    ];
    for (what, prices, tokens, wanted) in cases {
        let cost = cost(*prices, *tokens).unwrap_or_else(|| panic!("{what}: unknown"));
        assert!((cost - wanted).abs() < 1e-12, "{what}: {cost}, not {wanted}");
    }
}

#[test]
fn what_is_not_known_is_not_nothing() {
    let cases: &[(&str, Prices, Tokens)] = &[
        ("no price", [None; 4], [Some(1), Some(1), None, None, None]),
        ("no price of input", [None, Some(1.0), None, None], [Some(1), Some(1), None, None, None]),
        ("no price of output", [Some(0.0), None, None, None], [Some(1), Some(1), None, None, None]),
        ("no input counted", PLAIN, [None, Some(1), None, None, None]),
        ("no output counted", PLAIN, [Some(1), None, None, None, None]),
        ("written, without a price for it", PLAIN, [Some(1000), Some(1), None, None, Some(1)]),
        ("written, and only reading has a price", GPT, [Some(1000), Some(1), None, Some(9), Some(1)]),
    ];
    for (what, prices, tokens) in cases {
        assert_eq!(cost(*prices, *tokens), None, "{what}");
    }
}
