//! Questions that a person at the terminal can answer, where the command would end otherwise.
//!
//! Rule: an answer is a flag that could have been typed. The command then runs again as if it
//! had been, so that only this module knows of answers, and commands that are shown have them
//! too. An empty answer leads to the same error as without a terminal.

use std::io;
use std::path::PathBuf;

use super::inputs::Planned;
use super::question;
use super::stopwatch::Stopwatch;
use crate::ask;
use crate::exit::Failure;
use crate::intake::{Intake, PlannedInput};
use crate::mapping::{MappingError, PhoneCandidate, RegionColumns};
use crate::options::{Column, DefaultRegion, Name, Options, Said, Value};
use crate::phone::{PhoneRule, Region};
use crate::report::{DoubtError, Width, console, offered, paragraph};
use crate::screen::{Doubt, Fitting, are_many};
use crate::settings::Layers;
use crate::signals::Interrupts;
use crate::text::{counted, printable};

/// What is typed behind a question, on its line.
const ROOM_FOR_ANSWER: usize = 20;

/// How a command has ended.
pub(super) enum Attempt<T> {
    /// By itself.
    Done(T),
    /// With an answer: it is to run again with these options.
    Again(Box<Options>),
}

impl<T> Attempt<T> {
    /// It runs again with this answer.
    pub(super) fn again(answer: Options) -> Attempt<T> {
        Attempt::Again(Box::new(answer))
    }
}

/// Questions to the person at the terminal.
pub(super) struct Asking<'a> {
    watch: &'a Stopwatch,
    interrupts: &'a mut Interrupts,
    /// Whether the country of numbers without a calling code has been said, also that it is none.
    says_region: bool,
}

