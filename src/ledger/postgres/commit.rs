//! Writes groups of claims and outcomes, each group completely or not at all.
//!
//! A group is one transaction, sent as a whole without waiting for what comes back, so that it
//! takes one round trip. It may be committed though its answer is lost, and is then repeated: a
//! claim that is there already under this lease is granted, an outcome is written once more, and
//! its starts are counted once. (If the server stays away for so long that the writer gives the
//! group back, it gets another number with the next one, and its starts may count twice: then the
//! pace is slower for a while.)

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::{Error, Row as ServerRow};

use super::PostgresLedger;
use super::claims::{Resolved, resolve};
use super::pace::{self, Reserved, pause_of};
use super::sender::{self, Sender};
use super::session::Session;
use super::statements::{Answers, Statement, statements};
use crate::lead::{RowId, RunId};
use crate::ledger::lease::Moment;
use crate::ledger::row::Row;
use crate::ledger::store::{Failed, Sql};
use crate::ledger::{Claim, Group, LedgerError, NewlySuppressed, Refusal, Reply, SenderId};
use crate::phone::PhoneNumber;
use crate::rate::Rate;

impl PostgresLedger {
    /// Writes the group. When this returns it is on disk, and the reply says which of its claims
    /// were not granted. After an error the same group can be committed again.
    pub fn commit(&mut self, run: RunId, group: &Group) -> Result<Reply, LedgerError> {
        let group = without_ended_claims(group);
        if let Some(sender) = &mut self.sender {
            sender.group += 1;
            if let Some(limits) = &group.limits {
                sender.terms.limits.clone_from(limits);
            }
        }
        let Some(sender) = &self.sender else {
            return Err(LedgerError::lost_run(self.place()));
        };
        let mut lease = sender.id();
        let asked = Moment::now();
        let written = write(&self.session, sender, run, &group)?;
        if let Some(sender) = self.sender.as_mut().filter(|_| !group.starts.is_empty()) {
            sender.last_counted_group = sender.group;
        }
        let mut reply = self.read_reply(&written)?;
        if let Some(known) = group.suppressed_to {
            let mut new = NewlySuppressed::none(known);
            for row in &written.suppressed {
                let added = new.add(&Row::Server(row));
                added.map_err(|failed| self.session.lasting(failed))?;
            }
            reply.suppressed = Some(new);
        }
        if written.is_renewed {
            self.note_renewal(asked);
        } else if !written.has_lease {
            self.acquire_again()?;
        }
        let mut not_granted = group.claims.clone();
        not_granted.retain(|claim| !written.granted.contains(&claim.row));
        let claimed_at_ms = group.claimed_at_ms;
        reply.refused = self.resolve_all(&not_granted, claimed_at_ms)?;
        while self.sender_id() != lease {
            // There is another lease by now, under which all of them have to be claimed.
            lease = self.sender_id();
            reply.refused = self.resolve_all(&group.claims, claimed_at_ms)?;
        }
        if let Some(limits) = &group.limits {
            self.keep_to(limits)?;
            reply.is_paced |= !limits.is_empty();
        }
        reply.sender = lease;
        // For show alone: the group is committed.
        let claimed_by = self.claimed_by(&group.claims, &reply.refused);
        reply.claimed_by = claimed_by.ok().flatten();
        Ok(reply)
    }

    /// Whose claims this run waits for, and for how long at most.
    fn claimed_by(
        &self,
        claims: &[Claim],
        refused: &[(RowId, Refusal)],
    ) -> Result<Option<(Arc<str>, Duration)>, LedgerError> {
        let busy = refused.iter().filter(|(_, why)| *why == Refusal::Busy);
        let busy: HashSet<RowId> = busy.map(|(row, _)| *row).collect();
        let Some(sender) = self.sender.as_ref().filter(|_| !busy.is_empty()) else {
            return Ok(None);
        };
        let claims = claims.iter().filter(|claim| busy.contains(&claim.row));
        let numbers: Vec<PhoneNumber> = claims.map(|claim| claim.number).collect();
        let session = &self.session;
        let lease = session.read(|sql| sender::claimed_by(sql, sender, &numbers))?;
        Ok(lease.map(|lease| {
            let by = match lease.at_work.run == sender.run {
                true => "an earlier start of this run".into(),
                false => lease.at_work.whose().into(),
            };
            (by, lease.left)
        }))
    }

    pub(in crate::ledger) fn sender_id(&self) -> SenderId {
        self.sender.as_ref().map(Sender::id).unwrap_or_default()
    }

