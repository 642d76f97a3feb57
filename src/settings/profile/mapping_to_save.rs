//! A mapping to be saved in a profile.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Result;

use super::Profile;
use super::edit::{edit, file_to_edit};
use super::table::{flags_for, table_of};
use crate::mapping::{AllowList, ColumnChoice};
use crate::options::{Given, Options, texts};
use crate::settings::Layers;
use crate::settings::layers::home_of_token;

#[derive(Debug)]
pub struct MappingToSave {
    pub profile: String,
    pub file: PathBuf,
    /// The columns that will be sent and that the mapping saved before left out.
    pub newly_sent: Vec<String>,
    /// The columns that will be left out and that the mapping saved before sent.
    pub no_longer_sent: Vec<String>,
    /// The columns that are new since then, and that it leaves out.
    pub left_out: Vec<String>,
    /// The columns that it named then, and that the list has no more.
    pub lost: Vec<String>,
    /// The mapping, and for a new profile the other settings of the profile in use, so that it
    /// reaches the same service.
    options: Options,
    /// Whether the profile or the command line gives a campaign.
    pub has_campaign: bool,
    /// The flags that select the profile.
    pub flags: Vec<OsString>,
}

impl MappingToSave {
    /// The mapping of one list, and how the list is read.
    pub fn new(profile: &str, list: &AllowList, layers: &Layers) -> Result<MappingToSave> {
        let given = layers.given();
        let (file, config) = file_to_edit(&given, profile)?;
        let earlier = config.as_ref();
        let earlier = earlier.filter(|config| table_of(config, profile).is_some());
        let earlier = earlier.map(|config| Profile::of(config, Some(profile)));
        let mut earlier = earlier.transpose()?;
        if let Some(wrong) = earlier.as_mut().and_then(|earlier| earlier.wrong.take()) {
            return Err(wrong.into());
        }
        let in_use = layers.profile.as_ref();
        let base = earlier.as_ref().or(in_use).map(Profile::options);
        let before = earlier.as_ref().map(Profile::options).unwrap_or_default();
        let (columns, variables) = (texts(&before.mapping.columns), texts(&before.mapping.var));
        let skipped = texts(&before.mapping.skip_column);
        let (newly_sent, no_longer_sent) = list.changes_since(&columns, &variables, &skipped);
        let mut options = mapping(given, list, &before)?;
        if let (None, Some(in_use)) = (&earlier, in_use) {
            options.complete(&other_settings(in_use, in_use.file == file));
        }
        Ok(MappingToSave {
            profile: profile.to_owned(),
            newly_sent,
            no_longer_sent,
            left_out: Vec::new(),
            lost: Vec::new(),
            options,
            has_campaign: list.campaign_column.is_some()
                || base.is_some_and(|base| base.mapping.campaign.is_some())
                || layers.typed().mapping.campaign.is_some(),
            flags: flags_for(&file, profile, layers),
            file,
        })
    }

    /// Writes it into the profile. The other settings there are kept.
    pub fn write(&self) -> Result<()> {
        // A mapping option that is not in use is removed: it was not in use when the user looked
        // at what would be sent.
        let fields = self.options.fields().into_iter();
        let unused =
            fields.filter(|(declared, field)| declared.is_kept_with_mapping && !field.is_given());
        let unused: Vec<&str> = unused.map(|(declared, _)| declared.key).collect();
        edit(&self.file, &self.profile, &self.options, &unused)
    }
}

/// The columns of the list, and how it is read. Do-not-call lists of the profile are kept.
fn mapping(given: Options, list: &AllowList, before: &Options) -> Result<Options> {
    let mut lists: Vec<Given<PathBuf>> = Vec::new();
    let all = [&before.phones.suppress, &given.phones.suppress];
    for path in all.into_iter().flatten().flatten() {
        let path = path.absolute()?;
        if !lists.contains(&path) {
            lists.push(path);
        }
    }
    let column = |text: &Option<String>| text.as_deref().map(Given::text_of);
    let mut options = given;
    options.retain(|declared| declared.is_kept_with_mapping);
    options.phones.suppress = (!lists.is_empty()).then_some(lists);
    let phones = Given::list_of(&list.phone_columns);
    options.mapping.phone_column = (!phones.is_empty()).then_some(phones);
    options.mapping.campaign_column = column(&list.campaign_column);
    let found = [
        (&list.region_column, &mut options.phones.region_column),
        (
            &list.do_not_call_column,
            &mut options.mapping.do_not_call_column,
        ),
        (&list.consent_column, &mut options.mapping.consent_column),
    ];
    for (column, option) in found {
        if let Some(name) = column {
            *option = Some(Given::new(ColumnChoice::Named(name.clone()), name));
        }
    }
    // Columns that `var` does not name are skipped. `var` is written
    // even if it is empty: without it every column would be sent.
    options.mapping.skip_column = None;
    options.mapping.var = Some(Given::list_of(&list.variables));
    options.mapping.columns = Some(Given::list_of(&list.columns));
    Ok(options)
}

/// The settings of a profile without its mapping, for another profile.
/// Outputs are left out since two profiles must not share them, and
/// the settings for all profiles if the file has them already.
fn other_settings(profile: &Profile, is_same_file: bool) -> Options {
    let mut others = profile.own.clone();
    if !is_same_file {
        others.complete(&profile.common);
    }
    others.retain(|declared| !declared.is_kept_with_mapping && !declared.is_output);
    // Next to another address, the token would be sent there.
    if home_of_token(&profile.layers()).is_none() {
        others.connection.token_file = None;
    }
    others
}

#[cfg(test)]
mod tests {
    use super::super::config_file::ConfigFile;
    use super::*;

    /// The keys that a profile passes on to another one.
    fn passed_on(toml: &str, is_same_file: bool) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, toml).unwrap();
        let config = ConfigFile::read(&path).unwrap().unwrap();
        let profile = Profile::of(&config, None).unwrap();
        assert!(profile.wrong.is_none());
        let others = other_settings(&profile, is_same_file);
        let fields = others.fields().into_iter();
        let given = fields.filter(|(_, field)| field.is_given());
        given.map(|(declared, _)| declared.key).collect()
    }

    #[test]
    fn a_token_that_is_not_sent_anywhere_is_not_passed_on() {
        let address = "base_url = 'https://other.example'\n";
        let token = "token_file = 'a.token'\n";
        let apart = format!("{token}[profiles.default]\n{address}");
        assert_eq!(passed_on(&apart, false), ["base_url"]);
        let together = format!("[profiles.default]\n{token}{address}");
        assert_eq!(passed_on(&together, false), ["base_url", "token_file"]);
        let common = format!("{token}{address}");
        assert_eq!(passed_on(&common, false), ["base_url", "token_file"]);
    }

    #[test]
    fn outputs_and_the_mapping_are_not_passed_on() {
        let text = "region = 'GB'\nrate = '5/s'\n[profiles.default]\nledger = 'own.db'\n\
                    results = 'one.csv'\ntimeout = '9s'\nset = { a = 'b' }\n";
        assert_eq!(passed_on(text, true), ["ledger", "timeout"]);
        assert_eq!(passed_on(text, false), ["ledger", "rate", "timeout"]);
    }
}
