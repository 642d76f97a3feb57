//! When it is pointless to continue.
//!
//! Rule: pure. `api::verdict` judges single answers; here the series decides. An expired token
//! or a missing campaign must cost a handful of requests rather than one for each row; one
//! odd refusal must neither end a run of hours nor keep the rows behind it from being sent:
//!
//! - 401 and 402 stop at once (a 401 only where no other token comes, see `token_wait`);
//! - after any other refusal that may hold for every row of a campaign, other rows of it are tried
//!   one by one. If one is taken, the refusal was the row's own; after [`EXPECTED`] of these, only
//!   as many in a row as are probed otherwise are a reason to probe again. If [`PROBES`] of them are refused
//!   too, the campaign stops. If one campaign after another is refused, the campaigns are
//!   not the cause: then the run stops, after [`MISSING_CAMPAIGNS`] if the refusals are about
//!   campaigns. A refusal about campaign or balance counts for none of this if an earlier attempt
//!   of the row may have been taken: it may well be about that lead;
//! - a row that was refused in an earlier start, and again after another row was taken, is the
//!   cause itself, and counts for none of this either;
//! - [`UNUSABLE_IN_A_ROW`] consecutive successes that cannot be read stop the run, and so do as
//!   many rows without a usable answer before the first one that is understood, of a campaign
//!   or of the run. If the service is down, the run waits instead;
//! - a certificate that is not accepted stops at once: it would be the same again;
//! - `--stop-after`: that many consecutive rows rejected with the same status and text, in a
//!   campaign or in the run, have something in common.

use std::collections::HashMap;
use std::iter;
use std::num::NonZeroU32;

use super::attempt::Job;
use super::window::Slot;
use crate::api::Answer;
use crate::api::verdict::{FatalCause, Verdict, naming};
use crate::lead::{CampaignId, ErrorCode, RowOutcome, Status};
use crate::ledger::Claim;
use crate::message::Text;
use crate::stop::{Stop, StopReason};
use crate::text::{without_numbers, without_words_of};

/// How many rows from elsewhere must be refused too, each sent alone.
const PROBES: u32 = 5;

/// How many must be refused in a start after one that was stopped, once a row was taken: rows that are refused for
/// themselves are then known to be many.
const PROBES_AGAIN: u32 = 10;

/// After how many refused rows of a campaign single refusals are nothing new.
const EXPECTED: usize = 3;

/// How many campaigns must be missing, one after the other, before any row was understood.
const MISSING_CAMPAIGNS: usize = 10;

