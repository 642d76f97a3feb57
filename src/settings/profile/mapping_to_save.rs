//! A mapping that is about to be kept in a profile.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Result;
use toml_edit::{Array, Item, Value};

use super::config_file::{self, ConfigFile};
use super::setting::Setting;
use super::table::{self, check_name_in, flags_for, put, table_to_edit};
use super::{COLUMNS, Profile, flags};
use crate::cli::ImportArgs;
use crate::mapping::AllowList;
use crate::phone::Region;
use crate::settings::{Environment, word};

/// All that a kept mapping can consist of: which columns become what, and what makes the
/// list readable. What of it is not said is taken out, since it was not in force when
/// somebody looked at what would be sent.
const KEYS: [&str; 19] = [
    "delimiter",
    "encoding",
    "no_header",
    "sheet",
    "region",
    "assume_plus",
    "phone_rule",
    "countries",
    SUPPRESS,
    "phone_column",
    "campaign_column",
    "region_column",
    "var",
    "skip_column",
    "var_names",
    "set",
    "empty",
    "keep",
    COLUMNS,
];

/// The one key that stays where nothing is said of it: a do-not-call list is never lost
/// by the way, and only makes fewer be sent.
const SUPPRESS: &str = "suppress";

/// How long a line of the file gets, in characters, before a list takes several.
const WIDTH: usize = 80;

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
    /// Where the profile is about to be made: the settings of the one in force, so that
    /// it reaches the same service in the same way.
    others: Vec<(String, Item)>,
    values: Vec<(&'static str, Option<Value>)>,
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
    pub fn new(
        profile: &str,
        args: &ImportArgs,
        list: &AllowList,
        environment: &Environment,
    ) -> Result<MappingToSave> {
        let named = args.connection.profile.config.as_deref();
        let named = named.or(environment.config.as_deref());
        let file = config_file::place_to_write(named)?;
        let config = ConfigFile::read(&file)?;
        check_name_in(config.as_ref(), profile)?;
        config_file::probe(&file, |document| table_to_edit(document, profile).map(drop))?;
        let earlier = config.filter(|config| table::has(config, profile));
        let earlier = earlier.map(|config| Profile::of(&config, Some(profile)));
        let earlier = earlier.transpose()?;
        let in_force = environment.profile.as_ref().map(|found| &found.profile);
        let base = earlier.as_ref().or(in_force);
        Ok(MappingToSave {
            profile: profile.to_owned(),
            newly_sent: match &earlier {
                Some(earlier) => list.sent_of(&left_out(earlier)),
                None => Vec::new(),
            },
            sent_no_more: match &earlier {
                Some(earlier) => list.not_sent_of(&sent(earlier)),
                None => Vec::new(),
            },
            others: match (&earlier, in_force) {
                (None, Some(in_force)) => others(in_force, &file)?,
                _ => Vec::new(),
            },
            values: values(args, list, earlier.as_ref())?,
            has_campaign: list.campaign_column.is_some()
                || base.is_some_and(|base| base.setting("campaign").is_some())
                || environment.typed(args).mapping.campaign.is_some(),
            hidden: config_file::hidden_by(&file),
            flags: flags_for(&file, profile, environment),
            file,
        })
    }

    /// Whether the profile brings what this flag says.
    pub fn keeps(flag: &str) -> bool {
        KEYS.contains(&flag)
    }

    /// Writes it into the profile. What else stands there is kept.
    ///
    /// # Errors
    ///
    /// Where the file cannot be written, or is none of settings.
    pub fn write(self) -> Result<()> {
        let MappingToSave {
            profile,
            file,
            others,
            values,
            ..
        } = self;
        config_file::edit(&file, |document| {
            let table = table_to_edit(document, &profile)?;
            for (key, item) in others {
                put(table, &key, Some(item));
            }
            for (key, value) in values {
                if value.is_some() || key != SUPPRESS {
                    put(table, key, value.map(Item::Value));
                }
            }
            Ok(())
        })
    }
}

/// The columns that the profile's mapping does not send, as far as it says so.
fn left_out(profile: &Profile) -> Vec<String> {
    let columns = profile.columns.as_deref().unwrap_or_default();
    let mut left_out = AllowList::left_out(columns, &texts(profile, "var"));
    left_out.extend(texts(profile, "skip_column"));
    left_out
}

/// The columns that it sends, as far as it says so.
fn sent(profile: &Profile) -> Vec<String> {
    let columns = profile.columns.as_deref().unwrap_or_default();
    AllowList::sent(columns, &texts(profile, "var"))
}

fn texts(profile: &Profile, key: &str) -> Vec<String> {
    let setting = profile.setting(key).into_iter();
    let texts = setting.flat_map(Setting::texts);
    texts.map(str::to_owned).collect()
}

