//! The same list night after night, at a service that refuses some rows, breaks at others, and is
//! ill for some nights; with kills between.

use proptest::prelude::*;

use super::*;
use crate::intake::Earlier;
use crate::lead::RowOutcome;

/// What the service does with a row whenever it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Taken,
    /// As a firewall does, or a campaign that does not call a country.
    RefusedLikeAll,
    Rejected,
    Breaks,
    Unreadable,
    ComesBack,
}

/// What it says to every row of a night.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Illness {
    RefusesAll,
    RejectsAll,
    IsDown,
    Closed,
}

fn verdict(kind: Kind) -> Verdict {
    let text = || "no".to_owned();
    match kind {
        Kind::Taken => created(),
        Kind::RefusedLikeAll => missing_campaign(),
        Kind::Rejected => Verdict::Rejected {
            code: ErrorCode::Http(422),
            text: text(),
        },
        Kind::Breaks => Verdict::PerhapsTaken {
            code: ErrorCode::Http(500),
            text: text(),
        },
        Kind::Unreadable => Verdict::PerhapsTaken {
            code: ErrorCode::UnreadableAnswer,
            text: text(),
        },
        Kind::ComesBack => Verdict::RetryLater {
            wait: Some(Duration::from_secs(2)),
            may_be_taken: false,
            code: ErrorCode::Http(423),
            text: text(),
        },
    }
}

fn of_illness(illness: Illness) -> Verdict {
    match illness {
        Illness::RefusesAll => verdict(Kind::RefusedLikeAll),
        Illness::RejectsAll => verdict(Kind::Rejected),
        Illness::IsDown => verdict(Kind::Breaks),
        Illness::Closed => never_taken(),
    }
}

/// A list, and what is remembered of its rows from start to start, as the ledger does it.
struct Nights {
    kinds: Vec<Kind>,
    policy: Policy,
    outcomes: BTreeMap<u64, RowOutcome>,
    earlier: BTreeMap<u64, Earlier>,
}

/// How a start came out.
struct Night {
    /// `None` if it was killed.
    stop: Option<Option<StoppedBy>>,
    requests: usize,
}

impl Nights {
    fn new(kinds: Vec<Kind>, concurrency: usize) -> Nights {
        Nights {
            kinds,
            policy: Policy {
                concurrency: in_flight(concurrency),
                stop_after: NonZeroU32::new(25).unwrap(),
                ..policy()
            },
            outcomes: BTreeMap::new(),
            earlier: BTreeMap::new(),
        }
    }

    fn has_created(&self, row: u64) -> bool {
        let outcome = self.outcomes.get(&row);
        outcome.is_some_and(|o| o.settled_at.is_some())
    }

    /// Whether the run has shown that the rows it rejected are the reason.
    fn are_the_rows(&self) -> bool {
        let outcomes = || self.outcomes.values();
        let has_taken = outcomes().any(|o| matches!(o.status, Status::Created | Status::Duplicate));
        let rejected = outcomes().filter(|o| o.status == Status::Rejected);
        let codes: HashSet<_> = rejected
            .map(|o| o.error_code.map(|c| c.to_string()))
            .collect();
        has_taken || codes.len() > 1
    }

    fn service(&self, illness: Option<Illness>) -> Service {
        let service = Service::default();
        for (n, kind) in (0..).zip(&self.kinds) {
            let verdict = illness.map_or_else(|| verdict(*kind), of_illness);
            let stores = illness.is_none() && *kind == Kind::Taken;
            service.says(&number(n), vec![reply(50, verdict, stores); 200]);
        }
        // Only where all POSTs fail, the list fails too.
        service.0.borrow_mut().is_away = illness == Some(Illness::IsDown);
        service
    }