impl<'a> Asking<'a> {
    /// None where no question may be asked: in a trial, which calls nobody, with `--yes`, and
    /// where a list comes from standard input, which can be read only once. The time that
    /// answers take is not counted.
    pub(super) fn new(
        layers: &Layers,
        files: &[PathBuf],
        watch: &'a Stopwatch,
        interrupts: &'a mut Interrupts,
    ) -> Option<Asking<'a>> {
        let options = layers.options();
        let reads_input = files.iter().any(|path| path.as_os_str() == "-");
        let is_trial = options.connection.sandbox == Some(true);
        let is_silent = options.delivery.yes == Some(true) || options.delivery.test_to.is_some();
        let may_ask = !is_trial && !is_silent && !reads_input && ask::may_ask(options.log.form());
        may_ask.then(|| Asking {
            watch,
            interrupts,
            says_region: layers.said().phones.region.is_some(),
        })
    }

    /// Which profile is meant, where there are some and none gives a service.
    pub(super) async fn profile(&mut self, layers: &Layers) -> Result<Option<Options>, Failure> {
        let profile = layers.profile.as_ref();
        let profile = profile.filter(|profile| profile.name.is_none() && !profile.names.is_empty());
        let Some(profile) = profile.filter(|_| layers.said().connection.base_url.is_none()) else {
            return Ok(None);
        };
        note("No service is given. There are these profiles:");
        let picked = self.one_of(&profile.names).await?;
        Ok(picked.map(|name| {
            let mut answer = Options::default();
            answer.place.profile = Some(Name::said(&name));
            answer
        }))
    }

    /// What the lists do not say and an answer can: where the numbers are, and of which country.
    pub(super) async fn lists(
        mut self,
        planned: &Result<Planned, Failure>,
    ) -> Result<Option<Options>, Failure> {
        match planned {
            Err(failure) => match failure.error.downcast_ref() {
                Some(MappingError::SeveralPhoneColumns { candidates, .. }) => {
                    self.phone_columns(candidates).await
                }
                Some(MappingError::NoPhoneColumn { sheets, input, .. }) if !sheets.is_empty() => {
                    self.sheet(input, sheets).await
                }
                _ => Ok(None),
            },
            Ok(planned) => {
                let intake = planned.so_far();
                match &intake.doubt {
                    Some(doubt) if doubt.refuses => self.doubtful(intake, doubt).await,
                    None if !self.says_region => self.country(intake).await,
                    _ => Ok(None),
                }
            }
        }
    }

    async fn phone_columns(
        &mut self,
        candidates: &[PhoneCandidate],
    ) -> Result<Option<Options>, Failure> {
        note("Several columns have phone numbers. Those with most of them come first:");
        for (at, candidate) in candidates.iter().enumerate() {
            let numbers = counted(candidate.numbers as u64, "number");
            choice(at, &format!("{}: {numbers}", printable(&candidate.name)));
        }
        loop {
            let answer = self
                .line("Which are to be called, in order, such as 1 2? The first with a number counts (Enter to stop):")
                .await?;
            let Some(answer) = answer else {
                return Ok(None);
            };
            let picked: Option<Vec<&PhoneCandidate>> = answer
                .split([' ', ','])
                .filter(|word| !word.is_empty())
                .map(|word| candidates.get(word.parse::<usize>().ok()?.checked_sub(1)?))
                .collect();
            match picked {
                Some(picked) => {
                    let mut names: Vec<String> = Vec::new();
                    for candidate in picked {
                        if !names.contains(&candidate.name) {
                            names.push(candidate.name.clone());
                        }
                    }
                    let mut answer = Options::default();
                    answer.mapping.phone_column = Some(Column::all(&names));
                    return Ok(Some(answer));
                }
                None => note(&format!("Numbers from 1 to {}, please.", candidates.len())),
            }
        }
    }

    async fn sheet(&mut self, input: &str, sheets: &[String]) -> Result<Option<Options>, Failure> {
        note(&format!(
            "The first sheet of `{}` has no phone column. These have one:",
            printable(input)
        ));
        let picked = self.one_of(sheets).await?;
        Ok(picked.map(|sheet| {
            let mut answer = Options::default();
            answer.reading.sheet = Some(Name::said(&sheet));
            answer
        }))
    }

    /// Of which country numbers are that the region does not seem to be right for.
    async fn doubtful(
        &mut self,
        intake: &Intake,
        doubt: &Doubt,
    ) -> Result<Option<Options>, Failure> {
        if let Some(error) = DoubtError::of(intake) {
            note(&error.what);
        }
        if !doubt.fitting.is_empty() {
            note(&format!("Of {} that were tried, so many fit:", doubt.tried));
        }
        for Fitting {
            country, numbers, ..
        } in offered(doubt)
        {
            console::note(&format!("  {} ({country}): {numbers}\n", country.name()));
        }
        match doubt.fitting.len() - offered(doubt).count() {
            0 => {}
            more => console::note(&format!("  and {more} more\n")),
        }
        let asked = format!(
            "Country of all numbers without a calling code, or a column with countries ({} if they are right; Enter to stop):",
            doubt.region
        );
        let answer = self.country_or_column(intake, &asked).await?;
        Ok(answer.map(|mut answer| {
            let region = answer
                .phones
                .region
                .as_deref()
                .and_then(|said| said.country());
            if region == Some(doubt.region) {
                answer.phones.phone_rule = Some(Said::told_as(PhoneRule::Possible, "possible"));
            }
            answer
        }))
    }

    /// Of which country numbers without a calling code are, where that is so of more of the
    /// first rows than a slip explains.
    async fn country(&mut self, intake: &Intake) -> Result<Option<Options>, Failure> {
        // An input that cannot be read is reported when its rows are.
        let Ok(sampled) = intake.sampled_evidence() else {
            return Ok(None);
        };
        let without = sampled.without_country;
        if !are_many(without, sampled.numbers + without) {
            return Ok(None);
        }
        note(&format!(
            "{} in the first rows without a calling code, and nothing says which country they are of.",
            counted(without, "number")
        ));
        let asked =
            "Their country, such as GB, or a column with countries (Enter to leave them out):";
        self.country_or_column(intake, asked).await
    }

    async fn country_or_column(
        &mut self,
        intake: &Intake,
        asked: &str,
    ) -> Result<Option<Options>, Failure> {
        loop {
            let Some(text) = self.line(asked).await? else {
                return Ok(None);
            };
            let mut answer = Options::default();
            let has_column = |planned: &PlannedInput| {
                let mut names = planned.header.names.iter();
                names.any(|name| name.trim().eq_ignore_ascii_case(&text))
            };
            if let Some(region) = Region::parse(&text) {
                let region = DefaultRegion::Country(region);
                let code = region.usual_form().unwrap_or_default();
                answer.phones.region = Some(Said::told_as(region, code));
                return Ok(Some(answer));
            }
            if intake.inputs.iter().all(has_column) {
                let column = RegionColumns::Named(text.clone());
                answer.phones.region_column = Some(Said::told_as(column, text));
                return Ok(Some(answer));
            }
            note("There is no country and no column of that name.");
        }
    }

    /// One of these names, by its place or itself.
    async fn one_of(&mut self, names: &[String]) -> Result<Option<String>, Failure> {
        for (at, name) in names.iter().enumerate() {
            choice(at, &printable(name));
        }
        loop {
            let Some(answer) = self.line("Number or name (Enter to stop):").await? else {
                return Ok(None);
            };
            let place = answer.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            let is_named = |name: &&String| name.eq_ignore_ascii_case(&answer);
            let picked = place.and_then(|place| names.get(place));
            match picked.or_else(|| names.iter().find(is_named)) {
                Some(name) => return Ok(Some(name.clone())),
                None => note(&format!("Numbers from 1 to {}, please.", names.len())),
            }
        }
    }

    /// A line that somebody has typed; none where it is empty, or nothing comes any more.
    async fn line(&mut self, asked: &str) -> Result<Option<String>, Failure> {
        let asked = paragraph(asked, Width::of_stderr().less(ROOM_FOR_ANSWER));
        let watch = self.watch.clone();
        let ask = move || -> io::Result<Option<String>> { watch.pause(|| ask::line(&asked)) };
        let answer = question::answered(self.interrupts, ask).await?;
        Ok(answer.filter(|answer| !answer.is_empty()))
    }
}

/// One of the things that can be chosen, by its place from 0.
fn choice(at: usize, what: &str) {
    console::note(&format!("  {}  {what}\n", at + 1));
}

/// Says something on standard error.
fn note(text: &str) {
    console::note(&format!("{}\n", paragraph(text, Width::of_stderr())));
}
