//! How much of a limit is used that the user has not given, in minutes two to four of a run, and how
//! many requests are refused. The clock is stopped; the service is the sandbox.
//!
//! Each limit is tried with latencies of 5, 80 and 500 ms (80 alone above 20 a second), with `auto` and with `none`, alone and
//! with a second user of the account, who takes half of it in these minutes. Half of the latency
//! is the way there, where chance makes some requests faster than others.

use super::scenarios::Scenario;

/// `auto` goes no further.
const MOST: f64 = 10.0;

#[derive(Clone, Copy)]
struct Limit {
    shape: &'static str,
    requests: f64,
    per_s: f64,
    burst: usize,
    tells: Tells,
    /// The least that is used, in hundredths, …
    used: f64,
    /// … and of the half that the second user leaves.
    used_when_shared: f64,
    /// The least that is used again when the second user has been gone for four minutes.
    afterwards: f64,
}

/// What the service says of its limit.
#[derive(Clone, Copy, PartialEq)]
enum Tells {
    Nothing,
    /// `Retry-After`, when it refuses.
    Hints,
    /// `X-RateLimit-…` too, with every answer.
    Headers,
}

const fn limit(shape: &'static str, requests: f64, per_s: f64) -> Limit {
    Limit {
        shape,
        requests,
        per_s,
        burst: 0,
        tells: Tells::Nothing,
        used: 95.0,
        used_when_shared: 80.0,
        afterwards: 95.0,
    }
}

impl Limit {
    const fn burst(self, burst: usize) -> Limit {
        Limit { burst, ..self }
    }

    const fn tells(self, tells: Tells) -> Limit {
        Limit { tells, ..self }
    }

    const fn used(self, used: f64) -> Limit {
        Limit {
            used,
            afterwards: used,
            ..self
        }
    }

    /// Without a burst, whatever comes soon after the other user's request is refused: a matter of
    /// chance.
    const fn when_shared(self, used_when_shared: f64) -> Limit {
        Limit {
            used_when_shared,
            ..self
        }
    }

    /// The burst hides the limit for so long that it was not proven when the other user came.
    const fn afterwards(self, afterwards: f64) -> Limit {
        Limit { afterwards, ..self }
    }

    /// In milliseconds. At a fast pace one has to do: there are as many requests as in all others.
    fn latencies(&self) -> &'static [u64] {
        match self.requests / self.per_s > 20.0 {
            true => &[80],
            false => &[5, 80, 500],
        }
    }

    fn pace(&self, rate: &str) -> f64 {
        let pace = self.requests / self.per_s;
        match rate == "auto" && self.tells != Tells::Headers {
            true => pace.min(MOST),
            false => pace,
        }
    }

    fn run(&self, rate: &str, latency_ms: u64, has_other: bool) -> Used {
        let jitter = if latency_ms < 20 { 1 } else { 10 };
        let (least, most) = (latency_ms / 2 - jitter, latency_ms / 2 + jitter);
        let seconds = if has_other { 600 } else { 240 };
        let rows = (self.pace(rate) * f64::from(seconds) * 1.5) as u32;
        let hint = match self.tells {
            Tells::Nothing => "none",
            Tells::Hints | Tells::Headers => "retry_after",
        };
        let is_bucket = ["leaky", "token"].contains(&self.shape);
        let burst = if is_bucket {
            format!("burst = {}", self.burst)
        } else {
            String::new()
        };
        let other = if has_other {
            "other_user = { from_s = 120, until_s = 240 }"
        } else {
            ""
        };
        let text = format!(
            r#"
            rows = {rows}
            [import]
            rate = ["{rate}"]
            max_duration_s = {seconds}
            way_ms = [{least}, {most}]
            [service]
            rate_limit_hint = "{hint}"
            rate_limit_headers = {}
            [[service.rate_limit]]
            shape = "{}"
            requests = {}
            per_s = {}
            {burst}
            {other}"#,
            self.tells == Tells::Headers,
            self.shape,
            self.requests,
            self.per_s,
        );
        let scenario: Scenario = toml_edit::de::from_str(&text).unwrap();
        let answers = scenario.run().answers;
        let shared = if has_other { 2.0 } else { 1.0 };
        let between = |from: f64, to: f64, is: &dyn Fn(u16) -> bool| {
            let answers = answers.iter();
            let within = answers.filter(|(at, status)| (from..to).contains(at) && is(*status));
            within.count() as f64
        };
        let from = 120.0;
        let taken = between(from, 240.0, &|status| status == 200);
        Used {
            share: 100.0 * taken * shared / (self.pace(rate) * (240.0 - from)),
            refused: 100.0 * between(from, 240.0, &|status| status == 429)
                / between(from, 240.0, &|_| true),
            afterwards: 100.0 * between(480.0, 600.0, &|status| status == 200)
                / (self.pace(rate) * 120.0),
        }
    }
}

