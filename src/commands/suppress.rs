//! `leadload suppress`: the do-not-call list that stays.

use super::ledger::{ledger_of, refuse_missing};
use crate::cli::ListFormat;
use crate::cli::suppress::{AddArgs, NumbersArgs, RemoveArgs, SuppressArgs, SuppressCommand};
use crate::commands;
use crate::do_not_call::{self, Named};
use crate::exit::{ExitCode, Failure, OrStopped, StoppedBy};
use crate::ledger::{LeadAt, Ledger, LedgerPlace};
use crate::options::Format;
use crate::phone::PhoneNumber;
use crate::report::{
    added, added_json, campaign_of,
    console::{self, text_on_stdout},
    removed, removed_json, suppressed, suppressed_csv, suppressed_json,
};
use crate::settings::{Layers, PhoneSettings};

pub fn run(args: &SuppressArgs, layers: &Layers) -> Result<ExitCode, Failure> {
    let ledger = ledger_of(layers, "the do-not-call list is")?;
    let options = layers.options();
    let format = options.output.format();
    match &args.command {
        SuppressCommand::Add(add) => {
            commands::confirm(&self::add(add, layers, &ledger, format)?, &options)?;
        }
        SuppressCommand::Remove(remove) => {
            commands::confirm(&self::remove(remove, layers, &ledger, format)?, &options)?;
        }
        SuppressCommand::List(list) => {
            refuse_missing(layers, &ledger)?;
            let of_profile = || match format {
                Format::Json => ListFormat::Json,
                Format::Text => ListFormat::Text,
            };
            let ledger = ledger.for_reading();
            let list = self::list(&ledger, list.format.unwrap_or_else(of_profile))?;
            console::print(&list).stopped_by(StoppedBy::Disk)?;
        }
    }
    Ok(ExitCode::Complete)
}

fn add(
    args: &AddArgs,
    layers: &Layers,
    place: &LedgerPlace,
    format: Format,
) -> Result<String, Failure> {
    let numbers = numbers(&args.numbers, layers)?;
    let change = do_not_call::add(place, &numbers, args.reason.as_deref())?;
    let names = |lead: &LeadAt| (campaign_of(&change, lead), String::new());
    Ok(match format {
        Format::Text => text_on_stdout(&added(&change, &names)),
        Format::Json => added_json(&change),
    })
}

fn remove(
    args: &RemoveArgs,
    layers: &Layers,
    place: &LedgerPlace,
    format: Format,
) -> Result<String, Failure> {
    refuse_missing(layers, place)?;
    let numbers = numbers(&args.numbers, layers)?;
    let known = do_not_call::remove(place, &numbers)?;
    let unknown = numbers.len() as u64 - known;
    Ok(match format {
        Format::Text => text_on_stdout(&removed(known, unknown)),
        Format::Json => removed_json(known, unknown),
    })
}

fn list(place: &LedgerPlace, format: ListFormat) -> Result<String, Failure> {
    let ledger = Ledger::read(place)?;
    let list = ledger.as_ref().map(Ledger::suppressed).transpose()?;
    let list = list.unwrap_or_default();
    Ok(match format {
        ListFormat::Text => text_on_stdout(&[suppressed(&list)]),
        ListFormat::Json => suppressed_json(&list),
        ListFormat::Csv => suppressed_csv(&list).stopped_by(StoppedBy::Disk)?,
    })
}

fn numbers(args: &NumbersArgs, layers: &Layers) -> Result<Vec<PhoneNumber>, Failure> {
    let settings = PhoneSettings::new(layers).stopped_by(StoppedBy::Usage)?;
    let named = Named {
        numbers: &args.number,
        files: &args.files,
    };
    do_not_call::numbers(&named, &settings)
}