    /// One start, which ends by itself or is killed after this time.
    fn start(&mut self, illness: Option<Illness>, killed_after: Option<Duration>) -> Night {
        let service = self.service(illness);
        let numbers = (0..).zip(&self.kinds).map(|(n, _)| number(n) + "\n");
        let list: String = std::iter::once("phone\n".to_owned())
            .chain(numbers)
            .collect();
        let (batches, inputs, runtime) =
            prepare_known(self.policy, &list, 1, None, |row, known| {
                known.outcome = self.outcomes.get(&row).cloned();
                known.earlier = self.earlier.get(&row).cloned().map(Box::new);
            });
        let mut settled = Vec::new();
        let mut note = |event: RunEvent<'_>| {
            if let RunEvent::Settled {
                row,
                outcome,
                sent: true,
                ..
            } = event
            {
                settled.push((row.id().0, outcome.clone()));
            }
        };
        let end = runtime.block_on(async {
            let (results, _done) = mpsc::channel(10_000);
            let (_no_interrupts, interrupts) = mpsc::channel(1);
            let rate = RateController::new(&RateChoice::Unlimited, None);
            let outlet = Outlet::Writer(results);
            let pipeline = Pipeline::new(
                service.clone(),
                self.policy,
                rate,
                inputs,
                outlet,
                &mut note,
            );
            let day = Duration::from_secs(24 * 3600);
            let running = pipeline.run(batches, Interrupts::new(interrupts));
            let end = tokio::time::timeout(killed_after.unwrap_or(day), running).await;
            end.ok()
        });
        let requests = service.0.borrow().attempts.len();
        self.remember(settled, end.as_ref(), &service);
        Night {
            stop: end.map(|end| end.stop.map(|stop| stop.by())),
            requests,
        }
    }

    fn remember(&mut self, settled: Vec<(u64, RowOutcome)>, end: Option<&End>, service: &Service) {
        let before = self.earlier.clone();
        for (row, outcome) in settled {
            let again = match outcome.status {
                Status::Failed => Some((None, false)),
                Status::Uncertain => Some((outcome.error.clone(), false)),
                _ => None,
            };
            if let Some((doubt, was_refused)) = again {
                let attempts = outcome.attempts;
                let earlier = Earlier {
                    attempts,
                    doubt,
                    was_refused,
                };
                self.earlier.insert(row, earlier);
            } else {
                self.earlier.remove(&row);
                self.outcomes.insert(row, outcome);
            }
        }
        let attempts = service.0.borrow().attempts.clone();
        let was_sent = |row: u64| {
            let of = number((row - 1) as u32);
            attempts.iter().any(|(_, sent)| *sent == of)
        };
        let refused = |row: u64, earlier: Option<&Earlier>| Earlier {
            attempts: earlier.map_or(0, |earlier| earlier.attempts) + u32::from(was_sent(row)),
            doubt: None,
            was_refused: true,
        };
        match end {
            Some(end) => {
                for (_, line) in &end.stopped_at {
                    let earlier = refused(line - 1, self.earlier.get(&(line - 1)));
                    self.earlier.insert(line - 1, earlier);
                }
                if end.stop.is_none() {
                    // The next one is a new run, which tries all but those that are there.
                    let is_there = |o: &RowOutcome| o.settled_at.is_some();
                    self.outcomes.retain(|_, outcome| is_there(outcome));
                    for outcome in self.outcomes.values_mut() {
                        outcome.status = Status::AlreadyImported;
                    }
                    self.earlier.retain(|_, earlier| earlier.doubt.is_some());
                }
                for row in &end.tried_again {
                    self.outcomes.remove(&row.0);
                    let earlier = refused(row.0, before.get(&row.0));
                    self.earlier.insert(row.0, earlier);
                }
            }
            None => {
                if !self.are_the_rows() {
                    self.outcomes.retain(|row, outcome| {
                        let is_rejected = outcome.status == Status::Rejected;
                        if is_rejected {
                            self.earlier.insert(*row, refused(*row, before.get(row)));
                        }
                        !is_rejected
                    });
                }
                // Claimed and not settled.
                for row in 1..=self.kinds.len() as u64 {
                    if was_sent(row) && !self.outcomes.contains_key(&row) {
                        let doubt = Some("killed".to_owned());
                        let earlier = Earlier {
                            attempts: 1,
                            doubt,
                            was_refused: false,
                        };
                        self.earlier.entry(row).or_insert(earlier);
                    }
                }
            }
        }
    }

    /// Rows that a well service would take, and that are not there.
    fn missing(&self) -> Vec<u64> {
        let rows = (1..).zip(&self.kinds);
        rows.filter(|(row, kind)| **kind == Kind::Taken && !self.has_created(*row))
            .map(|(row, _)| row)
            .collect()
    }
}

fn any_bad_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::RefusedLikeAll),
        Just(Kind::Rejected),
        Just(Kind::Breaks),
        Just(Kind::Unreadable),
        Just(Kind::ComesBack),
    ]
}

/// Rows that are bad in one way are scattered over the list, up to six of ten. A service that breaks at
/// many in a row looks as if it were away, so of those there are fewer.
fn scattered() -> impl Strategy<Value = Vec<Kind>> {
    (any_bad_kind(), 1u32..7, 10usize..120).prop_flat_map(|(kind, share, rows)| {
        let share = match kind {
            Kind::Breaks | Kind::Unreadable => share.min(3),
            _ => share,
        };
        let row = prop_oneof![share => Just(kind), 10 - share => Just(Kind::Taken)];
        prop::collection::vec(row, rows)
    })
}

/// Rows of one kind stand together: blocks of a list, each with its kind and its length.
fn in_blocks() -> impl Strategy<Value = Vec<Kind>> {
    let good = (1usize..25).prop_map(|rows| vec![Kind::Taken; rows]);
    let bad = (any_bad_kind(), 1usize..40).prop_map(|(kind, rows)| match kind {
        Kind::Breaks | Kind::Unreadable => vec![kind; 1 + rows / 4],
        _ => vec![kind; rows],
    });
    let pair = (bad, good, any::<bool>()).prop_map(|(bad, good, is_first)| match is_first {
        true => [bad, good].concat(),
        false => [good, bad].concat(),
    });
    prop::collection::vec(pair, 1..4).prop_map(|blocks| blocks.concat())
}

