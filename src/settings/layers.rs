//! What is said of the options, by whom, and what holds of it.
//!
//! Each layer is a set of options of which some are said. The stronger comes first: what was
//! typed, the environment, the run that rejects among the inputs come from, the profile, what is
//! common to all profiles, defaults. They are combined option by option: the first that says
//! anything of one settles it, and a list is not added to.

use std::path::{Path, PathBuf};

use super::{Profile, defaults};
use crate::api::BaseUrl;
use crate::lead::RunId;
use crate::options::{Given, Group, LogOptions, Options, Said, Scope, TokenSource};

/// Where what is said of an option comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was typed, or answered to a question.
    Flag,
    /// This variable.
    Environment(&'static str),
    /// The run that rejects among the inputs come from.
    Run(RunId),
    /// The profile in use.
    Profile,
    /// What is common to all profiles of the file.
    AllProfiles,
    /// Nobody has said anything.
    Default,
}

/// Options that one place says.
#[derive(Debug, Clone)]
pub struct Layer {
    /// The place.
    pub origin: Origin,
    /// What it says.
    pub options: Options,
}

/// All that is said, the stronger first.
#[derive(Debug, Clone)]
pub struct Layers {
    layers: Vec<Layer>,
    /// The profile in use, where there is one.
    pub profile: Option<Profile>,
    /// Why the profile's token is not used, where that has to do with the service.
    pub withheld: Option<String>,
    /// The files that say where the service is and who asks, whoever names them.
    pub reserved: Vec<PathBuf>,
}

impl Layers {
    /// What was `typed`, over the environment, over a profile. `writes_outputs` says that it
    /// is an import that may be, for others leave a profile's files alone.
    pub fn new(
        typed: Options,
        environment: Vec<Layer>,
        profile: Option<Profile>,
        writes_outputs: bool,
    ) -> Layers {
        let of_profile = profile.as_ref().map(Profile::layers).unwrap_or_default();
        let typed = Layer {
            origin: Origin::Flag,
            options: typed,
        };
        let mut layers = Layers {
            layers: [vec![typed], environment, of_profile].concat(),
            profile,
            withheld: None,
            reserved: Vec::new(),
        };
        layers.reserved = layers.files_of_settings();
        layers.leave_out(writes_outputs);
        layers.withhold_token();
        layers
    }

    /// What holds of all that is said.
    pub fn options(&self) -> Options {
        let mut options = self.said();
        options.each_mut(&mut |declared, field| {
            // An empty list says nothing, but that none of the columns is sent.
            let is_empty = field.given() == Some(Given::List(Vec::new()));
            if is_empty && declared.key != "var" {
                field.clear();
            }
        });
        options.complete(&defaults::of(&options));
        options
    }

    /// The same without defaults.
    pub fn said(&self) -> Options {
        combined(&self.layers)
    }

    /// What was typed.
    pub fn typed(&self) -> Options {
        self.of(|origin| origin == Origin::Flag)
    }

    /// What the profile says, and the keys that are common to all.
    pub fn of_profile(&self) -> Options {
        self.of(|origin| matches!(origin, Origin::Profile | Origin::AllProfiles))
    }

    /// What variables say.
    pub fn of_environment(&self) -> Options {
        self.of(|origin| matches!(origin, Origin::Environment(_)))
    }

