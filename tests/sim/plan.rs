//! What a seed decides: the list, the options, the service, and what happens one after the other.
//!
//! A plan is data, so that a failing one can be made smaller and printed.

use proptest::collection::vec;
use proptest::prelude::*;

/// How many different people there are at most.
pub const PEOPLE: u8 = 24;

#[derive(Debug, Clone)]
pub struct Plan {
    /// Decides what is small: latencies, which requests meet a fault, waits of the program.
    pub seed: u64,
    pub rows: Vec<Row>,
    pub options: Options,
    pub service: Weather,
    pub acts: Vec<Act>,
}

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub person: u8,
    pub campaign: u8,
    pub kind: RowKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    Good,
    /// No number that can be called.
    Bad,
    /// One cell too many.
    Misshapen,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub campaign_column: bool,
    /// Whether campaigns are named, so that the service is asked for their ids.
    pub names: bool,
    pub rate: Rate,
    pub concurrency: Option<u8>,
    pub max_attempts: u8,
    pub timeout_s: u8,
    pub max_outage_s: u32,
    pub holds: bool,
    pub allow_duplicates: bool,
    pub stop_after: u8,
    pub skips_known_bad: bool,
    pub once_for_all: bool,
    pub batch_rows: u8,
    pub slices_filed: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rate {
    Auto,
    Unlimited,
    /// So many in so many seconds.
    Limit(u8, u8),
}

/// How the service fares.
#[derive(Debug, Clone)]
pub struct Weather {
    pub latency_ms: (u16, u16),
    /// Whether it refuses a lead that it has.
    pub refuses_duplicates: bool,
    /// Of a hundred requests, how many meet one of the faults.
    pub faulty_percent: u8,
    pub faults: Vec<Trouble>,
    pub limit: Option<Limit>,
    pub spells: Vec<Spell>,
    /// What becomes of people whom it does not simply take, the first that is given for one.
    pub fates: Vec<(u8, Fate)>,
    /// In which form it says things.
    pub form: u8,
}

impl Weather {
    pub fn fate(&self, person: u8) -> Option<Fate> {
        let mut fates = self.fates.iter();
        fates.find(|(of, _)| *of == person).map(|(_, fate)| *fate)
    }

    pub fn has(&self, fate: Fate) -> bool {
        self.fates.iter().any(|(_, other)| *other == fate)
    }
}

/// What goes wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    NoConnection,
    /// The connection breaks, before or after the lead was made.
    Broken {
        taken: bool,
    },
    /// The answer comes too late, or the request is done too late.
    Late {
        taken: bool,
    },
    Status {
        status: u16,
        taken: bool,
    },
    Unreadable {
        taken: bool,
    },
    Later {
        status: u16,
        hint: Hint,
    },
}

/// How it says how long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hint {
    None,
    Seconds(u8),
    Date(u8),
}

#[derive(Debug, Clone, Copy)]
pub struct Limit {
    pub requests: u8,
    pub seconds: u8,
    pub hint: bool,
}

/// A time in which all requests fare alike.
#[derive(Debug, Clone, Copy)]
pub struct Spell {
    pub from_s: u16,
    pub for_s: u16,
    pub kind: SpellKind,
}

#[derive(Debug, Clone, Copy)]
pub enum SpellKind {
    All(Trouble),
    /// All are refused alike, which may be about the token, the balance or the campaign.
    Refused(u16),
    /// One campaign is refused.
    Campaign(u8, u16),
}

/// What always becomes of a person's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Rejected,
    /// As all are where the campaign, the token or the address is wrong.
    RefusedLikeAll,
    /// It is always asked to come back later.
    ComesBack,
    /// The service breaks.
    Breaks,
    /// What it says of them cannot be read.
    Unreadable,
    /// It was there before.
    Known,
}