    fn read_reply(&mut self, written: &Written) -> Result<Reply, LedgerError> {
        let Some(news) = &written.news else {
            return Err(LedgerError::lost_run(self.place()));
        };
        let news = Row::Server(news);
        let read = || -> Result<(Reply, i64), Failed> {
            let reply = Reply {
                is_shared: true,
                is_paced: news.get(0)?,
                pause: pause_of(news.get(1)?, news.get(2)?),
                ..Reply::default()
            };
            Ok((reply, news.get(4)?))
        };
        let (reply, now) = read().map_err(|failed| self.session.lasting(failed))?;
        let Some(sender) = &mut self.sender else {
            return Ok(reply);
        };
        sender.clock.see(now);
        let starts = written.starts.as_ref();
        let starts = starts.map(|row| Reserved::read(&Row::Server(row)));
        let starts = starts
            .transpose()
            .map_err(|failed| self.session.lasting(failed))?;
        Ok(Reply {
            starts: starts.map_or_else(Vec::new, |starts| sender.clock.times(&starts)),
            ..reply
        })
    }

    /// Lets new limits of this run hold for all.
    fn keep_to(&self, limits: &[Rate]) -> Result<(), LedgerError> {
        let Some(sender) = &self.sender else {
            return Ok(());
        };
        let (id, service) = (sender.id(), sender.service);
        let space = pace::space_of(limits);
        self.session.write(|sql| {
            sql.change(pace::SET_SPACE, &[id.into(), space.into()])?;
            pace::join(sql, service, id, limits)
        })
    }

    /// Decides about claims one by one, in a lease that is under way.
    fn resolve_all(
        &mut self,
        claims: &[Claim],
        claimed_at_ms: i64,
    ) -> Result<Vec<(RowId, Refusal)>, LedgerError> {
        loop {
            let Some(sender) = self.sender.as_ref().filter(|_| !claims.is_empty()) else {
                return Ok(Vec::new());
            };
            let resolved: Resolved = self
                .session
                .write(|sql| resolve(sql, sender, claims, claimed_at_ms))?;
            match resolved {
                Some(refused) => return Ok(refused),
                None => self.acquire_again()?,
            }
        }
    }
}

/// Leaves out claims that the group itself ends: no request was started for them.
fn without_ended_claims(group: &Group) -> Cow<'_, Group> {
    let settled = group.settlements.iter().map(|settled| settled.claim.row);
    let ended: HashSet<RowId> = settled.chain(group.releases.iter().copied()).collect();
    let is_ended = |claim: &Claim| ended.contains(&claim.row);
    if !group.claims.iter().any(is_ended) {
        return Cow::Borrowed(group);
    }
    let mut kept = group.clone();
    kept.claims.retain(|claim| !is_ended(claim));
    Cow::Owned(kept)
}

/// What came back for a group.
#[derive(Debug, Default)]
struct Written {
    granted: HashSet<RowId>,
    is_renewed: bool,
    has_lease: bool,
    news: Option<ServerRow>,
    starts: Option<ServerRow>,
    suppressed: Vec<ServerRow>,
}

fn write(
    session: &Session,
    sender: &Sender,
    run: RunId,
    group: &Group,
) -> Result<Written, LedgerError> {
    let statements = statements(session, sender, run, group);
    let sent = statements.iter();
    let sent: Vec<_> = sent
        .map(|statement| (&*statement.sql, &*statement.values))
        .collect();
    let answers = session.at_once(&sent)?;
    let written = written(&statements, answers);
    written.map_err(|error| LedgerError::of_server(&session.place, &error))
}

/// What the answers to the statements say.
fn written(statements: &[Statement<'_>], answers: Vec<Vec<ServerRow>>) -> Result<Written, Error> {
    let mut written = Written::default();
    for (statement, rows) in statements.iter().zip(answers) {
        let first = rows.first();
        match statement.answers {
            Answers::Nothing => {}
            Answers::Renewal => written.is_renewed = first.is_some(),
            Answers::Claims => {
                for row in &rows {
                    let row: i64 = row.try_get(0)?;
                    written.granted.insert(RowId(row.cast_unsigned()));
                }
            }
            Answers::News => {
                written.has_lease = first.is_some_and(|row| row.try_get(3).unwrap_or(false));
                written.news = rows.into_iter().next();
            }
            Answers::Starts => {
                written.starts = rows.into_iter().next();
            }
            Answers::Suppressed => written.suppressed = rows,
        }
    }
    Ok(written)
}
