//! What the user wants from a command that reads lists.

use std::path::PathBuf;

use crate::command_line::CommandLine;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::options::Options;
use crate::results::OutputChoice;
use crate::settings::{ImportSettings, Layers};

pub(super) struct Request {
    pub(super) files: Vec<PathBuf>,
    pub(super) layers: Layers,
    /// The command line, with answers to questions as if they had been typed.
    pub(super) line: CommandLine,
}

impl Request {
    pub(super) fn add_answer(&mut self, answer: Options) {
        self.layers.add_answer(answer);
        self.line = self.line.with_typed(&self.files, self.layers.typed());
    }

    /// The settings; outputs that are not named go to `unnamed`.
    pub(super) fn settings(&self, unnamed: &OutputChoice) -> Result<ImportSettings, Failure> {
        ImportSettings::new(&self.layers, unnamed).or_stopped(StoppedBy::Usage)
    }
}
