//! When it is pointless to continue.
//!
//! Rule: pure. `api::verdict` judges single answers; here the series decides. An expired token
//! or a missing campaign must cost a handful of requests rather than one for each row, and one
//! odd refusal among successes must not end a run of hours:
//!
//! - 401 and 402 stop at once;
//! - any other refusal that is likely to hold for every row of a campaign stops the campaign
//!   if no answer about it has been understood before, or if [`ROWS_IN_A_ROW`] of its rows in a
//!   row get it. Until then the row is put aside; an answer that is understood makes it an
//!   ordinary rejected row. If one campaign after another is refused, the campaigns are not the
//!   cause: [`CAMPAIGNS_IN_A_ROW`] stop the run, more if the refusals are about campaigns. A
//!   refusal about campaign or balance counts for none of this if an earlier attempt of the row
//!   may have been taken: it may well be about that lead;
//! - [`UNUSABLE_IN_A_ROW`] consecutive successes that cannot be read stop the run, and so do as
//!   many rows without a usable answer before the first one that is understood, of a campaign
//!   or of the run. If the service is down, the run waits instead;
//! - a certificate that is not accepted stops at once: it would be the same again;
//! - `--stop-after`: that many consecutive rows rejected with the same status and text, in a
//!   campaign or in the run, have something in common.

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::attempt::Job;
use super::window::Slot;
use crate::api::Answer;
use crate::api::verdict::{FatalCause, Verdict};
use crate::lead::{CampaignId, ErrorCode};
use crate::stop::{Stop, StopReason};
use crate::text::{without_numbers, without_words_of};

/// How many different rows must get such a refusal.
const ROWS_IN_A_ROW: u32 = 3;

/// How many campaigns refused in a row stop the run if the refusals are not about campaigns:
/// three different rows, too.
const CAMPAIGNS_IN_A_ROW: usize = 3;

/// The same if they are: three campaigns may well have been deleted.
const MISSING_CAMPAIGNS_IN_A_ROW: usize = 10;

/// How many consecutive answers must be unusable.
const UNUSABLE_IN_A_ROW: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Consequence {
    GoOn,
    /// The service takes or refuses single rows, so earlier refusals of the campaign's rows
    /// were about those rows alone.
    Understood,
    /// The row waits until it is known whether the refusal was its own.
    PutAside,
    /// Nothing more is sent, and the row has no outcome.
    Stop(Scope, Stop),
    /// The row keeps its outcome, and then nothing more is sent.
    Last(Scope, Stop),
}

/// What ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Campaign,
    Run,
}

#[derive(Debug, Default)]
struct Alike {
    last: Option<(ErrorCode, String)>,
    rows: u32,
}

#[derive(Debug, Default)]
pub(super) struct Series {
    /// Whether any answer has been understood yet: created, duplicate or rejected.
    pub(super) is_understood: bool,
    /// Refused rows since the last answer that was understood.
    fatal_rows: u32,
    /// Rows without a usable answer before the first one that was understood.
    missed: Vec<Slot>,
    rejected: Alike,
}

#[derive(Debug)]
pub(super) struct Stops {
    stop_after: NonZeroU32,
    campaigns: HashMap<CampaignId, Series>,
    /// All campaigns together.
    pub(super) all: Series,
    /// Successes in a row that could not be read.
    unreadable: u32,
    /// Campaigns that were refused since the last answer that was understood.
    refused: Vec<CampaignId>,
}

impl Alike {
    fn is_enough(&mut self, code: ErrorCode, text: &str, enough: NonZeroU32) -> bool {
        match &self.last {
            Some((last_code, last)) if *last_code == code && last == text => self.rows += 1,
            _ => {
                self.last = Some((code, text.to_owned()));
                self.rows = 1;
            }
        }
        self.rows >= enough.get()
    }
}

impl Stops {
    pub(super) fn new(stop_after: NonZeroU32) -> Stops {
        Stops {
            stop_after,
            campaigns: HashMap::new(),
            all: Series::default(),
            unreadable: 0,
            refused: Vec::new(),
        }
    }

