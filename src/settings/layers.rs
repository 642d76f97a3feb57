//! Options from several sources, and how they are combined.
//!
//! Stronger sources come first: the command line, the environment, the run that rejects among
//! the inputs come from, the profile, the settings for all profiles, defaults. Sources are
//! combined option by option: the first one that gives an option wins, and lists are not merged.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf, absolute};

use serde_json::json;

use super::environment::password_file_place;
use super::profile::config_file::usual_place;
use super::{Profile, check_alone, quoted};
use crate::api::BaseUrl;
use crate::intake::OnUncertain;
use crate::lead::RunId;
use crate::message::Message;
use crate::options::{Field, Given, LogOptions, Options, Scope, TokenSource};
use crate::phone::Region;
use crate::rate::{Rate, RateChoice};
use crate::text::quoted_value;

/// The default rate for the sandbox: fast enough for a short trial, slow enough to watch.
const SANDBOX_RATE: Rate = Rate::per_second(50);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line, or the answer to a question.
    Flag,
    Environment(&'static str),
    /// The run that rejects among the inputs come from.
    Run(RunId),
    Profile(String),
    AllProfiles,
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("flag"),
            Origin::Environment(name) => f.write_str(name),
            Origin::Run(run) => write!(f, "run {run}"),
            Origin::Profile(name) => write!(f, "profile {}", quoted_value(name)),
            Origin::AllProfiles => f.write_str("the settings for all profiles"),
            Origin::Default => f.write_str("default"),
        }
    }
}

impl Origin {
    fn is_profile(&self) -> bool {
        matches!(self, Origin::Profile(_) | Origin::AllProfiles)
    }
}

#[derive(Debug, Clone)]
pub struct Layer {
    pub origin: Origin,
    /// The options that this source gives; the others are `None`.
    pub options: Options,
}

impl Layer {
    pub fn new(origin: Origin, options: Options) -> Layer {
        Layer { origin, options }
    }
}

/// All sources, the strongest first.
#[derive(Debug, Default)]
pub struct Layers {
    layers: Vec<Layer>,
    pub profile: Option<Profile>,
    /// Why the profile's token is withheld from the service; `None` if it is not.
    pub withheld: Option<String>,
    /// Settings files, files of tokens and passwords, and certificates, of all sources and all
    /// profiles, whether they exist or not: no output may take their place.
    pub reserved: Vec<PathBuf>,
}

