//! How options are declared, and what follows from it.
//!
//! An option is declared once, as a field of a group: its flag and what the help says of it in
//! the words of clap, its value by its type, and behind that what it is about. All that other
//! places have to know of it is worked out here.

use super::field::{Field, Wrong};
use super::value::unusable;

/// What an option is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This command and no other.
    Command,
    /// Which service it is, who asks, and where is kept who was sent: the sandbox has its own.
    Service,
    /// How a service is reached.
    Connection,
    /// In what form a list is.
    Reading,
    /// How rows become leads.
    Mapping,
    /// One list: how much of it, and where what becomes of it goes.
    List,
    /// How leads are sent.
    Delivery,
    /// What is said.
    Output,
}

/// An option, as it is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Its key in a file of settings; its flag is the same with `-`.
    pub key: &'static str,
    /// What it is about.
    pub scope: Scope,
    /// The variable that says the same.
    pub variable: Option<&'static str>,
    /// What holds where nothing is said, unless that depends on something.
    pub default: Option<&'static str>,
    /// Whether another value makes another run. What a list is found to be, and the columns
    /// that are found in it, do that too; they are no options.
    pub is_identity: bool,
    /// Whether its value is shown to nobody.
    pub is_secret: bool,
    /// Whether its value is somebody's, and not shown where it is wrong.
    pub is_personal: bool,
    /// Whether it names a file that an import leaves behind. Two profiles would take it from
    /// each other.
    pub is_output: bool,
    /// Whether it names columns that leads are made of.
    pub names_columns: bool,
    /// Whether it has a flag; else it stands in a profile alone.
    pub has_flag: bool,
    /// Whether a mapping that is saved consists of it, among others.
    pub is_kept_with_mapping: bool,
    /// Whether the command that sends an import's rejects says it again, whatever the ledger
    /// knows.
    pub is_repeated_after_import: bool,
    /// Whether the command that imports what was checked says it again, where the mapping
    /// was saved.
    pub is_repeated_after_check: bool,
}

impl Declaration {
    /// An option by its key, as all of its scope are.
    pub(super) const fn new(key: &'static str, scope: Scope) -> Declaration {
        let is_of_service = matches!(
            scope,
            Scope::Service | Scope::Connection | Scope::Delivery | Scope::Output
        );
        Declaration {
            key,
            scope,
            variable: None,
            default: None,
            is_identity: false,
            is_secret: false,
            is_personal: false,
            is_output: false,
            names_columns: false,
            has_flag: true,
            is_kept_with_mapping: matches!(scope, Scope::Reading | Scope::Mapping),
            is_repeated_after_import: is_of_service,
            is_repeated_after_check: is_of_service,
        }
    }

    /// Its flag.
    pub fn flag(&self) -> String {
        format!("--{}", self.key.replace('_', "-"))
    }

    /// Whether it may stand in a file of settings.
    pub fn may_stand_in_profile(&self) -> bool {
        self.scope != Scope::Command
    }

    /// Whether rejects take it from the run that wrote them.
    pub fn is_handed_to_rejects(&self) -> bool {
        self.scope == Scope::Mapping && self.has_flag
    }

    /// Whether the command that sends rejects has to say it again; the ledger `knows_run` that
    /// wrote them, or does not.
    pub fn is_repeated_for_rejects(&self, knows_run: bool) -> bool {
        self.is_repeated_after_import || self.is_handed_to_rejects() && !knows_run
    }

    /// What is wrong with its value, as it is told of the place where the value stands.
    pub fn told(&self, wrong: &Wrong, place: &str) -> String {
        match wrong {
            Wrong::Form(text) => format!("{place} {text}"),
            Wrong::Value(value, error) => {
                let what = unusable(value, &self.flag(), self.is_personal);
                format!("{place}: {what}\n\nhint: {error}")
            }
        }
    }
}

/// An option and its field.
pub type Declared<F> = (&'static Declaration, F);

/// Options that are declared together.
pub trait Group {
    /// Each of them.
    fn fields(&self) -> Vec<Declared<&dyn Field>>;

    /// Each of them, to be changed.
    fn fields_mut(&mut self) -> Vec<Declared<&mut dyn Field>>;

    /// Takes from `weaker` what is not said here.
    fn complete(&mut self, weaker: &Self);
}

/// Declares a group: each option with the attributes that clap has for its flag, its type, its
/// scope, and what it has otherwise than others of that scope.
macro_rules! options {
    (
        $(#[$of_group:meta])*
        pub struct $group:ident {
            $(
                $(#[$of_option:meta])*
                $key:ident: $type:ty => $scope:ident $({ $($otherwise:tt)* })?;
            )*
        }
    ) => {
        #[derive(Debug, Clone, Default, clap::Args)]
        $(#[$of_group])*
        pub struct $group {
            $(
                $(#[$of_option])*
                pub $key: Option<$type>,
            )*
        }

        impl $group {
            const DECLARED: &'static [$crate::options::Declaration] = &[$(
                $crate::options::Declaration {
                    $($($otherwise)*,)?
                    ..$crate::options::Declaration::new(
                        stringify!($key),
                        $crate::options::Scope::$scope,
                    )
                },
            )*];
        }

        impl $crate::options::Group for $group {
            fn fields(&self) -> Vec<$crate::options::Declared<&dyn $crate::options::Field>> {
                let fields: [&dyn $crate::options::Field; $group::DECLARED.len()] = [$(&self.$key),*];
                $group::DECLARED.iter().zip(fields).collect()
            }

            fn fields_mut(&mut self) -> Vec<$crate::options::Declared<&mut dyn $crate::options::Field>> {
                let fields: [&mut dyn $crate::options::Field; $group::DECLARED.len()] = [$(&mut self.$key),*];
                $group::DECLARED.iter().zip(fields).collect()
            }

            fn complete(&mut self, weaker: &Self) {
                $(
                    if self.$key.is_none() {
                        self.$key.clone_from(&weaker.$key);
                    }
                )*
            }
        }
    };
}

/// Declares options that consist of such groups.
macro_rules! groups {
    ($(#[$of_all:meta])* pub struct $all:ident { $($(#[$of_group:meta])* $group:ident: $type:ty,)* }) => {
        #[derive(Debug, Clone, Default, clap::Args)]
        $(#[$of_all])*
        pub struct $all {
            $(
                $(#[$of_group])*
                #[command(flatten)]
                pub $group: $type,
            )*
        }

        impl $crate::options::Group for $all {
            fn fields(&self) -> Vec<$crate::options::Declared<&dyn $crate::options::Field>> {
                [$(self.$group.fields()),*].into_iter().flatten().collect()
            }

            fn fields_mut(&mut self) -> Vec<$crate::options::Declared<&mut dyn $crate::options::Field>> {
                [$(self.$group.fields_mut()),*].into_iter().flatten().collect()
            }

            fn complete(&mut self, weaker: &Self) {
                $(self.$group.complete(&weaker.$group);)*
            }
        }
    };
}

pub(super) use groups;
pub(super) use options;