    /// Takes the next answer. Each row gets at most one fatal one. With `is_excused` the service
    /// was down, so no row or campaign is to blame for a missing answer.
    pub(super) fn observe(&mut self, job: &Job, is_excused: bool, answer: &Answer) -> Consequence {
        let campaign = job.claim.campaign;
        // If so, a refusal may be about the lead of an earlier attempt.
        let is_in_doubt = job.is_in_doubt();
        let miss = |stops: &mut Stops, code, text| {
            if is_excused {
                Consequence::GoOn
            } else {
                stops.miss(campaign, job.slot, code, text)
            }
        };
        match &answer.verdict {
            Verdict::Created { .. } | Verdict::Duplicate { .. } => {
                self.understand(campaign).rejected = Alike::default();
                self.all.rejected = Alike::default();
                Consequence::Understood
            }
            Verdict::Rejected { .. } if is_in_doubt => {
                self.understand(campaign);
                Consequence::Understood
            }
            Verdict::Fatal {
                cause: FatalCause::Campaign | FatalCause::Balance,
                ..
            } if is_in_doubt => Consequence::GoOn,
            Verdict::Rejected { code, text } => self.reject(campaign, *code, text),
            Verdict::Fatal { cause, text, .. } => self.refuse(campaign, *cause, text),
            Verdict::PerhapsTaken { code, text } => {
                self.unreadable = match code {
                    ErrorCode::UnreadableAnswer => self.unreadable + 1,
                    _ => 0,
                };
                if self.unreadable == UNUSABLE_IN_A_ROW {
                    return Consequence::Stop(
                        Scope::Run,
                        stop(StopReason::UnreadableAnswers(UNUSABLE_IN_A_ROW), text),
                    );
                }
                miss(self, *code, text)
            }
            Verdict::NeverTaken {
                text,
                is_lasting: true,
                ..
            } => Consequence::Stop(
                Scope::Run,
                Stop::new(StopReason::NoConnection(text.clone())),
            ),
            Verdict::NeverTaken { code, text, .. } => miss(self, *code, text),
            Verdict::TokenReplaced => Consequence::GoOn,
            Verdict::RetryLater { .. } => {
                self.unreadable = 0;
                Consequence::GoOn
            }
        }
    }

    fn understand(&mut self, campaign: CampaignId) -> &mut Series {
        self.all.is_understood = true;
        self.unreadable = 0;
        self.refused.clear();
        let series = self.campaigns.entry(campaign).or_default();
        series.is_understood = true;
        series.fatal_rows = 0;
        series
    }

    fn reject(&mut self, campaign: CampaignId, code: ErrorCode, text: &str) -> Consequence {
        let enough = self.stop_after;
        let series = self.understand(campaign);
        let is_campaigns = series.rejected.is_enough(code, text, enough);
        if self.all.rejected.is_enough(code, text, enough) {
            return Consequence::Last(Scope::Run, stop(StopReason::RejectedAlike(enough), text));
        }
        if is_campaigns {
            Consequence::Last(
                Scope::Campaign,
                stop(StopReason::RejectedAlike(enough), text),
            )
        } else {
            Consequence::Understood
        }
    }

    fn refuse(&mut self, campaign: CampaignId, cause: FatalCause, text: &str) -> Consequence {
        if cause.is_certain() {
            return Consequence::Stop(Scope::Run, stop(StopReason::Refused(cause), text));
        }
        let series = self.campaigns.entry(campaign).or_default();
        series.fatal_rows += 1;
        let is_first = !series.is_understood && series.fatal_rows == 1;
        let is_campaigns = is_first || series.fatal_rows >= ROWS_IN_A_ROW;
        if !self.refused.contains(&campaign) {
            self.refused.push(campaign);
        }
        let is_about_all = match cause {
            // If others are understood, these may well be missing.
            FatalCause::Campaign => {
                !self.all.is_understood && self.refused.len() >= MISSING_CAMPAIGNS_IN_A_ROW
            }
            _ => self.refused.len() >= CAMPAIGNS_IN_A_ROW,
        };
        let scope = match (is_about_all, is_campaigns) {
            (true, _) => Scope::Run,
            (false, true) => Scope::Campaign,
            (false, false) => return Consequence::PutAside,
        };
        Consequence::Stop(scope, stop(StopReason::Refused(cause), text))
    }

