//! What the user wants from a command that reads lists.

use std::path::PathBuf;

use crate::command_line::CommandLine;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::options::{Given, Options};
use crate::results::OutputChoice;
use crate::settings::{ImportSettings, Layers, environment};

/// The lists, the options and the command line.
pub(super) struct Request {
    pub(super) files: Vec<PathBuf>,
    pub(super) layers: Layers,
    /// The command line, with answers to questions as if they had been typed.
    pub(super) line: CommandLine,
}

impl Request {
    /// Adds an answer.
    pub(super) fn add_answer(&mut self, answer: Options) {
        self.layers.add_answer(answer);
        self.line = self.line.with_typed(&self.files, self.layers.typed());
    }

    /// Uses a profile, as if `--profile` had been typed.
    pub(super) fn use_profile(&mut self, name: &str) -> Result<(), Failure> {
        let mut typed = self.layers.typed();
        typed.place.profile = Some(Given::text_of(name));
        let (layers, checked) = Layers::load(typed, environment(), true, true);
        checked.or_stopped(StoppedBy::Usage)?;
        self.line = self.line.with_typed(&self.files, layers.typed());
        self.layers = layers;
        Ok(())
    }

    /// The settings; outputs that are not named go to `unnamed`.
    pub(super) fn settings(&self, unnamed: &OutputChoice) -> Result<ImportSettings, Failure> {
        ImportSettings::new(&self.layers, unnamed).or_stopped(StoppedBy::Usage)
    }
}
