//! Inputs that nobody wrote: whatever the bytes, the program says what is wrong with them or reads them, and
//! what it reads keeps the laws that each target states.
//!
//! This is the short round: every input of the corpus, and others made from it. It runs on the stable
//! toolchain, from the same seed each time. `LEADLOAD_FUZZ=N` makes N inputs of each target. The long round,
//! which looks for inputs that take new ways through the program, is `tests/fuzz/long/run`; see there.
//!
//! An input that fails goes into `corpus` when its fault is mended.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../it/page_session.rs"]
mod page_session;
mod targets;

use std::panic::catch_unwind;
use std::path::Path;
use std::{env, fs};

use fastrand::Rng;

use targets::{TARGETS, Target};

/// How many inputs are made for each target.
const MADE: usize = 400;

/// The longest that is made.
const MAX_BYTES: usize = 4096;

/// All inputs of a target that are kept, in a fixed order.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let files = fs::read_dir(folder.join(target)).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let inputs: Vec<_> = files.iter().map(|file| fs::read(file).unwrap()).collect();
    assert!(!inputs.is_empty(), "no corpus for {target}");
    inputs
}

/// An input like one of the corpus: with pieces cut, doubled, changed, or taken from another one.
fn made_from(corpus: &[Vec<u8>], random: &mut Rng) -> Vec<u8> {
    let mut input = corpus[random.usize(..corpus.len())].clone();
    for _ in 0..random.usize(1..6) {
        let at = random.usize(..=input.len());
        let end = (at + random.usize(..9)).min(input.len());
        match random.u8(..6) {
            0 => drop(input.drain(at..end)),
            1 => input.insert(at, random.u8(..)),
            2 if at < end => input[at] ^= 1 << random.u8(..8),
            3 => input.splice(at..at, input[at..end].to_vec()).for_each(drop),
            _ => {
                let other = &corpus[random.usize(..corpus.len())];
                let from = random.usize(..=other.len());
                let piece = &other[from..(from + random.usize(..40)).min(other.len())];
                input.splice(at..end, piece.iter().copied());
            }
        }
    }
    input.truncate(MAX_BYTES);
    input
}

/// Tries the corpus, and so many inputs made from it.
fn try_out((name, target): Target, made: usize) {
    let corpus = corpus(name);
    let mut random = Rng::with_seed(1);
    let made = (0..made).map(|_| made_from(&corpus, &mut random));
    let mut understood = 0;
    for input in corpus.iter().cloned().chain(made) {
        let shown = input.escape_ascii().to_string();
        let tried = catch_unwind(|| target(&input));
        understood += usize::from(tried.unwrap_or_else(|_| panic!("{name}: {shown}")));
    }
    assert!(
        understood > corpus.len() / 4,
        "{name}: {understood} are understood"
    );
}

#[test]
fn inputs_that_nobody_wrote_break_nothing() {
    let made = env::var("LEADLOAD_FUZZ").map_or(MADE, |text| text.parse().expect("a number"));
    for target in TARGETS {
        try_out(*target, made);
    }
}
