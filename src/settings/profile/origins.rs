//! Every setting of an import that is in force, and where it comes from.
//!
//! Defaults are asked of those who apply them, so that what is shown is what happens. The
//! token is `set` or `not set`: nothing else is known here of it.

use std::time::Duration;

use anyhow::Result;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use tracing::warn;

use super::flags::{self, Takes};
use crate::api::BaseUrl;
use crate::cli::ImportArgs;
use crate::pipeline::ConcurrencyChoice;
use crate::rate::{Rate, RateChoice};
use crate::settings::connection::token;
use crate::settings::environment::LEADLOAD_BASE_URL;
use crate::settings::import::{TIMEOUT, lead_form, policy, rate};
use crate::settings::{Environment, LedgerChoice, word};

/// A setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingInForce {
    /// Its name, as it stands in a profile.
    pub name: String,
    /// Its value; several of what can be said several times.
    pub values: Vec<String>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was typed.
    Flag,
    /// This variable.
    Environment(&'static str),
    /// The profile in force.
    Profile,
    /// What is common to all profiles of the file.
    AllProfiles,
    /// Nobody has said anything.
    Default,
}

/// All settings that have a value.
///
/// # Errors
///
/// Where an import could not use one of them.
pub fn settings_in_force(
    args: &ImportArgs,
    matches: &ArgMatches,
    environment: &Environment,
) -> Result<Vec<SettingInForce>> {
    let view = View {
        args,
        matches,
        environment,
    };
    let import = flags::of_import();
    let flags = import
        .get_arguments()
        .filter(|flag| flag.get_long().is_some());
    let settings = flags.map(|flag| view.setting(flag));
    let settings: Vec<Option<SettingInForce>> = settings.collect::<Result<_>>()?;
    Ok(settings.into_iter().flatten().collect())
}

struct View<'a> {
    args: &'a ImportArgs,
    matches: &'a ArgMatches,
    environment: &'a Environment,
}

impl View<'_> {
    fn setting(&self, flag: &Arg) -> Result<Option<SettingInForce>> {
        let key = flags::key_of(flag);
        let found = match key {
            // They are shown above all settings.
            "config" | "profile" => None,
            "base_url" => self.base_url()?,
            "token_file" => return Ok(Some(self.token())),
            "ledger" => Some(self.ledger()?),
            _ => match self.said(flag) {
                Some(values) => Some((values, self.origin(key))),
                None => self.default(key)?.map(|text| (vec![text], Origin::Default)),
            },
        };
        Ok(found.map(|(values, origin)| SettingInForce {
            name: key.to_owned(),
            values,
            origin,
        }))
    }

    /// Where the value of a flag comes from that has one.
    fn origin(&self, key: &str) -> Origin {
        let profile = self.environment.profile.as_ref();
        let profile = profile.filter(|profile| profile.gives(key));
        let setting = profile.and_then(|profile| profile.profile.setting(key));
        match self.matches.value_source(key) {
            _ if setting.is_some_and(|setting| setting.is_common) => Origin::AllProfiles,
            _ if profile.is_some() => Origin::Profile,
            Some(ValueSource::CommandLine) => Origin::Flag,
            _ => Origin::Default,
        }
    }

    /// What was said of a flag, as text.
    fn said(&self, flag: &Arg) -> Option<Vec<String>> {
        let key = flags::key_of(flag);
        match flags::takes(flag) {
            Takes::Nothing => self.matches.get_flag(key).then(|| vec!["true".into()]),
            Takes::Count => match self.matches.get_count(key) {
                0 => None,
                times => Some(vec![times.to_string()]),
            },
            Takes::One | Takes::Several => {
                let values = self.matches.get_raw(key)?;
                Some(
                    values
                        .map(|value| value.to_string_lossy().into_owned())
                        .collect(),
                )
            }
        }
    }

    fn base_url(&self) -> Result<Option<(Vec<String>, Origin)>> {
        let (url, origin) = match (&self.args.connection.base_url, &self.environment.base_url) {
            _ if self.args.connection.sandbox => return Ok(None),
            (Some(url), _) => (url, self.origin("base_url")),
            (None, Some(url)) => (url, Origin::Environment(LEADLOAD_BASE_URL)),
            (None, None) => return Ok(None),
        };
        let url = BaseUrl::parse(url, self.args.connection.insecure_http)?;
        Ok(Some((vec![url.to_string()], origin)))
    }

    /// Whether there is a token. One that cannot be used is none, and is told of.
    fn token(&self) -> SettingInForce {
        let args = &self.args.connection;
        let origin = match () {
            () if args.sandbox => None,
            () if args.token_file.is_some() => Some(self.origin("token_file")),
            () => self.environment.token_variable().map(Origin::Environment),
        };
        let found = origin.map(|_| token(args, self.environment));
        let profile = self.environment.profile.as_ref();
        let withheld = profile.and_then(|profile| profile.no_token.as_ref());
        match (&found, withheld) {
            (Some(Err(error)), _) => {
                let text = error.to_string();
                warn!("{}", text.split("\n\n").next().unwrap_or_default());
            }
            (None, Some(why)) if !args.sandbox => warn!("{why}"),
            _ => {}
        }
        let value = match found {
            Some(Ok(_)) => "set",
            _ => "not set",
        };
        SettingInForce {
            name: "token".into(),
            values: vec![value.into()],
            origin: origin.unwrap_or(Origin::Default),
        }
    }

    fn ledger(&self) -> Result<(Vec<String>, Origin)> {
        let choice = LedgerChoice::for_rows(self.args, self.environment)?;
        let origin = match (&self.args.ledger, &self.environment.ledger) {
            (Some(_), _) => self.origin("ledger"),
            (None, Some(_)) if !self.args.connection.sandbox => {
                Origin::Environment("LEADLOAD_LEDGER")
            }
            _ => Origin::Default,
        };
        let path = choice.path().map(|path| path.display().to_string());
        Ok((vec![path.unwrap_or_else(|| "none".into())], origin))
    }

    /// What holds where nothing is said.
    fn default(&self, key: &str) -> Result<Option<String>> {
        let ImportArgs {
            delivery,
            mapping,
            phones,
            ..
        } = self.args;
        let policy = policy(delivery);
        Ok(Some(match key {
            "rate" => match rate(&delivery.rate, self.args.connection.sandbox)? {
                RateChoice::Auto => "auto".into(),
                RateChoice::Unlimited => "none".into(),
                RateChoice::Limits(limits) => {
                    let limits: Vec<String> = limits.iter().map(Rate::to_string).collect();
                    limits.join(", ")
                }
            },
            "concurrency" => match policy.concurrency {
                ConcurrencyChoice::Auto => "auto".into(),
                ConcurrencyChoice::Fixed(most) => most.to_string(),
            },
            "max_attempts" => policy.max_attempts.to_string(),
            "timeout" => shown(TIMEOUT),
            "max_outage" => shown(policy.max_outage),
            "stop_after" => policy.stop_after.to_string(),
            "on_uncertain" => word(policy.on_uncertain),
            "variables_shape" => word(lead_form(delivery).variables_shape),
            "phone_rule" => word(phones.phone_rule.unwrap_or_default()),
            "var_names" => word(mapping.var_names.unwrap_or_default()),
            "empty" => word(mapping.empty.unwrap_or_default()),
            _ => return Ok(None),
        }))
    }
}

/// A duration as it would be typed.
fn shown(duration: Duration) -> String {
    match duration.as_secs() {
        seconds if seconds.is_multiple_of(3600) => format!("{}h", seconds / 3600),
        seconds => format!("{seconds}s"),
    }
}
