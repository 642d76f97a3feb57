//! A mapping that is about to be kept in a profile.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use toml_edit::{Item, Value};

use super::Profile;
use super::config_file::{self, ConfigFile};
use super::edit::{edit, lines};
use super::table::{check_name_in, flags_for, table_of};
use crate::mapping::{AllowList, RegionColumns};
use crate::options::{Column, Declared, Field, Group, Header, NamedColumn, Options, Said};
use crate::settings::Layers;
use crate::settings::layers::home_of_token;
use crate::settings::reading::texts;

/// A mapping that is about to be kept.
#[derive(Debug)]
pub struct MappingToSave {
    /// The profile that it goes into.
    pub profile: String,
    /// The file that the profile stands in.
    pub file: PathBuf,
    /// The columns that are sent from now on, and that the mapping has left out so far.
    pub newly_sent: Vec<String>,
    /// The columns that the mapping has sent so far, and that are left out from now on.
    pub sent_no_more: Vec<String>,
    /// Where the profile is about to be made: the settings of the one in use, as they are
    /// written, so that it reaches the same service in the same way.
    others: Vec<(&'static str, Value)>,
    /// The mapping, and what makes a list readable.
    mapping: Options,
    /// Whether the profile or the command line says to which campaign leads go.
    pub has_campaign: bool,
    /// The file of settings that is not read any more once this one is there.
    pub hidden: Option<PathBuf>,
    /// The flags by which a command takes the profile.
    pub flags: Vec<OsString>,
}

impl MappingToSave {
    /// The mapping of one list, with what makes the list readable.
    ///
    /// # Errors
    ///
    /// Where the profile cannot have that name, or there is no place that it can be
    /// written to.
    pub fn new(profile: &str, list: &AllowList, layers: &Layers) -> Result<MappingToSave> {
        let said = layers.said();
        let file = config_file::place_to_write(&said.place)?;
        let config = ConfigFile::read(&file)?;
        check_name_in(config.as_ref(), profile)?;
        config_file::probe(&file)?;
        let earlier = config.as_ref();
        let earlier = earlier.filter(|config| table_of(config, profile).is_some());
        let earlier = earlier.map(|config| Profile::of(config, Some(profile)));
        let mut earlier = earlier.transpose()?;
        if let Some(wrong) = earlier.as_mut().and_then(|earlier| earlier.wrong.take()) {
            return Err(wrong);
        }
        let in_use = layers.profile.as_ref();
        let base = earlier.as_ref().or(in_use).map(Profile::options);
        let before = earlier.as_ref().map(|earlier| earlier.options().mapping);
        let before = before.unwrap_or_default();
        let (columns, variables) = (texts(&before.columns), texts(&before.var));
        let mut left_out = AllowList::left_out(&columns, &variables);
        left_out.extend(texts(&before.skip_column));
        Ok(MappingToSave {
            profile: profile.to_owned(),
            newly_sent: list.sent_of(&left_out),
            sent_no_more: list.not_sent_of(&AllowList::sent(&columns, &variables)),
            others: match (&earlier, in_use) {
                (None, Some(in_use)) => others(in_use, &file, config.as_ref()),
                _ => Vec::new(),
            },
            mapping: mapping(said, list, earlier.as_ref())?,
            has_campaign: list.campaign_column.is_some()
                || base.is_some_and(|base| base.mapping.campaign.is_some())
                || layers.typed().mapping.campaign.is_some(),
            hidden: config_file::hidden_by(&file),
            flags: flags_for(&file, profile, layers),
            file,
        })
    }