    /// An attempt without a usable answer.
    fn miss(
        &mut self,
        campaign: CampaignId,
        row: Slot,
        code: ErrorCode,
        text: &str,
    ) -> Consequence {
        let series = self.campaigns.entry(campaign).or_default();
        if series.is_understood {
            return Consequence::GoOn;
        }
        let missed = if self.all.is_understood {
            &mut series.missed
        } else {
            &mut self.all.missed
        };
        if !missed.contains(&row) {
            missed.push(row);
        }
        if missed.len() < UNUSABLE_IN_A_ROW as usize {
            return Consequence::GoOn;
        }
        let reason = StopReason::NoUsableAnswer {
            rows: UNUSABLE_IN_A_ROW,
            last: code,
        };
        let scope = if self.all.is_understood {
            Scope::Campaign
        } else {
            Scope::Run
        };
        Consequence::Stop(scope, stop(reason, text))
    }
}

/// Removes the values of the row from what the service said: everyone who operates the run
/// reads a stop. Our own sentences have none.
pub(super) fn redact_personal_data<'v>(
    mut stop: Stop,
    answer: &Answer,
    values: impl Iterator<Item = &'v str>,
) -> Stop {
    if answer.http_status.is_some() {
        stop.said = stop.said.map(|said| without_words_of(&said, values));
    }
    stop
}

