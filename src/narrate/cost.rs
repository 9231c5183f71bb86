//! What may it cost? By the operator's own prices: a price that is not told is not guessed.

use super::Reason;
use super::plan::Plan;
use super::reply::Usage;
use crate::environment;

/// What a million tokens cost, in the operator's currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    input: f64,
    output: f64,
}

impl Prices {
    /// From `FLECTO_EXPLAIN_PRICE_INPUT` and `FLECTO_EXPLAIN_PRICE_OUTPUT`; both or none.
    pub(super) fn from_environment() -> Result<Option<Prices>, Reason> {
        let read = |variable| -> Result<Option<f64>, Reason> {
            let Some(text) = environment::text(variable) else { return Ok(None) };
            amount(&text)
                .map(Some)
                .ok_or_else(|| Reason::new(format!("{variable} is no price; write it like 5 or 0.25")))
        };
        match (read("FLECTO_EXPLAIN_PRICE_INPUT")?, read("FLECTO_EXPLAIN_PRICE_OUTPUT")?) {
            (Some(input), Some(output)) => Ok(Some(Prices { input, output })),
            (None, None) => Ok(None),
            _ => Err(Reason::new(
                "FLECTO_EXPLAIN_PRICE_INPUT and FLECTO_EXPLAIN_PRICE_OUTPUT go together; one is missing",
            )),
        }
    }

    fn of(self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }

    /// The most that a request can cost: its estimated input and all the output that it allows.
    pub(super) fn most(self, plan: &Plan, tokens: u64) -> f64 {
        self.of(tokens, plan.max_tokens)
    }

    /// What was billed.
    pub(super) fn billed(self, usage: Usage) -> f64 {
        self.of(usage.input, usage.output)
    }
}

/// A sum of money as people write it: digits, and a point.
pub fn amount(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|amount: &f64| plain && amount.is_finite() && *amount <= 1e9)
}

/// A request that may cost more than `--max-cost` is not sent, nor one of which nobody knows what it costs.
pub(super) fn within(plan: &Plan, tokens: u64) -> Result<(), Reason> {
    let Some(max) = plan.max_cost else { return Ok(()) };
    let Some(prices) = plan.prices else {
        return Err(Reason::new(
            "--max-cost needs prices; set FLECTO_EXPLAIN_PRICE_INPUT and FLECTO_EXPLAIN_PRICE_OUTPUT (per million tokens)",
        ));
    };
    let most = prices.most(plan, tokens);
    if most <= max {
        return Ok(());
    }
    Err(Reason::new(format!(
        "the request may cost up to {most:.4} by your prices, above --max-cost {max}; lower --max-tokens"
    )))
}