impl Fate {
    pub fn is_never_taken(self) -> bool {
        matches!(
            self,
            Fate::Rejected | Fate::RefusedLikeAll | Fate::ComesBack
        )
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// The command is started.
    Start(Until),
    /// Another list with some of the same people is sent.
    Other {
        first: u8,
        people: u8,
        until: Until,
    },
    /// The rejects of the list are sent, if there are some.
    Rejects(Until),
    /// Both lists are sent at once; the other one waits, or does not.
    Both {
        first: u8,
        people: u8,
        waits: bool,
    },
    /// The list is overwritten so long after the next start has begun.
    ChangeLater {
        after_ms: u32,
    },
    /// A run is looked up, or undone: so many before the last one.
    Reconcile {
        before: u8,
        until: Until,
    },
    Undo {
        before: u8,
        until: Until,
    },
    /// A person comes on the do-not-call list.
    Suppress(u8),
    /// The same so long after the next start has begun, if it is still at work.
    SuppressLater {
        person: u8,
        after_ms: u32,
    },
    /// People are added to the list.
    Grow(u8),
    Pause {
        minutes: u8,
    },
}

/// What ends a start.
#[derive(Debug, Clone, Copy)]
pub enum Until {
    Itself,
    /// The process is killed at this step.
    Killed(u16),
    /// The power is cut at this step.
    PowerCut(u16),
    /// The ledger's disk is full for some steps.
    DiskFull {
        from: u16,
        steps: u16,
    },
    /// A signal comes after so long.
    Signal {
        after_ms: u32,
    },
}

pub fn any_plan() -> impl Strategy<Value = Plan> {
    (
        any::<u64>(),
        vec(any_row(), 1..40),
        any_options(),
        any_weather(),
        any_acts(),
    )
        .prop_map(|(seed, rows, options, service, acts)| Plan {
            seed,
            rows,
            options,
            service,
            acts,
        })
}

fn any_row() -> impl Strategy<Value = Row> {
    let kind = prop_oneof![
        12 => Just(RowKind::Good),
        1 => Just(RowKind::Bad),
        1 => Just(RowKind::Misshapen),
    ];
    (0..PEOPLE, prop_oneof![3 => Just(0u8), 1 => 0..3u8], kind).prop_map(
        |(person, campaign, kind)| Row {
            person,
            campaign,
            kind,
        },
    )
}

fn any_options() -> impl Strategy<Value = Options> {
    let rate = prop_oneof![
        2 => Just(Rate::Auto),
        2 => Just(Rate::Unlimited),
        2 => (1..8u8, prop_oneof![Just(1u8), Just(10), Just(60)]).prop_map(|(n, s)| Rate::Limit(n, s)),
    ];
    let first = (
        (
            any::<bool>(),
            prop_oneof![3 => Just(false), 1 => Just(true)],
        ),
        rate,
        prop_oneof![1 => Just(None), 2 => (1..6u8).prop_map(Some)],
        1..6u8,
        prop_oneof![Just(5u8), Just(60)],
        prop_oneof![Just(120u32), Just(3600)],
        prop_oneof![3 => Just(false), 1 => Just(true)],
    );
    let second = (
        prop_oneof![6 => Just(false), 1 => Just(true)],
        prop_oneof![1 => 2..6u8, 2 => Just(50u8)],
        prop_oneof![3 => Just(false), 1 => Just(true)],
        prop_oneof![4 => Just(false), 1 => Just(true)],
        1..20u8,
        0..3u8,
    );
    (first, second).prop_map(|(first, second)| {
        let ((campaign_column, names), rate, concurrency, max_attempts, timeout_s, max_outage_s, holds) = first;
        let (allow_duplicates, stop_after, skips_known_bad, once_for_all, batch_rows, slices_filed) = second;
        Options {
            campaign_column,
            names,
            rate,
            concurrency,
            max_attempts,
            timeout_s,
            max_outage_s,
            holds: holds || allow_duplicates,
            allow_duplicates,
            stop_after,
            skips_known_bad,
            once_for_all,
            batch_rows,
            slices_filed,
        }
    })
}

fn any_trouble() -> impl Strategy<Value = Trouble> {
    let status = prop_oneof![Just(500u16), Just(502), Just(503), Just(504), Just(408)];
    let hint = prop_oneof![
        Just(Hint::None),
        (0..90u8).prop_map(Hint::Seconds),
        (1..90u8).prop_map(Hint::Date)
    ];
    prop_oneof![
        Just(Trouble::NoConnection),
        any::<bool>().prop_map(|taken| Trouble::Broken { taken }),
        any::<bool>().prop_map(|taken| Trouble::Late { taken }),
        (status, any::<bool>()).prop_map(|(status, taken)| Trouble::Status { status, taken }),
        any::<bool>().prop_map(|taken| Trouble::Unreadable { taken }),
        (
            prop_oneof![2 => Just(429u16), 2 => Just(503), 1 => Just(423), 1 => Just(403)],
            hint
        )
            .prop_map(|(status, hint)| Trouble::Later { status, hint }),
    ]
}

/// What a service that is ill says to all; 200 with a body that says that it is refused.
const REFUSED: [u16; 12] = [200, 302, 400, 401, 402, 403, 404, 405, 410, 419, 451, 499];

fn any_weather() -> impl Strategy<Value = Weather> {
    let latency = prop_oneof![Just((5u16, 20u16)), Just((50, 400)), Just((1, 4000))];
    let limit = (
        1..30u8,
        prop_oneof![Just(1u8), Just(10), Just(60)],
        any::<bool>(),
    );
    let limit = limit.prop_map(|(requests, seconds, hint)| Limit {
        requests,
        seconds,
        hint,
    });
    let spell_kind = prop_oneof![
        4 => any_trouble().prop_map(SpellKind::All),
        2 => prop::sample::select(REFUSED.to_vec()).prop_map(SpellKind::Refused),
        1 => (0..3u8, prop_oneof![Just(404u16), Just(403), Just(422)])
            .prop_map(|(campaign, status)| SpellKind::Campaign(campaign, status)),
    ];
    let spell = (0..200u16, 1..600u16, spell_kind).prop_map(|(from_s, for_s, kind)| Spell {
        from_s,
        for_s,
        kind,
    });
    let fate = prop_oneof![
        2 => Just(Fate::Rejected),
        2 => Just(Fate::RefusedLikeAll),
        1 => Just(Fate::ComesBack),
        1 => Just(Fate::Breaks),
        1 => Just(Fate::Unreadable),
        1 => Just(Fate::Known)
    ];
    // One person, or several who stand together in other lists.
    let people = prop_oneof![3 => Just(1u8), 1 => 2..12u8];
    let fates = (0..PEOPLE, people, fate).prop_map(|(first, people, fate)| {
        let people = (first..first + people).map(|person| person % PEOPLE);
        people.map(|person| (person, fate)).collect::<Vec<_>>()
    });
    (
        latency,
        prop_oneof![4 => Just(true), 1 => Just(false)],
        prop_oneof![2 => Just(0u8), 2 => Just(5), 1 => Just(30)],
        vec(any_trouble(), 1..4),
        proptest::option::of(limit),
        vec(spell, 0..3),
        vec(fates, 0..4).prop_map(|fates| fates.concat()),
        any::<u8>(),
    )
        .prop_map(
            |(
                latency_ms,
                refuses_duplicates,
                faulty_percent,
                faults,
                limit,
                spells,
                fates,
                form,
            )| {
                Weather {
                    latency_ms,
                    refuses_duplicates,
                    faulty_percent,
                    faults,
                    limit,
                    spells,
                    fates,
                    form,
                }
            },
        )
}

fn any_until() -> impl Strategy<Value = Until> {
    any_end(any_step())
}

fn any_end(step: impl Strategy<Value = u16> + Clone) -> impl Strategy<Value = Until> {
    prop_oneof![
        2 => Just(Until::Itself),
        2 => step.clone().prop_map(Until::Killed),
        2 => step.clone().prop_map(Until::PowerCut),
        1 => (step, 1..40u16).prop_map(|(from, steps)| Until::DiskFull { from, steps }),
        2 => (0..60_000u32).prop_map(|after_ms| Until::Signal { after_ms }),
    ]
}

/// Each commit has several steps.
fn any_step() -> impl Strategy<Value = u16> + Clone {
    prop_oneof![0..60u16, 0..300u16, 0..1500u16]
}

/// Most of what looks rows up or removes leads is over after a few hundred steps.
fn any_early_step() -> impl Strategy<Value = u16> + Clone {
    prop_oneof![3 => 0..150u16, 1 => any_step()]
}

/// Anything; or two lists that share people, whose runs are looked up and undone again and again.
fn any_acts() -> impl Strategy<Value = Vec<Act>> {
    let of_two_lists = prop_oneof![
        2 => any_until().prop_map(Act::Start),
        2 => any_other(PEOPLE),
        1 => any_reconcile(),
        2 => any_undo(),
    ]
    .boxed();
    // What a killed start has sent is refused as a duplicate to the next one, and removed again.
    let other = (0..PEOPLE, 1..PEOPLE, 20..200u16).prop_map(|(first, people, step)| Act::Other {
        first,
        people,
        until: Until::Killed(step),
    });
    let list = prop_oneof![Just(Until::Itself), any_until()].prop_map(Act::Start);
    let undo = (0..120u16).prop_map(|step| Act::Undo {
        before: 1,
        until: Until::Killed(step),
    });
    let removed_again = (other, list, undo, vec(of_two_lists.clone(), 0..4));
    prop_oneof![
        4 => vec(any_act(), 1..6),
        1 => vec(of_two_lists, 3..8),
        1 => removed_again
            .prop_map(|(other, list, undo, then)| [vec![other, list, undo], then].concat()),
    ]
}

fn any_other(most: u8) -> impl Strategy<Value = Act> {
    (0..PEOPLE, 1..most, any_until()).prop_map(|(first, people, until)| Act::Other {
        first,
        people,
        until,
    })
}

fn any_reconcile() -> impl Strategy<Value = Act> {
    (0..3u8, any_end(any_early_step())).prop_map(|(before, until)| Act::Reconcile { before, until })
}

fn any_undo() -> impl Strategy<Value = Act> {
    (0..3u8, any_end(any_early_step())).prop_map(|(before, until)| Act::Undo { before, until })
}

fn any_act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => any_until().prop_map(Act::Start),
        2 => any_other(8),
        1 => any_until().prop_map(Act::Rejects),
        1 => (0..PEOPLE, 1..8u8, any::<bool>()).prop_map(|(first, people, waits)| Act::Both {
            first,
            people,
            waits,
        }),
        1 => (0..60_000u32).prop_map(|after_ms| Act::ChangeLater { after_ms }),
        2 => any_reconcile(),
        1 => any_undo(),
        1 => (0..PEOPLE).prop_map(Act::Suppress),
        1 => (0..PEOPLE, 0..60_000u32).prop_map(|(person, after_ms)| Act::SuppressLater {
            person,
            after_ms,
        }),
        1 => (1..4u8).prop_map(Act::Grow),
        1 => (1..60u8).prop_map(|minutes| Act::Pause { minutes }),
    ]
}