/// The service would take at least two of five rows: five from all over it show that.
fn any_list() -> impl Strategy<Value = Vec<Kind>> {
    let lists = prop_oneof![in_blocks(), scattered()];
    lists.prop_filter("nearly all rows are bad", |kinds| {
        let good = kinds.iter().filter(|kind| **kind == Kind::Taken).count();
        good * 5 >= kinds.len() * 2
    })
}

fn any_illness() -> impl Strategy<Value = Illness> {
    prop_oneof![
        Just(Illness::RefusesAll),
        Just(Illness::RejectsAll),
        Just(Illness::IsDown),
        Just(Illness::Closed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_the_service_would_take_is_there_two_starts_after_it_is_well(
        kinds in any_list(),
        concurrency in 1usize..9,
        ill in prop::collection::vec((any_illness(), prop::option::of(1u64..4000)), 0..3),
        kills in prop::collection::vec(1u64..3000, 0..3),
    ) {
        let mut nights = Nights::new(kinds, concurrency);
        for (illness, killed_after) in ill {
            let doubts = nights.earlier.values().filter(|earlier| earlier.doubt.is_some());
            let in_doubt = doubts.count();
            let night = nights.start(Some(illness), killed_after.map(Duration::from_millis));
            let most = match illness {
                // A refusal of a row in doubt may be about its own lead.
                Illness::RefusesAll => 6 + in_doubt,
                Illness::RejectsAll => 25 + concurrency + in_doubt,
                // One request at a time, ever more rarely.
                Illness::IsDown | Illness::Closed => 120,
            };
            prop_assert!(night.requests <= most, "{illness:?}: {}", night.requests);
        }
        for after in kills {
            nights.start(None, Some(Duration::from_millis(after)));
        }
        let (mut starts, mut stops) = (0, Vec::new());
        while !nights.missing().is_empty() {
            let (missing, night) = (nights.missing().len(), nights.start(None, None));
            // Where many rows are refused, six from all over the list may all be such rows; and ten
            // answers in a row that cannot be read stop, whatever was taken.
            let by = night.stop.flatten();
            let left = nights.missing();
            let is_unlucky =
                by.is_some() && left.len() == missing || by == Some(StoppedBy::Unreadable);
            starts += u32::from(!is_unlucky);
            stops.push(night.stop);
            prop_assert!(starts <= 2 && stops.len() < 60, "{left:?} of {missing}: {stops:?}");
        }
    }
}

#[test]
fn a_row_that_met_a_stop_is_sent_though_no_row_before_it_is_taken() {
    let mut kinds = vec![Kind::Breaks; 6];
    kinds[0] = Kind::Taken;
    let mut nights = Nights::new(kinds, 1);
    nights.policy.max_attempts = 1;
    let met_a_stop = Earlier {
        attempts: 1,
        was_refused: true,
        ..Earlier::default()
    };
    nights.earlier.insert(1, met_a_stop);
    nights.start(None, None);
    assert!(nights.has_created(1));
}

#[test]
fn a_row_that_met_a_stop_goes_before_rows_that_keep_the_start_from_coming_to_it() {
    let taken = [Kind::Taken; 2];
    let kinds = [&taken[..1], &[Kind::Unreadable; 30], &taken[1..]].concat();
    let mut nights = Nights::new(kinds, 4);
    let met_a_stop = Earlier {
        attempts: 1,
        was_refused: true,
        ..Earlier::default()
    };
    nights.earlier.insert(32, met_a_stop);
    let night = nights.start(None, None);
    assert_eq!(night.stop, Some(Some(StoppedBy::Unreadable)));
    assert!(nights.has_created(32));
}

#[test]
fn rows_that_were_refused_before_leave_one_whose_answer_was_lost_its_turn() {
    let kinds = [&[Kind::Rejected; 200][..], &[Kind::Taken]].concat();
    // Rejected by another run, or counted by a stop.
    for was_refused in [false, true] {
        let mut nights = Nights::new(kinds.clone(), 4);
        let refused = Earlier {
            was_refused,
            ..Earlier::default()
        };
        nights.earlier = (1..=200).map(|row| (row, refused.clone())).collect();
        let in_doubt = Earlier {
            attempts: 1,
            doubt: Some("lost".to_owned()),
            was_refused: false,
        };
        nights.earlier.insert(201, in_doubt);
        let night = nights.start(None, None);
        // What a stop has counted is rejected once another row was taken.
        let stop = (!was_refused).then_some(StoppedBy::Rejections);
        assert_eq!(night.stop, Some(stop));
        assert!(nights.has_created(201), "{was_refused}");
    }
}
