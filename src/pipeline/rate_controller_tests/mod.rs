//! The controller in simulated time.

mod by_chance;
mod earlier_processes;
mod simulated_services;
mod simulation;
mod single_answers;

use super::*;

/// How long after the beginning each of these requests may start.
async fn start(rate: &mut RateController, requests: usize) -> Vec<Duration> {
    let began = Instant::now();
    let mut starts = Vec::new();
    while starts.len() < requests {
        match rate.try_start() {
            Ok(at) => starts.push(at - began),
            Err(when) => tokio::time::sleep_until(when).await,
        }
    }
    starts
}