/// How many consecutive answers must be unusable.
const UNUSABLE_IN_A_ROW: u32 = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Consequence {
    GoOn,
    /// The service takes or refuses single rows.
    Understood,
    /// It has taken one, so earlier refusals of the campaign's rows were about those rows alone.
    Taken,
    /// The row waits until it is known whether the refusal was its own, or is a stop.
    PutAside(Stop),
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

/// A rejected row, with its outcome.
pub(super) type Counted = (Claim, RowOutcome);

/// Consecutive rows that were rejected with the same status and text.
#[derive(Debug, Default)]
struct Alike {
    last: Option<(ErrorCode, String)>,
    rows: Vec<Counted>,
    /// Since which refusal rows from elsewhere are sent alone; what was sent before does not count.
    probing_since: Option<u64>,
    has_stopped: bool,
}

/// Refusals that may hold for every row, since one was taken.
#[derive(Debug, Default)]
struct Refusals {
    /// Their numbers, counted over the whole run.
    at: Vec<u64>,
    /// Since which of them rows from elsewhere are sent alone to find out what they mean, …
    probing_since: Option<u64>,
    /// … and how many of those were refused too.
    probes: u32,
    /// How many refusals were the row's own.
    explained: usize,
}

#[derive(Debug, Default)]
pub(super) struct Series {
    /// Whether any answer has been understood yet: created, duplicate or rejected.
    pub(super) is_understood: bool,
    /// Whether any row has been taken yet: created or duplicate.
    has_taken: bool,
    refusals: Refusals,
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
    /// The rows of successes in a row that could not be read.
    unreadable: Vec<Slot>,
    /// Campaigns that were refused since a row was taken.
    refused: Vec<CampaignId>,
    /// How many refusals there were that may hold for every row.
    pub(super) refusals: u64,
    /// Whether an earlier start was stopped by rows that are tried again by this one.
    pub(super) follows_stop: bool,
}

impl Alike {
    /// Counts a row that was rejected for this reason, and sent after `before` refusals. Returns
    /// whether that makes enough of them, for the first time.
    fn is_enough(
        &mut self,
        reason: &(ErrorCode, String),
        row: Counted,
        before: u64,
        enough: NonZeroU32,
    ) -> bool {
        match self.last.as_ref() == Some(reason) {
            // What was in flight at the stop still comes.
            _ if self.has_stopped || self.probing_since.is_some_and(|since| before < since) => {}
            true => self.rows.push(row),
            false => {
                self.last = Some(reason.clone());
                self.rows = vec![row];
                self.probing_since = None;
            }
        }
        let has_now = !self.has_stopped && self.rows.len() >= enough.get() as usize;
        self.has_stopped |= has_now;
        has_now
    }

    fn end(&mut self) {
        if !self.has_stopped {
            *self = Alike::default();
        }
    }
}

impl Refusals {
    /// Counts refusal number `at`, of a row that was sent after `before` of them.
    fn count(&mut self, at: u64, before: u64) {
        self.at.push(at);
        let is_nothing_new = self.explained >= EXPECTED && self.at.len() <= PROBES as usize;
        match self.probing_since {
            Some(since) => self.probes += u32::from(before >= since),
            None if is_nothing_new => {}
            None => self.probing_since = Some(at),
        }
    }

    /// A row was taken that was sent after `before` refusals: these were the rows' own.
    fn explain(&mut self, before: u64) {
        let open = self.at.len();
        self.at.retain(|at| *at > before);
        self.explained += open - self.at.len();
        self.probes = 0;
        if self.at.is_empty() {
            self.probing_since = None;
        }
    }
}

impl Stops {
    pub(super) fn new(stop_after: NonZeroU32) -> Stops {
        Stops {
            stop_after,
            campaigns: HashMap::new(),
            all: Series::default(),
            unreadable: Vec::new(),
            refused: Vec::new(),
            refusals: 0,
            follows_stop: false,
        }
    }

    /// Whether the service has taken a row of the campaign.
    pub(super) fn has_taken(&self, campaign: CampaignId) -> bool {
        let series = self.campaigns.get(&campaign);
        series.is_some_and(|series| series.has_taken)
    }

    /// Whether the service has taken a row of a campaign that is none of these.
    pub(super) fn takes_others(&self, refused: &[(CampaignId, Stop)]) -> bool {
        let is_refused = |campaign| refused.iter().any(|(of, _)| of == campaign);
        let mut others = self.campaigns.iter();
        others.any(|(campaign, series)| series.has_taken && !is_refused(campaign))
    }

    /// Whether rows of the campaign are sent alone to find out if it takes any. What stopped an
    /// earlier start by rows rejected alike may stand in front of others.
    pub(super) fn is_probing(&self, campaign: CampaignId) -> bool {
        let series = self.campaigns.get(&campaign);
        let since = series.and_then(|of| of.refusals.probing_since.or(of.rejected.probing_since));
        since.is_some()
    }

    /// The open refusals of the campaign are settled in another way.
    pub(super) fn forget_refusals(&mut self, campaign: CampaignId) {
        if let Some(series) = self.campaigns.get_mut(&campaign) {
            series.refusals.at.clear();
            series.refusals.probing_since = None;
            series.refusals.probes = 0;
        }
    }

    /// Where others are taken, a row counts once, and one that kept an earlier start from going on does
    /// not count.
    fn count_unreadable(&mut self, job: &Job, code: ErrorCode) {
        if code != ErrorCode::UnreadableAnswer {
            self.unreadable.clear();
        } else if !self.all.has_taken || !job.was_tried && !self.unreadable.contains(&job.slot) {
            self.unreadable.push(job.slot);
        }
    }

    /// Takes the next answer. With `is_excused` the service was down, so no row or campaign is to
    /// blame for a missing answer.
    pub(super) fn observe(&mut self, job: &Job, is_excused: bool, answer: &Answer) -> Consequence {
        let campaign = job.claim.campaign;
        // If so, a refusal may be about the lead of an earlier attempt.
        let is_in_doubt = job.is_in_doubt();
        let is_its_own = job.was_refused && self.has_taken(campaign);
        match &answer.verdict {
            Verdict::Created { .. } | Verdict::Duplicate { .. } => {
                self.take(campaign, job.refusals_before);
                Consequence::Taken
            }
            Verdict::Rejected { .. } if is_in_doubt || is_its_own => {
                self.understand(campaign);
                Consequence::Understood
            }
            Verdict::Fatal {
                cause: FatalCause::Campaign | FatalCause::Balance,
                ..
            } if is_in_doubt => Consequence::GoOn,
            Verdict::Fatal { cause, .. } if is_its_own && !cause.is_certain() => Consequence::GoOn,
            Verdict::Rejected { code, text } => {
                let outcome = RowOutcome {
                    http_status: answer.http_status,
                    ..job.outcome(Status::Rejected, (*code, Text::said(text)))
                };
                let reason = (*code, text.clone());
                self.reject((job.claim, outcome), &reason, job.refusals_before)
            }
            Verdict::Fatal { cause, text, .. } => self.refuse(job, *cause, text),
            Verdict::PerhapsTaken { code, text } => {
                self.count_unreadable(job, *code);
                if self.unreadable.len() == UNUSABLE_IN_A_ROW as usize {
                    let reason = StopReason::UnreadableAnswers(UNUSABLE_IN_A_ROW);
                    return Consequence::Stop(Scope::Run, stop(reason, text));
                }
                self.miss(job, is_excused, *code, text)
            }
            Verdict::NeverTaken {
                text,
                cure: Some(cure),
                ..
            } => {
                let (why, cure) = (text.clone(), *cure);
                let stop = Stop::new(StopReason::NoConnection { why, cure });
                Consequence::Stop(Scope::Run, stop)
            }
            Verdict::NeverTaken { code, text, .. } => self.miss(job, is_excused, *code, text),
            Verdict::TokenReplaced => Consequence::GoOn,
            Verdict::RetryLater { .. } => {
                self.unreadable.clear();
                Consequence::GoOn
            }
        }
    }

    fn take(&mut self, campaign: CampaignId, refusals_before: u64) {
        self.refused.clear();
        for series in [&mut self.all, self.campaigns.entry(campaign).or_default()] {
            series.has_taken = true;
            series.rejected.end();
            series.refusals.explain(refusals_before);
        }
        self.understand(campaign);
    }

    fn understand(&mut self, campaign: CampaignId) -> &mut Series {
        self.all.is_understood = true;
        self.unreadable.clear();
        let series = self.campaigns.entry(campaign).or_default();
        series.is_understood = true;
        series
    }

    fn reject(&mut self, row: Counted, reason: &(ErrorCode, String), before: u64) -> Consequence {
        let (enough, refusals) = (self.stop_after, self.refusals + 1);
        let follows_stop = self.follows_stop;
        let of = &mut self.understand(row.0.campaign).rejected;
        let is_campaigns = of.is_enough(reason, row.clone(), before, enough);
        let is_probing = follows_stop && of.rows.len() == PROBES as usize;
        let all = &mut self.all.rejected;
        let is_runs = all.is_enough(reason, row.clone(), before, enough);
        if is_probing {
            self.refusals = refusals;
            all.probing_since.get_or_insert(refusals);
            let of = &mut self.understand(row.0.campaign).rejected;
            of.probing_since.get_or_insert(refusals);
        }
        let scope = match (is_runs, is_campaigns) {
            (true, _) => Scope::Run,
            (false, true) => Scope::Campaign,
            (false, false) => return Consequence::Understood,
        };
        Consequence::Last(scope, stop(StopReason::RejectedAlike(enough), &reason.1))
    }

    /// The rows that stops for rows rejected alike have counted: the next start tries them again.
    pub(super) fn counted(&mut self) -> Vec<Counted> {
        let all = iter::once(&mut self.all).chain(self.campaigns.values_mut());
        let stopped = all.filter(|series| series.rejected.has_stopped);
        let rows = stopped.map(|series| std::mem::take(&mut series.rejected.rows));
        rows.flatten().collect()
    }

    /// Whether a row of the campaign that is rejected from now on is tried again like those.
    pub(super) fn has_counted(&self, campaign: CampaignId) -> bool {
        let series = self.campaigns.get(&campaign);
        self.all.rejected.has_stopped || series.is_some_and(|of| of.rejected.has_stopped)
    }

    fn refuse(&mut self, job: &Job, cause: FatalCause, text: &str) -> Consequence {
        let (campaign, before) = (job.claim.campaign, job.refusals_before);
        let stop = stop(StopReason::Refused(cause), text);
        if cause.is_certain() {
            return Consequence::Stop(Scope::Run, stop);
        }
        self.refusals += 1;
        if !self.refused.contains(&campaign) {
            self.refused.push(campaign);
        }
        let series = self.campaigns.entry(campaign).or_default();
        series.refusals.count(self.refusals, before);
        let most = match self.follows_stop && series.has_taken {
            true => PROBES_AGAIN,
            false => PROBES,
        };
        let is_campaigns = series.refusals.probes >= most;
        let is_about_all = match cause {
            // If others are understood, these may well be missing.
            FatalCause::Campaign => {
                !self.all.is_understood && self.refused.len() >= MISSING_CAMPAIGNS
            }
            _ => {
                self.all.refusals.count(self.refusals, before);
                self.all.refusals.probes >= most && self.refused.len() > 1
            }
        };
        match (is_about_all, is_campaigns) {
            (true, _) => Consequence::Stop(Scope::Run, stop),
            (false, true) => Consequence::Stop(Scope::Campaign, stop),
            (false, false) => Consequence::PutAside(stop),
        }
    }

    /// An attempt without a usable answer. A row that an earlier start has tried may be what kept
    /// that one from going on.
    fn miss(&mut self, job: &Job, is_excused: bool, code: ErrorCode, text: &str) -> Consequence {
        let series = self.campaigns.entry(job.claim.campaign).or_default();
        if is_excused || job.was_tried || series.is_understood {
            return Consequence::GoOn;
        }
        let (missed, scope) = if self.all.is_understood {
            (&mut series.missed, Scope::Campaign)
        } else {
            (&mut self.all.missed, Scope::Run)
        };
        if !missed.contains(&job.slot) {
            missed.push(job.slot);
        }
        if missed.len() < UNUSABLE_IN_A_ROW as usize {
            return Consequence::GoOn;
        }
        let reason = StopReason::NoUsableAnswer {
            rows: UNUSABLE_IN_A_ROW,
            last: code,
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
        let request_id = answer.request_id.as_deref();
        let shown = stop.said.map(|said| without_words_of(&said, values));
        stop.said = shown.map(|said| naming(&said, request_id).to_string());
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
            request_id: None,
            token: None,
            ahead: None,
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

    /// What such a refusal leads to, unless it stops.
    fn put_aside(cause: FatalCause) -> Consequence {
        Consequence::PutAside(stop(StopReason::Refused(cause), "x"))
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
            doubt: is_in_doubt.then(|| Text::said("lost")),
            was_refused: false,
        };
        Job::new(Slot::new(0, index), claim, is_in_doubt.then_some(&earlier))
    }

    /// What ends first, a campaign or the run, and with which answer, if each request starts after
    /// the answer before it.
    fn ends_after(answers: &[(i64, Answer)]) -> Option<(usize, Scope, StoppedBy)> {
        let mut stops = stops();
        let mut answers = answers.iter().enumerate();
        answers.find_map(|(i, (campaign, answer))| {
            let mut row = row(i, *campaign, false);
            row.refusals_before = stops.refusals;
            match stops.observe(&row, false, answer) {
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
    fn a_refusal_stops_when_five_rows_sent_after_it_are_refused_too() {
        for cause in [
            FatalCause::Campaign,
            FatalCause::Forbidden,
            FatalCause::Redirect,
            FatalCause::NotTheService,
            FatalCause::Balance,
        ] {
            let mut answers = vec![fatal(cause); 6];
            assert_eq!(stops_after(&answers), Some((5, cause.into())));
            // Other answers in between say nothing about it, …
            answers.insert(1, lost(ErrorCode::Timeout));
            answers.insert(3, rejected("no"));
            assert_eq!(stops_after(&answers), Some((7, cause.into())));
            // … but a row that is taken does.
            answers.insert(5, created());
            assert_eq!(stops_after(&answers), None);
        }
    }

    #[test]
    fn what_was_sent_before_a_refusal_does_not_explain_it() {
        let mut stops = stops();
        let campaign = CampaignId(1);
        let refused = fatal(FatalCause::Forbidden);
        for index in 0..20 {
            // In flight together.
            let consequence = stops.observe(&row(index, 1, false), false, &refused);
            assert_eq!(consequence, put_aside(FatalCause::Forbidden));
        }
        let mut taken = row(20, 1, false);
        stops.observe(&taken, false, &created());
        assert!(stops.is_probing(campaign) && stops.has_taken(campaign));
        taken.refusals_before = stops.refusals;
        stops.observe(&taken, false, &created());
        assert!(!stops.is_probing(campaign));
        assert!(stops.takes_others(&[]));
        let of_it = (
            campaign,
            stop(StopReason::Refused(FatalCause::Forbidden), "x"),
        );
        assert!(!stops.takes_others(&[of_it]));
    }

    #[test]
    fn refusals_that_were_the_rows_own_are_probed_only_if_many_follow_each_other() {
        let mut stops = stops();
        let mut observe = |answer| {
            let mut row = row(0, 1, false);
            row.refusals_before = stops.refusals;
            let _ = stops.observe(&row, false, &answer);
            stops.is_probing(row.claim.campaign)
        };
        let refused = || fatal(FatalCause::Forbidden);
        for _ in 0..EXPECTED {
            assert!(observe(refused()));
            assert!(!observe(created()));
        }
        let probing: Vec<bool> = (0..7).map(|_| observe(refused())).collect();
        assert_eq!(probing, [false, false, false, false, false, true, true]);
    }

    #[test]
    fn refusals_that_are_settled_in_another_way_do_not_count_any_more() {
        let mut stops = stops();
        let refused = fatal(FatalCause::Campaign);
        for times in [4, 6] {
            for index in 0..times {
                let mut row = row(index, 1, false);
                row.refusals_before = stops.refusals;
                let consequence = stops.observe(&row, false, &refused);
                let is_last = index == 5;
                assert_eq!(
                    is_last,
                    matches!(consequence, Consequence::Stop(Scope::Campaign, _))
                );
            }
            assert!(stops.is_probing(CampaignId(1)));
            stops.forget_refusals(CampaignId(1));
            assert!(!stops.is_probing(CampaignId(1)));
        }
    }

    #[test]
    fn a_row_that_was_refused_before_is_the_cause_once_another_one_is_taken() {
        let mut stops = stops();
        let mut again = row(0, 1, false);
        again.was_refused = true;
        let mut observe = |answer| stops.observe(&again, false, &answer);
        let missing = FatalCause::Campaign;
        assert_eq!(observe(fatal(missing)), put_aside(missing));
        observe(created());
        for _ in 0..20 {
            assert_eq!(observe(fatal(FatalCause::Campaign)), Consequence::GoOn);
            assert_eq!(observe(rejected("no")), Consequence::Understood);
        }
        let certain = observe(fatal(FatalCause::Token));
        assert!(matches!(certain, Consequence::Stop(Scope::Run, _)));
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
        let both = [(2, fatal(FatalCause::Forbidden)), (1, created())];
        let answers: Vec<_> = both.iter().cycle().take(20).cloned().collect();
        assert_eq!(
            ends_after(&answers),
            Some((10, Scope::Campaign, StoppedBy::Token))
        );
        let alone = vec![(2, fatal(FatalCause::Forbidden)); 6];
        assert_eq!(
            ends_after(&alone),
            Some((5, Scope::Campaign, StoppedBy::Token))
        );
    }

    #[test]
    fn refusals_of_one_campaign_after_another_are_refusals_of_all() {
        let each = |cause| -> Option<(usize, Scope, StoppedBy)> {
            let answers = (0..20).map(|campaign| (campaign, fatal(cause)));
            ends_after(&answers.collect::<Vec<_>>())
        };
        let redirected = each(FatalCause::Redirect);
        assert_eq!(redirected, Some((5, Scope::Run, StoppedBy::Redirect)));
        let missing = each(FatalCause::Campaign);
        assert_eq!(missing, Some((9, Scope::Run, StoppedBy::Campaign)));
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
            may_be_taken: false,
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
            (10, false, put_aside(FatalCause::Campaign)),
            (11, true, Consequence::GoOn),
            (12, false, put_aside(FatalCause::Campaign)),
            (13, true, Consequence::GoOn),
        ] {
            assert_eq!(observe(&mut stops, row, is_in_doubt, &missing), consequence);
        }
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
            assert_eq!(first, put_aside(cause));
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
