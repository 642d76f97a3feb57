//! What a run hands down to its rejects: the flags that say how rows become leads.
//!
//! They are kept in the ledger as they were given, so that the rejects of a run, mended
//! and given back, need no flags. What is given again wins.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::cli::{ImportArgs, PhoneArgs};
use crate::phone::Region;

/// The flags, as text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDefaults {
    campaign: Option<String>,
    campaign_column: Option<String>,
    phone_columns: Vec<String>,
    variables: Vec<String>,
    /// That no column was sent, as a profile can say; without it none named means all.
    no_variables: bool,
    skipped: Vec<String>,
    constants: Vec<(String, String)>,
    var_names: Option<String>,
    empty: Option<String>,
    variables_shape: Option<String>,
    region: Option<String>,
    region_column: Option<String>,
    assume_plus: bool,
    phone_rule: Option<String>,
    countries: Vec<String>,
    /// The do-not-call lists, as absolute paths.
    suppress: Vec<String>,
    kept: Vec<String>,
}

impl RunDefaults {
    /// The flags of a run.
    pub fn of(args: &ImportArgs) -> RunDefaults {
        let (mapping, phones) = (&args.mapping, &args.phones);
        RunDefaults {
            campaign: mapping.campaign.clone(),
            campaign_column: mapping.campaign_column.clone(),
            phone_columns: mapping.phone_column.clone(),
            variables: mapping.var.clone(),
            no_variables: mapping.no_var,
            skipped: mapping.skip_column.clone(),
            constants: mapping.set.clone(),
            var_names: mapping.var_names.map(word),
            empty: mapping.empty.map(word),
            variables_shape: args.delivery.variables_shape.map(word),
            region: phones.region.map(|region| region.to_string()),
            region_column: phones.region_column.clone(),
            assume_plus: phones.assume_plus,
            phone_rule: phones.phone_rule.map(word),
            countries: phones.countries.iter().map(Region::to_string).collect(),
            suppress: phones.suppress.iter().map(|path| absolute(path)).collect(),
            kept: mapping.keep.clone(),
        }
    }

    /// The do-not-call lists of the run.
    pub fn suppress(&self) -> impl Iterator<Item = &Path> {
        self.suppress.iter().map(Path::new)
    }

    /// Fills in whatever was not `typed`: what a profile says of these flags, it says of
    /// new lists.
    pub fn fill_in(&self, args: &mut ImportArgs, typed: &ImportArgs) {
        args.mapping.clone_from(&typed.mapping);
        args.delivery.variables_shape = typed.delivery.variables_shape;
        let mut suppress = std::mem::take(&mut args.phones.suppress);
        if typed.phones.suppress.is_empty() {
            // A list of the profile protects beside those of the run.
            let known: Vec<String> = suppress.iter().map(|path| absolute(path)).collect();
            let others = self.suppress.iter().filter(|list| !known.contains(list));
            suppress.extend(others.map(PathBuf::from));
        }
        args.phones = PhoneArgs {
            suppress,
            ..typed.phones.clone()
        };
        let mapping = &mut args.mapping;
        or(&mut mapping.campaign, &self.campaign);
        or(&mut mapping.campaign_column, &self.campaign_column);
        or_list(&mut mapping.phone_column, &self.phone_columns);
        mapping.no_var |= self.no_variables && mapping.var.is_empty();
        or_list(&mut mapping.var, &self.variables);
        or_list(&mut mapping.skip_column, &self.skipped);
        or_list(&mut mapping.set, &self.constants);
        or_list(&mut mapping.keep, &self.kept);
        or_word(&mut mapping.var_names, self.var_names.as_deref());
        or_word(&mut mapping.empty, self.empty.as_deref());
        let delivery = &mut args.delivery;
        or_word(
            &mut delivery.variables_shape,
            self.variables_shape.as_deref(),
        );
        let phones = &mut args.phones;
        or(
            &mut phones.region,
            &self.region.as_deref().and_then(Region::parse),
        );
        or(&mut phones.region_column, &self.region_column);
        phones.assume_plus |= self.assume_plus;
        or_word(&mut phones.phone_rule, self.phone_rule.as_deref());
        let countries = self.countries.iter();
        let countries: Vec<Region> = countries.filter_map(|name| Region::parse(name)).collect();
        or_list(&mut phones.countries, &countries);
    }
}

/// Where a file is, from any folder. A link stays one, since it may lead to another list
/// tomorrow; a path that is no Unicode names no file then, which is an error at its next use.
fn absolute(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.to_string_lossy().into_owned()
}