/// A stop with what the service said, without the numbers in it.
fn stop(reason: StopReason, said: &str) -> Stop {
    Stop::new(reason).saying(without_numbers(said))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::StoppedBy;
    use crate::intake::Earlier;
    use crate::lead::RowId;
    use crate::ledger::{Claim, SenderId};
    use crate::phone::PhoneNumber;

    fn answer(verdict: Verdict) -> Answer {
        Answer {
            http_status: None,
            verdict,
            quota: None,
            token: None,
        }
    }

    fn created() -> Answer {
        answer(Verdict::Created {
            lead_id: "1".into(),
            remark: None,
        })
    }

    fn fatal(cause: FatalCause) -> Answer {
        answer(Verdict::Fatal {
            cause,
            code: ErrorCode::Http(404),
            text: "x".into(),
        })
    }

    fn lost(code: ErrorCode) -> Answer {
        answer(Verdict::PerhapsTaken {
            code,
            text: "x".into(),
        })
    }

    fn rejected(text: &str) -> Answer {
        answer(Verdict::Rejected {
            code: ErrorCode::Http(422),
            text: text.into(),
        })
    }

    fn stops() -> Stops {
        Stops::new(NonZeroU32::new(4).unwrap())
    }

    fn row(index: usize, campaign: i64, is_in_doubt: bool) -> Job {
        let claim = Claim {
            row: RowId(1),
            file: 0,
            line: 2,
            number: PhoneNumber::from_e164("+447911000001").unwrap(),
            campaign: CampaignId(campaign),
            resends: false,
            sender: SenderId::default(),
        };
        let earlier = Earlier {
            attempts: 1,
            doubt: is_in_doubt.then(|| "lost".to_owned()),
        };
        Job::new(Slot::new(0, index), claim, Some(&earlier))
    }

    /// What ends first, a campaign or the run, and with which answer.
    fn ends_after(answers: &[(i64, Answer)]) -> Option<(usize, Scope, StoppedBy)> {
        let mut stops = stops();
        let mut answers = answers.iter().enumerate();
        answers.find_map(|(i, (campaign, answer))| {
            match stops.observe(&row(i, *campaign, false), false, answer) {
                Consequence::Stop(scope, stop) | Consequence::Last(scope, stop) => {
                    Some((i, scope, stop.by()))
                }
                _ => None,
            }
        })
    }

    fn stops_after(answers: &[Answer]) -> Option<(usize, StoppedBy)> {
        let of_one: Vec<_> = answers.iter().map(|answer| (1, answer.clone())).collect();
        ends_after(&of_one).map(|(i, _, by)| (i, by))
    }

    #[test]
    fn a_dead_token_stops_at_once_even_after_successes() {
        assert_eq!(
            stops_after(&[created(), fatal(FatalCause::Token)]),
            Some((1, StoppedBy::Token))
        );
        assert_eq!(
            stops_after(&[created(), fatal(FatalCause::Payment)]),
            Some((1, StoppedBy::Balance))
        );
    }

    #[test]
    fn a_missing_campaign_stops_when_it_is_the_first_answer() {
        assert_eq!(
            stops_after(&[fatal(FatalCause::Campaign)]),
            Some((0, StoppedBy::Campaign))
        );
        let timeout = lost(ErrorCode::Timeout);
        assert_eq!(
            stops_after(&[timeout, fatal(FatalCause::Redirect)]),
            Some((1, StoppedBy::Redirect))
        );
    }

    #[test]
    fn among_successes_it_takes_three_rows_in_a_row() {
        let campaign = || fatal(FatalCause::Campaign);
        let answers = [
            created(),
            campaign(),
            campaign(),
            created(),
            campaign(),
            lost(ErrorCode::Timeout),
            campaign(),
            campaign(),
        ];
        assert_eq!(stops_after(&answers), Some((7, StoppedBy::Campaign)));
    }

    #[test]
    fn ten_unreadable_answers_in_a_row_stop() {
        let unreadable = || lost(ErrorCode::UnreadableAnswer);
        let mut answers = vec![created()];
        answers.extend((0..9).map(|_| unreadable()));
        answers.push(lost(ErrorCode::Http(500)));
        answers.extend((0..9).map(|_| unreadable()));
        answers.push(created());
        answers.extend((0..10).map(|_| unreadable()));
        assert_eq!(stops_after(&answers), Some((30, StoppedBy::Unreadable)));
        let at_the_beginning: Vec<Answer> = (0..10).map(|_| unreadable()).collect();
        assert_eq!(
            stops_after(&at_the_beginning),
            Some((9, StoppedBy::Unreadable))
        );
    }

    #[test]
    fn one_campaign_is_refused_alone() {
        let campaign = || fatal(FatalCause::Campaign);
        let answers = [(1, created()), (2, campaign()), (1, created())];
        assert_eq!(
            ends_after(&answers),
            Some((1, Scope::Campaign, StoppedBy::Campaign))
        );
        // Three rows in a row of the campaign, whatever the others are answered.
        let answers = [
            (2, created()),
            (2, campaign()),
            (1, created()),
            (2, campaign()),
            (1, created()),
            (2, campaign()),
        ];
        assert_eq!(
            ends_after(&answers),
            Some((5, Scope::Campaign, StoppedBy::Campaign))
        );
    }

    #[test]
    fn refusals_of_one_campaign_after_another_are_refusals_of_all() {
        let each = |count: i64, cause| -> Vec<Consequence> {
            let mut stops = stops();
            let answer = fatal(cause);
            (0..count)
                .map(|campaign| stops.observe(&row(0, campaign, false), false, &answer))
                .collect()
        };
        let is_run = |c: &Consequence| matches!(c, Consequence::Stop(Scope::Run, _));
        let redirects = each(3, FatalCause::Redirect);
        let run_ends: Vec<bool> = redirects.iter().map(is_run).collect();
        assert_eq!(run_ends, [false, false, true]);
        let missing = each(10, FatalCause::Campaign);
        assert_eq!(missing.iter().position(is_run), Some(9));
    }

    #[test]
    fn consecutive_rows_rejected_with_the_same_text_stop_and_anything_else_restarts_the_count() {
        let no = || rejected("no");
        let answers = [
            no(),
            no(),
            no(),
            created(),
            no(),
            no(),
            rejected("never"),
            no(),
            no(),
            lost(ErrorCode::Timeout),
            no(),
            no(),
            no(),
        ];
        assert_eq!(stops_after(&answers), Some((11, StoppedBy::Rejections)));
    }

    #[test]
    fn rows_of_one_campaign_rejected_with_the_same_text_stop_only_that_campaign() {
        let both = [(1, created()), (2, rejected("no"))];
        let answers: Vec<_> = both.iter().cycle().take(20).cloned().collect();
        assert_eq!(
            ends_after(&answers),
            Some((7, Scope::Campaign, StoppedBy::Rejections))
        );
        let both = [(1, rejected("no")), (2, rejected("no"))];
        let answers: Vec<_> = both.iter().cycle().take(20).cloned().collect();
        assert_eq!(
            ends_after(&answers),
            Some((3, Scope::Run, StoppedBy::Rejections))
        );
    }

    #[test]
    fn ten_rows_without_a_usable_answer_stop_if_there_was_none_before() {
        let lost = || lost(ErrorCode::Http(502));
        let mut answers: Vec<Answer> = (0..9).map(|_| lost()).collect();
        answers.push(answer(Verdict::RetryLater {
            wait: None,
            code: ErrorCode::Http(429),
            text: "x".into(),
        }));
        answers.push(lost());
        assert_eq!(stops_after(&answers), Some((10, StoppedBy::Outage)));
        answers.insert(9, created());
        answers.extend((0..50).map(|_| lost()));
        assert_eq!(stops_after(&answers), None);
    }

    #[test]
    fn a_campaign_without_usable_answers_ends_alone_unless_the_service_is_down() {
        let lost = lost(ErrorCode::Http(500));
        let mut stops = stops();
        stops.observe(&row(0, 1, false), false, &created());
        let mut observe =
            |index, is_excused| stops.observe(&row(index, 2, false), is_excused, &lost);
        for row in 0..50 {
            assert_eq!(observe(row, true), Consequence::GoOn);
        }
        for attempt in 0..50 {
            assert_eq!(observe(attempt % 9, false), Consequence::GoOn);
        }
        assert!(matches!(
            observe(9, false),
            Consequence::Stop(Scope::Campaign, _)
        ));
    }

    /// After a lost answer a refusal may be about the lead that was made.
    #[test]
    fn an_uncertain_row_stops_no_campaign_but_counts_against_the_service() {
        let observe = |stops: &mut Stops, index, is_in_doubt, answer: &Answer| {
            stops.observe(&row(index, 1, is_in_doubt), false, answer)
        };
        let missing = fatal(FatalCause::Campaign);
        let mut stops = stops();
        for row in 0..9 {
            assert_eq!(observe(&mut stops, row, true, &missing), Consequence::GoOn);
        }
        observe(&mut stops, 9, false, &created());
        for (row, is_in_doubt, consequence) in [
            (10, false, Consequence::PutAside),
            (11, true, Consequence::GoOn),
            (12, false, Consequence::PutAside),
            (13, true, Consequence::GoOn),
        ] {
            assert_eq!(observe(&mut stops, row, is_in_doubt, &missing), consequence);
        }
        let third = observe(&mut stops, 14, false, &missing);
        assert!(matches!(third, Consequence::Stop(Scope::Campaign, _)));
        for row in 20..40 {
            let consequence = observe(&mut stops, row, true, &rejected("no"));
            assert_eq!(consequence, Consequence::Understood);
        }
        for cause in [
            FatalCause::Redirect,
            FatalCause::NotTheService,
            FatalCause::Forbidden,
        ] {
            let mut stops = self::stops();
            let first = observe(&mut stops, 50, true, &fatal(cause));
            assert!(matches!(first, Consequence::Stop(..)), "{cause:?}");
        }
        for cause in [FatalCause::Token, FatalCause::Payment] {
            let consequence = observe(&mut stops, 50, true, &fatal(cause));
            assert!(
                matches!(consequence, Consequence::Stop(Scope::Run, _)),
                "{cause:?}"
            );
        }
    }
}
