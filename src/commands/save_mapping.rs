//! `check --save-mapping`: saves the mapping for the next import.

use crate::command_line::CommandLine;
use crate::exit::{Failure, OrStopped, StoppedBy};
use crate::import::Request;
use crate::intake::{Intake, PlannedInput};
use crate::mapping::{AllowList, Mapping};
use crate::message::{Message, Text};
use crate::settings::{ImportSettings, MappingToSave};

/// The mapping of the inputs, if it is to be saved. Errors are reported before the rows are read.
pub(super) fn prepare(
    request: &Request,
    intake: &Intake,
    settings: &ImportSettings,
) -> Result<Option<MappingToSave>, Failure> {
    let Some(profile) = request.layers.typed().mapping.save_mapping else {
        return Ok(None);
    };
    let first = one_of_a_kind(intake)?;
    let var_names = settings.reading.mapping.var_names;
    let name = first.input.name();
    let list = AllowList::of(name, &first.header, &first.mapping, var_names);
    let list = list.ok_or_else(|| {
        Failure::usage(Message::new(
            Text::terminal(format!(
                "some columns of `{name}` could not be found again by their headers"
            )),
            terminal_text!("give each column in use a header of its own"),
        ))
    })?;
    let mut to_save =
        MappingToSave::new(&profile, &list, &request.layers).stopped_by(StoppedBy::Usage)?;
    to_save.left_out = first.new_columns();
    to_save.lost.clone_from(&first.mapping.changed.lost);
    Ok(Some(to_save))
}

/// The first input, if all inputs are mapped alike.
fn one_of_a_kind(intake: &Intake) -> Result<&PlannedInput, Failure> {
    let mut inputs = intake.inputs.iter();
    let first = inputs
        .next()
        .ok_or_else(|| Failure::new(StoppedBy::Usage, anyhow::anyhow!("there is no input")))?;
    let columns = |mapping: &Mapping| {
        (
            mapping.phone_columns.clone(),
            mapping.campaign_column,
            mapping.countries.used.clone(),
        )
    };
    let is_like_it = |other: &&PlannedInput| {
        other.header.names == first.header.names
            && columns(&other.mapping) == columns(&first.mapping)
    };
    if let Some(other) = inputs.find(|other| !is_like_it(other)) {
        let (one, other) = (first.input.name(), other.input.name());
        return Err(Failure::usage(Message::new(
            Text::terminal(format!(
                "`{one}` and `{other}` have different columns, but only one mapping can be saved"
            )),
            terminal_text!("check one of them with `--save-mapping`"),
        )));
    }
    if first.mapping.rejects_form.is_some() {
        let name = first.input.name();
        return Err(Failure::usage(Message::new(
            Text::terminal(format!(
                "`{name}` has rejects, which take their mapping from the run that wrote them"
            )),
            terminal_text!("check the list itself with `--save-mapping`"),
        )));
    }
    Ok(first)
}

/// The command that imports the inputs by the saved mapping.
pub(super) fn next(saved: &MappingToSave, request: &Request) -> Option<CommandLine> {
    let mut flags = saved.flags.clone();
    if !saved.has_campaign {
        flags.extend(["--campaign".into(), "ID_OR_NAME".into()]);
    }
    request.line.of_import(&request.files, &flags)
}