/// The word for a choice on the command line.
pub fn word(value: impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

fn or<T: Clone>(given: &mut Option<T>, default: &Option<T>) {
    if given.is_none() {
        given.clone_from(default);
    }
}

fn or_list<T: Clone>(given: &mut Vec<T>, default: &[T]) {
    if given.is_empty() {
        *given = default.to_vec();
    }
}

fn or_word<T: ValueEnum>(given: &mut Option<T>, default: Option<&str>) {
    if given.is_none() {
        *given = default.and_then(|word| T::from_str(word, false).ok());
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, Command};

    fn args(line: &str) -> ImportArgs {
        let words = ["leadload", "import"].into_iter().chain(line.split(' '));
        match Cli::try_parse_from(words).unwrap().command {
            Command::Import(args) => *args,
            _ => unreachable!(),
        }
    }

    const EVERYTHING: &str = "leads.csv --campaign 7 --campaign-column list --phone-column a --phone-column b --var x=c --skip-column d --set e=f --var-names as-is --empty send --variables-shape object --region GB --region-column land --assume-plus --phone-rule valid --countries GB,DE --suppress /dnc.txt --keep g=h";

    #[test]
    fn rejects_take_every_flag_that_was_not_given() {
        let run = RunDefaults::of(&args(EVERYTHING));
        let stored = serde_json::to_string(&run).unwrap();
        let run: RunDefaults = serde_json::from_str(&stored).unwrap();
        let mut given = args("leads.rejects.csv");
        let typed = given.clone();
        run.fill_in(&mut given, &typed);
        assert_eq!(RunDefaults::of(&given), run);
    }

    #[test]
    fn a_run_hands_down_each_flag_that_need_not_be_typed_again() {
        let mut flags = EVERYTHING.split(" --");
        let input = flags.next().unwrap();
        let none = RunDefaults::of(&args(input));
        let mut handed_down: Vec<String> = Vec::new();
        for flag in flags {
            let run = RunDefaults::of(&args(&format!("{input} --{flag}")));
            assert_ne!(run, none, "{flag}");
            let name = flag.split(' ').next().unwrap();
            handed_down.push(name.replace('-', "_"));
        }
        handed_down.sort_unstable();
        handed_down.dedup();
        let mut of_the_run = crate::cli::OF_THE_RUN.to_vec();
        of_the_run.sort_unstable();
        assert_eq!(handed_down, of_the_run);
    }

    #[test]
    fn the_run_comes_before_the_profile_and_lists_of_both_protect() {
        let run = "leads.csv --campaign 7 --var x=c --region GB --suppress /dnc.txt";
        let run = RunDefaults::of(&args(run));
        let typed = args("leads.rejects.csv --region FR");
        let with_profile = "leads.rejects.csv --region FR --campaign 8 --skip-column d --assume-plus --suppress no.txt --rate 5/s";
        let mut given = args(with_profile);
        run.fill_in(&mut given, &typed);
        let expected = "leads.rejects.csv --region FR --campaign 7 --var x=c --suppress no.txt --suppress /dnc.txt";
        let expected = RunDefaults::of(&args(expected));
        assert_eq!(RunDefaults::of(&given), expected);
        assert_eq!(given.delivery.rate.len(), 1);
    }

    #[test]
    fn that_no_column_is_sent_is_handed_down() {
        let mut with_profile = args("leads.csv --campaign 7");
        with_profile.mapping.no_var = true;
        let stored = serde_json::to_string(&RunDefaults::of(&with_profile)).unwrap();
        let run: RunDefaults = serde_json::from_str(&stored).unwrap();
        for (line, no_var) in [("a.csv", true), ("a.csv --var y", false)] {
            let typed = args(line);
            let mut given = typed.clone();
            run.fill_in(&mut given, &typed);
            assert_eq!(given.mapping.no_var, no_var, "{line}");
        }
    }

    #[test]
    fn what_is_given_again_wins() {
        let run = RunDefaults::of(&args(EVERYTHING));
        let mut given = args("leads.rejects.csv --campaign 8 --var y --region FR");
        let typed = given.clone();
        run.fill_in(&mut given, &typed);
        assert_eq!(given.mapping.campaign.as_deref(), Some("8"));
        assert_eq!(given.mapping.var, ["y"]);
        assert_eq!(given.phones.region, Region::parse("FR"));
        assert_eq!(given.mapping.phone_column, ["a", "b"]);
    }
}