    /// Writes it into the profile. What else stands there is kept.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written, or is none of settings.
    pub fn write(self) -> Result<()> {
        // What is not said is taken out: it was not in use when somebody looked at what would
        // be sent. Do-not-call lists are never lost by the way: those of the profile are said.
        let fields = self.mapping.fields().into_iter();
        let is_gone = |(declared, field): &Declared<&dyn Field>| {
            declared.is_kept_with_mapping && !field.is_said()
        };
        let gone: Vec<&str> = fields.filter(is_gone).map(|(d, _)| d.key).collect();
        let mapping = lines(&self.mapping);
        let lines = [self.others, mapping].concat();
        edit(&self.file, &self.profile, lines, &gone)
    }
}

/// What a saved mapping says of the list: which columns become what, and what makes it
/// readable.
fn mapping(said: Options, list: &AllowList, earlier: Option<&Profile>) -> Result<Options> {
    let column = |text: &Option<String>| text.as_deref().map(Column::said);
    let earlier = earlier.and_then(|earlier| earlier.options().phones.suppress);
    let lists = [earlier, said.phones.suppress.clone()];
    let lists = absolute(lists.into_iter().flatten().flatten())?;
    let phones = Column::all(&list.phone_columns);
    let mut kept = said;
    kept.retain(|declared| declared.is_kept_with_mapping);
    kept.phones.suppress = Some(lists).filter(|lists| !lists.is_empty());
    kept.mapping.phone_column = Some(phones).filter(|phones| !phones.is_empty());
    kept.mapping.campaign_column = column(&list.campaign_column);
    if let Some(region) = &list.region_column {
        let named = RegionColumns::Named(region.clone());
        kept.phones.region_column = Some(Said::told_as(named, region));
    }
    // What is skipped is whatever `var` does not name. None at all is said too: without it
    // every column would be sent.
    kept.mapping.skip_column = None;
    kept.mapping.var = Some(NamedColumn::all(&list.variables));
    kept.mapping.columns = Some(Header::all(&list.columns));
    Ok(kept)
}

/// Each of these files once, from any folder.
fn absolute(paths: impl Iterator<Item = Said<PathBuf>>) -> Result<Vec<Said<PathBuf>>> {
    let mut found: Vec<Said<PathBuf>> = Vec::new();
    for path in paths {
        let path = path.absolute()?;
        if !found.contains(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

/// The settings of a profile beside a mapping, to be those of another profile in `file`
/// too. What an import leaves behind is of one profile alone, and what is common to all
/// profiles of a file stands there already.
fn others(
    profile: &Profile,
    file: &Path,
    config: Option<&ConfigFile>,
) -> Vec<(&'static str, Value)> {
    let is_here = profile.file == file;
    let mut others = profile.own.clone();
    if !is_here {
        others.complete(&profile.common);
    }
    others.retain(|declared| !declared.is_kept_with_mapping && !declared.is_output);
    // A token beside an address that is not its own would be sent there from now on.
    if home_of_token(&profile.layers()).is_none() {
        others.connection.token_file = None;
    }
    let name = profile.name.as_deref().filter(|_| is_here);
    let own = name.and_then(|name| table_of(config?, name));
    let as_written = |key: &'static str, value: Value| {
        let other = key.replace('_', "-");
        let item = own.and_then(|own| own.get(key).or(own.get(&other)));
        let value = item.and_then(Item::as_value).cloned().unwrap_or(value);
        (key, value.decorated(" ", ""))
    };
    let lines = lines(&others).into_iter();
    lines.map(|(key, value)| as_written(key, value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a profile takes along into `file`, line by line.
    fn taken_into(file: &Path, from: &Path, toml: &str) -> Vec<String> {
        std::fs::write(from, toml).unwrap();
        let config = ConfigFile::read(from).unwrap().unwrap();
        let profile = Profile::of(&config, None).unwrap();
        assert!(profile.wrong.is_none());
        let others = others(&profile, file, Some(&config)).into_iter();
        others
            .map(|(key, value)| format!("{key} ={value}"))
            .collect()
    }

    #[test]
    fn a_token_that_is_sent_nowhere_is_not_taken_along() {
        let folder = tempfile::tempdir().unwrap();
        let system = folder.path().join("system.toml");
        let elsewhere = folder.path().join("own/config.toml");
        let address = "base_url = 'https://other.example'\n";
        let token = "token_file = 'a.token'\n";
        let apart = format!("{token}[profiles.default]\n{address}");
        let taken = taken_into(&elsewhere, &system, &apart);
        assert_eq!(taken, ["base_url = \"https://other.example\""]);
        let together = format!("[profiles.default]\n{token}{address}");
        assert_eq!(taken_into(&elsewhere, &system, &together).len(), 2);
        let common = format!("{token}{address}");
        assert_eq!(taken_into(&elsewhere, &system, &common).len(), 2);
    }

    #[test]
    fn settings_taken_into_another_file_mean_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let system = folder.path().join("system.toml");
        let text = "region = 'GB'\nrate = '5/s'\n[profiles.default]\nledger = 'own.db'\n\
                    results = 'one.csv'\ntimeout = '9s'\nset = { a = 'b' }\n";
        let shown = |file: &Path| taken_into(file, &system, text);
        let ledger = Value::from(folder.path().join("own.db").display().to_string());
        let ledger = format!("ledger = {ledger}");
        assert_eq!(shown(&system), ["ledger = \"own.db\"", "timeout = \"9s\""]);
        assert_eq!(
            shown(&folder.path().join("own/config.toml")),
            [&ledger, "rate = [\"5/s\"]", "timeout = \"9s\""]
        );
    }
}