/// The settings of a profile beside a mapping, to be those of another profile in `file`
/// too. What an import leaves behind is of one profile alone, and what is common to all
/// profiles of a file stands there already.
fn others(profile: &Profile, file: &Path) -> Result<Vec<(String, Item)>> {
    let Some(from) = ConfigFile::read(&profile.file)? else {
        return Ok(Vec::new());
    };
    let import = flags::of_import();
    let is_same_file = profile.file == file;
    // A token beside an address that is not its own would be sent there from now on.
    let has_home = profile.home_of_token().is_some();
    let settings = profile.settings.iter().filter(|setting| {
        let key = setting.key.as_str();
        let is_meant = !KEYS.contains(&key) && !flags::OUTPUTS.contains(&key);
        let is_homeless = key == "token_file" && !has_home;
        is_meant && !is_homeless && !(setting.is_common && is_same_file)
    });
    let item = |setting: &Setting| {
        // In another folder a path would mean another file.
        let is_path = flags::find(&import, &setting.key).is_ok_and(flags::is_file);
        let path = setting.text().filter(|_| is_path && !is_same_file);
        let item = match path {
            Some(path) => Some(toml_edit::value(path)),
            None => table::item_in(&from, profile.name.as_deref(), &setting.key).cloned(),
        };
        item.map(|item| (setting.key.clone(), item))
    };
    Ok(settings.filter_map(item).collect())
}

fn values(
    args: &ImportArgs,
    list: &AllowList,
    earlier: Option<&Profile>,
) -> Result<Vec<(&'static str, Option<Value>)>> {
    let values = KEYS.map(|key| match key {
        SUPPRESS => Ok((key, suppress(args, earlier)?)),
        key => Ok((key, value(key, args, list))),
    });
    values.into_iter().collect()
}

/// The do-not-call lists: those that are in force, and those that the profile had before.
fn suppress(args: &ImportArgs, earlier: Option<&Profile>) -> Result<Option<Value>> {
    let earlier = earlier.and_then(|earlier| earlier.setting(SUPPRESS));
    let earlier = earlier.into_iter().flat_map(Setting::texts);
    let mut lists: Vec<String> = earlier.map(str::to_owned).collect();
    for list in absolute(&args.phones.suppress)? {
        if !lists.contains(&list) {
            lists.push(list);
        }
    }
    Ok((!lists.is_empty()).then(|| array(&lists, SUPPRESS)))
}

/// What is kept under a key.
fn value(key: &str, args: &ImportArgs, list: &AllowList) -> Option<Value> {
    let ImportArgs {
        reading,
        mapping,
        phones,
        ..
    } = args;
    let texts = |texts: &[String]| (!texts.is_empty()).then(|| array(texts, key));
    match key {
        "delimiter" => reading.delimiter.map(|byte| match byte {
            b'\t' => "tab".into(),
            byte => char::from(byte).to_string().into(),
        }),
        "encoding" => reading.encoding.map(|name| name.to_string().into()),
        "no_header" => reading.no_header.then(|| true.into()),
        "sheet" => reading.sheet.as_ref().map(Value::from),
        "region" => phones.region.map(|region| region.to_string().into()),
        "assume_plus" => phones.assume_plus.then(|| true.into()),
        "phone_rule" => phones.phone_rule.map(|rule| word(rule).into()),
        "countries" => {
            let countries = phones.countries.iter().map(Region::to_string);
            texts(&countries.collect::<Vec<_>>())
        }
        "phone_column" => texts(&list.phone_columns),
        "campaign_column" => list.campaign_column.as_ref().map(Value::from),
        "region_column" => list.region_column.as_ref().map(Value::from),
        // None at all is said too: without it every column would be sent.
        "var" => Some(array(&list.variables, key)),
        "var_names" => mapping.var_names.map(|names| word(names).into()),
        "set" => {
            let constants = mapping.set.iter();
            let constants = constants.map(|(name, value)| format!("{name}={value}"));
            texts(&constants.collect::<Vec<_>>())
        }
        "empty" => mapping.empty.map(|cells| word(cells).into()),
        "keep" => texts(&mapping.keep),
        COLUMNS => Some(array(&list.columns, key)),
        // What is skipped is whatever `var` does not name.
        _ => None,
    }
}

fn absolute(paths: &[PathBuf]) -> Result<Vec<String>> {
    let absolute = |path: &PathBuf| -> Result<String> {
        let path = match path == Path::new("-") {
            true => path.clone(),
            false => std::path::absolute(path)?,
        };
        Ok(path.display().to_string())
    };
    paths.iter().map(absolute).collect()
}

/// A list, on lines of their own where they do not fit beside its key.
fn array(texts: &[String], key: &str) -> Value {
    let mut array: Array = texts.iter().collect();
    if array.to_string().chars().count() + key.len() + 3 > WIDTH {
        for text in array.iter_mut() {
            text.decor_mut().set_prefix("\n    ");
        }
        array.set_trailing("\n");
        array.set_trailing_comma(true);
    }
    array.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a profile takes along into `file`, line by line.
    fn taken_into(file: &Path, from: &Path, toml: &str) -> Vec<String> {
        std::fs::write(from, toml).unwrap();
        let config = ConfigFile::read(from).unwrap().unwrap();
        let others = others(&Profile::of(&config, None).unwrap(), file).unwrap();
        let line = |(key, item): (String, Item)| format!("{key} = {}", item.to_string().trim());
        others.into_iter().map(line).collect()
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
        assert_eq!(shown(&system), ["ledger = \"own.db\"", "timeout = \"9s\""]);
        let ledger = toml_edit::value(folder.path().join("own.db").display().to_string());
        assert_eq!(
            shown(&folder.path().join("own/config.toml")),
            [
                &format!("ledger = {ledger}"),
                "timeout = \"9s\"",
                "rate = \"5/s\""
            ]
        );
    }
}
