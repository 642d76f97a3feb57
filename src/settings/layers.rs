//! What is said of the options, by whom, and what holds of it.
//!
//! Each layer is a set of options of which some are said. The stronger comes first: what was
//! typed, the environment, the run that rejects among the inputs come from, the profile, what is
//! common to all profiles, defaults. They are combined option by option: the first that says
//! anything of one settles it, and a list is not added to.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Profile, defaults};
use crate::api::BaseUrl;
use crate::lead::RunId;
use crate::options::{Group, LogOptions, Options, Said, Scope, TokenSource};
use crate::phone::Region;

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

impl Origin {
    /// Whether it is the file of settings.
    fn is_profile(self) -> bool {
        matches!(self, Origin::Profile | Origin::AllProfiles)
    }
}

/// The options that come from one place.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Where they come from.
    pub origin: Origin,
    /// Those that it says; the others are `None`.
    pub options: Options,
}

impl Layer {
    /// Options from this place.
    pub fn new(origin: Origin, options: Options) -> Layer {
        Layer { origin, options }
    }
}

/// All that is said, the stronger first.
#[derive(Debug)]
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
        let typed = Layer::new(Origin::Flag, typed);
        let mut layers = Layers {
            layers: [vec![typed], environment, of_profile].concat(),
            profile,
            withheld: None,
            reserved: Vec::new(),
        };
        layers.reserved = layers.files_of_settings();
        layers.leave_out(writes_outputs);
        layers.leave_out_weaker_regions();
        layers.withhold_token();
        layers
    }

    /// What holds of all that is said.
    pub fn options(&self) -> Options {
        let mut options = self.said();
        options.complete(&defaults::of(&options));
        options
    }

    /// The same without defaults.
    pub fn said(&self) -> Options {
        let mut options = combined(&self.layers);
        // An empty list says nothing, but that none of the columns is sent.
        let variables = options.mapping.var.take();
        for (_, field) in options.fields_mut() {
            if field.json() == Some(json!([])) {
                field.clear();
            }
        }
        options.mapping.var = variables;
        options
    }

    /// What was typed.
    pub fn typed(&self) -> Options {
        self.of(|origin| origin == Origin::Flag)
    }

    /// What the profile says, and the keys that are common to all.
    pub fn of_profile(&self) -> Options {
        self.of(Origin::is_profile)
    }

    /// What the list that was typed for an option leaves out of the ones that it takes the place
    /// of: each text, and who says it.
    pub fn left_out<T>(
        &self,
        list: impl Fn(&Options) -> Option<&Vec<Said<T>>>,
        is_same: impl Fn(&T, &T) -> bool,
    ) -> Vec<(String, String)> {
        let Some((typed, weaker)) = self.layers.split_first() else {
            return Vec::new();
        };
        let Some(stays) = list(&typed.options) else {
            return Vec::new();
        };
        let left_out = weaker.iter().flat_map(|layer| {
            let said = list(&layer.options).into_iter().flatten();
            let said = said.filter(|text| !stays.iter().any(|other| is_same(other, text)));
            said.map(|text| {
                let text = text.text().to_string_lossy();
                (text.into_owned(), self.words(layer.origin))
            })
        });
        left_out.collect()
    }

    /// Who says something, in words.
    fn words(&self, origin: Origin) -> String {
        match (origin, &self.profile) {
            (Origin::Run(run), _) => format!("run {run}"),
            (Origin::Environment(name), _) => name.to_owned(),
            (_, Some(profile)) => profile.place(),
            (_, None) => "the settings".to_owned(),
        }
    }

    /// The region of the run that rejects among the inputs come from, where there is one.
    pub fn region_of_run(&self) -> Option<Region> {
        let of_run = self.of(|origin| matches!(origin, Origin::Run(_)));
        of_run.phones.region.as_deref()?.country()
    }

    /// What variables say.
    pub fn of_environment(&self) -> Options {
        self.of(|origin| matches!(origin, Origin::Environment(_)))
    }

    /// The variables that say something that `is_said` asks about.
    pub(super) fn variables_saying(&self, is_said: impl Fn(&Options) -> bool) -> Vec<&'static str> {
        let layers = self.layers.iter().filter(|layer| is_said(&layer.options));
        let variables = layers.filter_map(|layer| match layer.origin {
            Origin::Environment(name) => Some(name),
            _ => None,
        });
        variables.collect()
    }

    fn of(&self, is_meant: impl Fn(Origin) -> bool) -> Options {
        let layers = self.layers.iter().filter(|layer| is_meant(layer.origin));
        combined(layers)
    }

    /// Where it comes from what holds of the option that `is_said` asks about.
    pub fn origin(&self, is_said: impl Fn(&Options) -> bool) -> Origin {
        let mut layers = self.layers.iter();
        let layer = layers.find(|layer| is_said(&layer.options));
        let layer = layer.filter(|_| is_said(&self.said()));
        layer.map_or(Origin::Default, |layer| layer.origin)
    }

    /// The profile that says it, in words, where it is one that does.
    pub fn profile_saying(&self, is_said: impl Fn(&Options) -> bool) -> Option<String> {
        let profile = self.profile.as_ref()?;
        self.origin(is_said).is_profile().then(|| profile.place())
    }

    /// With what the run of a rejects file says, below what was typed and above the profile: what
    /// that says of how rows become leads, it says of new lists. Its do-not-call lists protect
    /// beside those of the run.
    pub fn with_run(mut self, run: RunId, mut options: Options) -> Layers {
        let mut lists = self.of_profile().phones.suppress.unwrap_or_default();
        for list in options.phones.suppress.unwrap_or_default() {
            if !lists.iter().any(|known| **known == *list) {
                lists.push(list);
            }
        }
        options.phones.suppress = Some(lists);
        let mut layers = self.layers.iter();
        let at = layers.position(|layer| layer.origin.is_profile());
        let at = at.unwrap_or(self.layers.len());
        for Layer { options, .. } in &mut self.layers[at..] {
            options.retain(|declared| !declared.is_handed_to_rejects());
        }
        let of_run = Layer::new(Origin::Run(run), options);
        self.layers.insert(at, of_run);
        self.leave_out_weaker_regions();
        self
    }

    /// Whoever says that digits are international says that no region completes them, unless
    /// one is said beside it.
    fn leave_out_weaker_regions(&mut self) {
        let mut assumes_plus = false;
        for Layer { options, .. } in &mut self.layers {
            if assumes_plus {
                options.phones.region = None;
            }
            assumes_plus |= options.phones.assume_plus == Some(true);
        }
    }

    /// What a weaker layer says does not count where a stronger one says something that it
    /// cannot stand beside.
    fn leave_out(&mut self, writes_outputs: bool) {
        let typed = self.typed();
        let is_trial = typed.connection.sandbox == Some(true);
        let writes_outputs = writes_outputs && !is_trial && typed.delivery.dry_run != Some(true);
        let says = |log: &LogOptions| log.quiet == Some(true) || log.verbose > Some(0);
        let mut says_how_much = says(&typed.log);
        for layer in self.layers.iter_mut().skip(1) {
            let is_of_file = layer.origin.is_profile();
            layer.options.retain(|declared| {
                // What an import has written is not replaced by what a check or a trial would.
                let is_of_import = is_of_file && declared.is_output && !writes_outputs;
                let is_of_service = is_trial && declared.scope == Scope::Service;
                !is_of_import && !is_of_service
            });
            if typed.mapping.var.is_some() {
                // A column of the profile could otherwise be named by both.
                layer.options.mapping.skip_column = None;
            }
            let log = &mut layer.options.log;
            if says_how_much {
                (log.quiet, log.verbose) = (None, None);
            }
            says_how_much |= says(log);
        }
    }

    /// A profile's token goes only to that profile's service: the one that stands beside it or
    /// holds for all profiles. Anywhere else nobody has agreed to send it.
    fn withhold_token(&mut self) {
        let Some(place) = self.profile_saying(|said| said.connection.token_file.is_some()) else {
            return;
        };
        let home = home_of_token(&self.layers);
        if home.is_some() && home == address(&self.layers) {
            return;
        }
        for layer in &mut self.layers {
            layer.options.connection.token_file = None;
        }
        self.withheld = Some(match home {
            Some(home) => format!("the token of {place} is for `{home}` alone"),
            None => format!(
                "the token of {place} is sent nowhere, since no `base_url` beside it says whom it is for"
            ),
        });
    }

    fn files_of_settings(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for Layer { options, .. } in &self.layers {
            let token = options.connection.token_file.as_deref();
            files.extend(token.and_then(token_path).map(Path::to_owned));
            files.extend(options.connection.ca_file.as_deref().cloned());
            files.extend(options.place.config.as_deref().cloned());
        }
        files.extend(self.profile.as_ref().map(|profile| profile.file.clone()));
        files
    }
}

pub(super) fn combined<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Options {
    let mut options = Options::default();
    for layer in layers {
        options.complete(&layer.options);
    }
    options
}

/// The address that a profile's token is for: the one beside it or common to all, if that is the
/// profile's own.
pub(super) fn home_of_token(layers: &[Layer]) -> Option<BaseUrl> {
    let says_token = |layer: &Layer| layer.options.connection.token_file.is_some();
    let token = layers.iter().position(says_token)?;
    let profile = layers.iter().position(|layer| layer.origin.is_profile())?;
    let of_profile = address(&layers[profile..]);
    address(&layers[token..]).filter(|home| of_profile.as_ref() == Some(home))
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
pub(super) fn settled<T: Clone>(said: &Option<Said<T>>) -> anyhow::Result<T> {
    let value = said.as_deref().cloned();
    value.ok_or_else(|| anyhow::anyhow!("an option that has a default has no value"))
}