impl Layers {
    /// Combines the command line, the environment and a profile, the strongest first.
    /// `writes_outputs` is false for commands that do not write the files that a profile names.
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
            ..Layers::default()
        };
        layers.reserved = layers.files_of_settings();
        layers.drop_what_cannot_be_combined(writes_outputs);
        layers.drop_weaker_regions();
        layers.withhold_token();
        layers
    }

    /// Reads the profile that the typed options select, unless the command uses
    /// none. An error in the settings is returned next to the layers: some options,
    /// such as the format of standard output, apply to the message about it.
    pub fn load(
        typed: Options,
        environment: Vec<Layer>,
        has_profile: bool,
        writes_outputs: bool,
    ) -> (Layers, anyhow::Result<()>) {
        let found = if has_profile {
            Profile::in_use(&typed, &combined(&environment))
        } else {
            Ok(None)
        };
        let (profile, wrong) = match found {
            Ok(mut profile) => {
                let wrong = profile.as_mut().and_then(|profile| profile.wrong.take());
                (profile, wrong.map(anyhow::Error::from))
            }
            Err(error) => (None, Some(error)),
        };
        let layers = Layers::new(typed, environment, profile, writes_outputs);
        // First, since what is wrong may be the name of the settings file.
        let checked = match (layers.refuse_quotes(), wrong) {
            (Err(message), _) => Err(message.into()),
            (Ok(()), Some(error)) => Err(error),
            (Ok(()), None) => check_alone(&layers.given()).map_err(|(_, message)| message.into()),
        };
        (layers, checked)
    }

    /// Refuses what the command line or the environment gives in quotation marks.
    fn refuse_quotes(&self) -> Result<(), Message> {
        let given = self.of(|origin| !origin.is_profile());
        let Some((declared, message)) = quoted(&given) else {
            return Ok(());
        };
        let place = match self.origin(|given| given.has(declared)) {
            Origin::Flag => format!("`{}`", declared.flag()),
            origin => origin.to_string(),
        };
        Err(message.behind(format!("{place}:")))
    }

    /// Adds an answer to the typed options.
    pub fn add_answer(&mut self, mut answer: Options) {
        if let Some(typed) = self.layers.first_mut() {
            answer.complete(&typed.options);
            typed.options = answer;
        }
        self.drop_weaker_regions();
    }

    pub fn options(&self) -> Options {
        let mut options = self.given();
        options.complete(&defaults(&options));
        options
    }

    /// All options without the defaults.
    pub fn given(&self) -> Options {
        let mut options = combined(&self.layers);
        // `--suppress none` is there to replace the lists of weaker sources.
        let lists = options.phones.suppress.iter_mut();
        lists.for_each(|lists| lists.retain(|list| **list != Path::new("none")));
        // An empty list counts as not given, except for
        // `var`, where it means that no column is sent.
        let variables = options.mapping.var.take();
        for (_, field) in options.fields_mut() {
            if field.json() == Some(json!([])) {
                field.clear();
            }
        }
        options.mapping.var = variables;
        options
    }

    pub fn typed(&self) -> Options {
        self.of(|origin| *origin == Origin::Flag)
    }

    pub fn of_environment(&self) -> Options {
        self.of(|origin| matches!(origin, Origin::Environment(_)))
    }

    fn of(&self, is_meant: impl Fn(&Origin) -> bool) -> Options {
        combined(self.layers.iter().filter(|layer| is_meant(&layer.origin)))
    }

    /// The values of a list option that the command
    /// line replaces with others, each with its source.
    pub fn replaced(&self, key: &str) -> Vec<(OsString, Origin)> {
        let texts = |options: &Options| options.field(key).map(Field::texts).unwrap_or_default();
        let Some((typed, weaker)) = self.layers.split_first() else {
            return Vec::new();
        };
        let typed = texts(&typed.options);
        if typed.is_empty() {
            return Vec::new();
        }
        let is_same = |one: &OsString, other: &OsString| {
            one == other || absolute(one).ok() == absolute(other).ok()
        };
        let weaker = weaker.iter().flat_map(|layer| {
            let texts = texts(&layer.options).into_iter();
            texts.map(|text| (text, layer.origin.clone()))
        });
        weaker
            .filter(|(text, _)| !typed.iter().any(|other| is_same(other, text)))
            .collect()
    }

    /// The region of the run that rejects among the inputs come from, if there is one.
    pub fn region_of_run(&self) -> Option<Region> {
        let of_run = self.of(|origin| matches!(origin, Origin::Run(_)));
        *of_run.phones.region.as_deref()?
    }

    /// The source of the option that `is_given` looks at.
    pub fn origin(&self, is_given: impl Fn(&Options) -> bool) -> Origin {
        let mut layers = self.layers.iter();
        let layer = layers.find(|layer| is_given(&layer.options));
        let layer = layer.filter(|_| is_given(&self.given()));
        layer.map_or(Origin::Default, |layer| layer.origin.clone())
    }

    /// The profile that gives the option, in words; `None` if another source gives it.
    pub fn profile_giving(&self, is_given: impl Fn(&Options) -> bool) -> Option<String> {
        let origin = self.origin(is_given);
        origin.is_profile().then(|| origin.to_string())
    }

    /// Adds the options of the run that a rejects file names. They are weaker
    /// than what was typed. They replace the profile's mapping, which is for
    /// new lists, but not its do-not-call lists: both sets of lists apply.
    pub fn add_run(&mut self, run: RunId, mut options: Options) {
        let of_profile = self.of(Origin::is_profile);
        let mut lists = of_profile.phones.suppress.unwrap_or_default();
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
            options.retain(|declared| !declared.is_passed_to_rejects());
        }
        self.layers
            .insert(at, Layer::new(Origin::Run(run), options));
        self.drop_weaker_regions();
    }

    /// `--assume-plus` means that no region completes digits,
    /// unless the same source or a stronger one gives a region.
    fn drop_weaker_regions(&mut self) {
        let mut assumes_plus = false;
        for Layer { options, .. } in &mut self.layers {
            if assumes_plus {
                options.phones.region = None;
            }
            assumes_plus |= options.phones.assume_plus == Some(true);
        }
    }

    fn drop_what_cannot_be_combined(&mut self, writes_outputs: bool) {
        let typed = self.typed();
        let is_trial = typed.connection.sandbox == Some(true);
        let writes_outputs = writes_outputs && !is_trial && typed.delivery.dry_run != Some(true);
        let sets_level = |log: &LogOptions| log.is_quiet() || log.verbose > Some(0);
        let mut has_level = sets_level(&typed.log);
        for layer in self.layers.iter_mut().skip(1) {
            let is_of_file = layer.origin.is_profile();
            layer.options.retain(|declared| {
                // A check or a trial must not overwrite what an import wrote.
                let is_of_import = is_of_file && declared.is_output && !writes_outputs;
                let is_of_service = is_trial && declared.scope == Scope::Service;
                !is_of_import && !is_of_service
            });
            if typed.mapping.var.is_some() {
                // Otherwise a column of the profile could be both sent and skipped.
                layer.options.mapping.skip_column = None;
            }
            let log = &mut layer.options.log;
            if has_level {
                (log.quiet, log.verbose) = (None, None);
            }
            has_level |= sets_level(log);
        }
    }

    /// Drops a profile's token unless it goes to that profile's service:
    /// the address given together with the token, or the one for all
    /// profiles. The user has not agreed to send the token anywhere else.
    fn withhold_token(&mut self) {
        let given_by = self.profile_giving(|given| given.connection.token_file.is_some());
        let Some(place) = given_by else {
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
            Some(home) => format!("the token of {place} is only for `{home}`"),
            None => {
                format!("the token of {place} is not sent, since there is no `base_url` beside it")
            }
        });
    }

    fn files_of_settings(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = Vec::new();
        for Layer { options, .. } in &self.layers {
            files.extend(files_to_connect(options));
            files.extend(options.place.config.as_deref().cloned());
        }
        if let Some(profile) = &self.profile {
            files.push(profile.file.clone());
            files.extend(profile.files_to_connect.iter().cloned());
        }
        files.extend(usual_place());
        files.extend(password_file_place());
        files
    }
}