    /// The variables that say something, and what.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, &Options)> {
        self.layers.iter().filter_map(|layer| match layer.origin {
            Origin::Environment(name) => Some((name, &layer.options)),
            _ => None,
        })
    }

    fn of(&self, is_meant: impl Fn(Origin) -> bool) -> Options {
        let layers = self.layers.iter().filter(|layer| is_meant(layer.origin));
        combined(layers)
    }

    /// Where it comes from what holds of the option that `is_said` asks about.
    pub fn origin(&self, is_said: impl Fn(&Options) -> bool) -> Origin {
        let mut layers = self.layers.iter();
        let layer = layers.find(|layer| is_said(&layer.options));
        layer.map_or(Origin::Default, |layer| layer.origin)
    }

    /// The same of the option by this key.
    pub fn origin_of(&self, key: &str) -> Origin {
        self.origin(|options| options.texts(key).is_some())
    }

    /// The profile that says it, in words, where it is one that does.
    pub fn profile_saying(&self, is_said: impl Fn(&Options) -> bool) -> Option<String> {
        let profile = self.profile.as_ref()?;
        let is_from_it = matches!(self.origin(is_said), Origin::Profile | Origin::AllProfiles);
        is_from_it.then(|| profile.place())
    }

    /// The same for rejects of a run: what the profile says of how rows become leads, it says
    /// of new lists. Its do-not-call lists protect beside those of the run.
    pub fn with_run(mut self, run: RunId, mut options: Options) -> Layers {
        let mut lists = self.of_profile().phones.suppress.unwrap_or_default();
        for list in options.phones.suppress.unwrap_or_default() {
            if !lists.iter().any(|known| **known == *list) {
                lists.push(list);
            }
        }
        options.phones.suppress = Some(lists);
        let is_before =
            |layer: &Layer| matches!(layer.origin, Origin::Flag | Origin::Environment(_));
        let at = self
            .layers
            .iter()
            .take_while(|layer| is_before(layer))
            .count();
        for layer in &mut self.layers[at..] {
            let options = std::mem::take(&mut layer.options);
            layer.options = options.only(|declared| !declared.is_handed_to_rejects());
        }
        let origin = Origin::Run(run);
        self.layers.insert(at, Layer { origin, options });
        self
    }

    /// What a weaker layer says does not count where a stronger one says something that it
    /// cannot stand beside.
    fn leave_out(&mut self, writes_outputs: bool) {
        let typed = self.typed();
        let is_trial = typed.connection.sandbox == Some(true);
        let writes_outputs = writes_outputs && !is_trial && typed.delivery.dry_run != Some(true);
        let says = |log: &LogOptions| log.quiet == Some(true) || log.verbose > Some(0);
        let mut says_how_much = says(&typed.log);
        for layer in &mut self.layers {
            if layer.origin == Origin::Flag {
                continue;
            }
            let options = std::mem::take(&mut layer.options);
            let is_of_file = !matches!(layer.origin, Origin::Environment(_));
            layer.options = options.only(|declared| {
                // What an import has written is not replaced by what a check or a trial would.
                let is_of_import = is_of_file && declared.is_output && !writes_outputs;
                let is_of_service = is_trial && declared.scope == Scope::Service;
                let is_muted = says_how_much && ["quiet", "verbose"].contains(&declared.key);
                // A column of the profile could otherwise be named by both.
                let is_narrowed = declared.key == "skip_column" && typed.mapping.var.is_some();
                !is_of_import && !is_of_service && !is_muted && !is_narrowed
            });
            says_how_much |= says(&layer.options.log);
        }
    }

    /// A profile's token goes only to that profile's service: the one that stands beside it or
    /// holds for all profiles. Anywhere else nobody has agreed to send it.
    fn withhold_token(&mut self) {
        let says_token = |layer: &Layer| layer.options.connection.token_file.is_some();
        let Some(at) = self.layers.iter().position(says_token) else {
            return;
        };
        if !matches!(
            self.layers[at].origin,
            Origin::Profile | Origin::AllProfiles
        ) {
            return;
        }
        let home = address(&self.layers[at..]);
        if home.is_some() && home == address(&self.layers) {
            return;
        }
        let place = self
            .profile
            .as_ref()
            .map(Profile::place)
            .unwrap_or_default();
        self.withheld = Some(match home {
            Some(home) => format!("the token of {place} is for `{home}` alone"),
            None => format!(
                "the token of {place} is sent nowhere, since no `base_url` beside it says whom it is for"
            ),
        });
        for layer in &mut self.layers[at..] {
            layer.options.connection.token_file = None;
        }
    }

    fn files_of_settings(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for layer in &self.layers {
            let connection = &layer.options.connection;
            files.extend(
                connection
                    .token_file
                    .as_deref()
                    .and_then(token_path)
                    .map(Path::to_owned),
            );
            files.extend(connection.ca_file.as_deref().cloned());
            files.extend(layer.options.place.config.as_deref().cloned());
        }
        files.extend(self.profile.as_ref().map(|profile| profile.file.clone()));
        files
    }
}

fn combined<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Options {
    let mut options = Options::default();
    for layer in layers {
        options.complete(&layer.options);
    }
    options
}

/// The address that these layers give, whether it may be used or not.
fn address(layers: &[Layer]) -> Option<BaseUrl> {
    let url = combined(layers).connection.base_url?;
    BaseUrl::parse(&url.0, true).ok()
}

/// The file with the token.
pub(super) fn token_path(source: &TokenSource) -> Option<&Path> {
    match source {
        TokenSource::File(path) => Some(path),
        TokenSource::Text(_) => None,
    }
}

/// The value of an option that has a default.
///
/// # Errors
///
/// Where it has none: these options were not laid over defaults.
pub(super) fn settled<T: Clone>(key: &str, said: &Option<Said<T>>) -> anyhow::Result<T> {
    let value = said.as_deref().cloned();
    value.ok_or_else(|| anyhow::anyhow!("nothing is said of `{key}`, which has no default"))
}