/// In hundredths.
struct Used {
    /// Of the limit, or of the half of it that the second user leaves.
    share: f64,
    refused: f64,
    /// The least that is used when the second user has been gone for four minutes.
    afterwards: f64,
}

fn check(name: &str, limit: Limit) {
    let mut complaints = Vec::new();
    for (rate, most_refused) in [("auto", 1.0), ("none", 5.0)] {
        for latency in limit.latencies() {
            let alone = limit.run(rate, *latency, false);
            let shared = limit.run(rate, *latency, true);
            println!(
                "{name} {rate} {latency} ms: {:.0} % ({:.1} % refused); shared {:.0} % ({:.1} %), afterwards {:.0} %",
                alone.share, alone.refused, shared.share, shared.refused, shared.afterwards
            );
            let mut hold = |what: &str, holds: bool| {
                if !holds {
                    complaints.push(format!("{rate}, {latency} ms: {what}"));
                }
            };
            hold("used", alone.share >= limit.used);
            hold("refused", alone.refused <= most_refused);
            hold("used when shared", shared.share >= limit.used_when_shared);
            hold("used afterwards", shared.afterwards >= limit.afterwards);
        }
    }
    assert!(complaints.is_empty(), "{name}: {complaints:?}");
}

macro_rules! limits {
    ($($name:ident: $limit:expr,)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name), $limit);
            }
        )*
    };
}

limits! {
    leaky_10_a_second: limit("leaky", 10.0, 1.0).used(80.0).when_shared(0.0),
    leaky_50_a_second_with_a_burst_of_5: limit("leaky", 50.0, 1.0).burst(5).used(94.0).when_shared(70.0),
    leaky_5_a_second_with_a_burst_of_2: limit("leaky", 5.0, 1.0).burst(2),
    leaky_50_a_second_with_a_burst_of_20: limit("leaky", 50.0, 1.0).burst(20),
    token_100_a_minute: limit("token", 100.0, 60.0).burst(10).afterwards(50.0),
    token_20_a_second: limit("token", 20.0, 1.0).burst(40),
    fixed_60_a_minute: limit("fixed", 60.0, 60.0),
    fixed_60_a_minute_with_hints: limit("fixed", 60.0, 60.0).tells(Tells::Hints),
    fixed_300_a_minute: limit("fixed", 300.0, 60.0),
    fixed_300_a_minute_with_hints: limit("fixed", 300.0, 60.0).tells(Tells::Hints),
    fixed_1000_a_minute: limit("fixed", 1000.0, 60.0),
    sliding_100_a_minute: limit("sliding", 100.0, 60.0),
    sliding_100_a_minute_with_hints: limit("sliding", 100.0, 60.0).tells(Tells::Hints),
    sliding_240_a_minute: limit("sliding", 240.0, 60.0).when_shared(60.0),
    sliding_300_a_minute: limit("sliding", 300.0, 60.0),
    sliding_300_a_minute_with_hints: limit("sliding", 300.0, 60.0).tells(Tells::Hints),
    token_3_a_second_with_a_burst_of_100: limit("token", 3.0, 1.0).burst(100).used(90.0),
    sliding_20_in_ten_seconds: limit("sliding", 20.0, 10.0),
    fixed_20_in_ten_seconds: limit("fixed", 20.0, 10.0).tells(Tells::Hints),
    fixed_300_a_minute_that_is_stated: limit("fixed", 300.0, 60.0).tells(Tells::Headers),
    sliding_100_a_minute_that_is_stated: limit("sliding", 100.0, 60.0).tells(Tells::Headers),
}