/// The files that these options name for connections.
pub(super) fn files_to_connect(options: &Options) -> impl Iterator<Item = PathBuf> + use<> {
    let token = token_file(options).map(Path::to_owned);
    token
        .into_iter()
        .chain(options.connection.ca_file.as_deref().cloned())
}

/// Combines the options of several sources, the strongest first.
pub(super) fn combined<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> Options {
    let mut options = Options::default();
    for layer in layers {
        options.complete(&layer.options);
    }
    options
}

/// The defaults, some of which depend on other options.
fn defaults(given: &Options) -> Options {
    let mut defaults = Options::defaults();
    if given.connection.sandbox == Some(true) {
        let rate = Given::new(
            RateChoice::Limits(vec![SANDBOX_RATE]),
            SANDBOX_RATE.to_string(),
        );
        defaults.delivery.rate = Some(vec![rate]);
    }
    if given.delivery.allow_duplicates == Some(true) {
        // If the service accepts duplicates, nothing prevents a second call.
        defaults.delivery.on_uncertain = Some(Given::new(OnUncertain::Hold, "hold"));
    }
    // A run's identity includes these, whether they are given or not.
    defaults.phones.assume_plus = Some(false);
    defaults.phones.countries = Some(Vec::new());
    defaults.delivery.allow_duplicates = Some(false);
    defaults
}

/// The address that a profile's token is for: the one given together with
/// the token or for all profiles, if it is the profile's own address.
pub(super) fn home_of_token(layers: &[Layer]) -> Option<BaseUrl> {
    let has_token = |layer: &Layer| layer.options.connection.token_file.is_some();
    let token = layers.iter().position(has_token)?;
    let profile = layers.iter().position(|layer| layer.origin.is_profile())?;
    let of_profile = address(&layers[profile..]);
    address(&layers[token..]).filter(|home| of_profile.as_ref() == Some(home))
}

/// The address that these layers give, even one that may not be used.
fn address(layers: &[Layer]) -> Option<BaseUrl> {
    let url = combined(layers).connection.base_url?;
    BaseUrl::parse(&url, true).ok()
}

/// The file with the token; `None` if the token is not in a file.
pub(super) fn token_file(options: &Options) -> Option<&Path> {
    match options.connection.token_file.as_deref()? {
        TokenSource::File(path) => Some(path),
        TokenSource::Text(_) => None,
    }
}

/// The value of an option that has a default.
pub(super) fn settled<T: Clone>(given: &Option<Given<T>>) -> anyhow::Result<T> {
    let value = given.as_deref().cloned();
    value.ok_or_else(|| anyhow::anyhow!("an option that has a default has no value"))
}
