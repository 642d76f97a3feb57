//! Requests under way.

use std::collections::HashMap;
use std::pin::Pin;

use bytes::Bytes;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use super::LeadSender;
use super::attempt::Job;
use super::window::Slot;
use crate::api::Answer;

/// How many bytes of bodies are in flight together before no other one starts. A row may be of a
/// megabyte, its body of several, and its answer may repeat it.
const MAX_BODIES: usize = 3 << 20;

type Answers = FuturesUnordered<Pin<Box<dyn Future<Output = Arrived>>>>;

/// What has come back.
#[derive(Debug)]
pub(super) enum Arrived {
    Lead(Slot, Answer),
    /// Whether the list of campaigns came.
    List(bool),
}

#[derive(Debug)]
pub(super) struct Flight {
    pub(super) job: Job,
    pub(super) started: Instant,
    /// Whether it was the limit of requests in flight that let no other one start.
    pub(super) was_full: bool,
    pub(super) body: usize,
}

/// All of them, as futures in one set: no lock and no task per request.
pub(super) struct InFlight<S> {
    pub(super) sender: S,
    pub(super) answers: Answers,
    pub(super) flights: HashMap<Slot, Flight>,
    /// When the list of campaigns was asked for, while it is awaited.
    pub(super) list: Option<Instant>,
    pub(super) requests: u64,
}

impl<S: LeadSender> InFlight<S> {
    pub(super) fn new(sender: S) -> InFlight<S> {
        InFlight {
            sender,
            answers: FuturesUnordered::new(),
            flights: HashMap::new(),
            list: None,
            requests: 0,
        }
    }

    /// Asks for the list of campaigns, to see if the service is there.
    pub(super) fn ask_for_list(&mut self, now: Instant) {
        let list = self.sender.lists_campaigns();
        self.answers
            .push(Box::pin(async move { Arrived::List(list.await) }));
        self.list = Some(now);
    }

    /// Starts a request for a lead. The one place that sends.
    pub(super) fn start(&mut self, flight: Flight, body: Bytes) {
        let slot = flight.job.slot;
        let answer = self.sender.send(body);
        self.answers
            .push(Box::pin(async move { Arrived::Lead(slot, answer.await) }));
        self.requests += 1;
        self.flights.insert(slot, flight);
    }

    /// Whether another body may go beside those in flight.
    pub(super) fn has_room(&self) -> bool {
        let bodies = self.flights.values().map(|flight| flight.body);
        bodies.sum::<usize>() < MAX_BODIES
    }

    pub(super) fn starts(&self) -> impl Iterator<Item = Instant> {
        let flights = self.flights.values().map(|flight| flight.started);
        flights.chain(self.list)
    }
}
