//! How options are declared, and what is derived from a declaration.
//!
//! An option is declared once, as a field of a group: its flag and help as clap attributes, its
//! kind of value by its type, and its scope. Other modules derive what they need from that.

use super::field::InvalidValue;
use crate::message::{Message, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Command,
    /// The service, its token and its ledger: the sandbox has its own.
    Service,
    /// How the service is reached.
    Connection,
    Reading,
    Mapping,
    /// One list: how much of it is read, and its outputs.
    List,
    Delivery,
    Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Its key in a settings file; its flag is the same with `-` instead of `_`.
    pub key: &'static str,
    pub scope: Scope,
    pub variable: Option<&'static str>,
    /// Its default, unless the default depends on something.
    pub default: Option<&'static str>,
    /// Whether another value makes another run. The detected form
    /// and columns of a list do that too, but are not options.
    pub is_identity: bool,
    /// Whether its value is never shown.
    pub is_secret: bool,
    /// Whether its value may be personal data, which error messages do not show.
    pub is_personal: bool,
    /// Whether it names a file that an import writes. If two
    /// profiles shared it, they would overwrite each other's file.
    pub is_output: bool,
    /// Whether it names columns that leads are made of.
    pub names_columns: bool,
    /// Whether it has a flag; otherwise only a profile can have it.
    pub has_flag: bool,
    /// Whether a saved mapping includes it.
    pub is_kept_with_mapping: bool,
    /// Whether the command that sends an import's rejects
    /// repeats it, even if the ledger knows the run.
    pub is_repeated_after_import: bool,
    /// Whether the command that imports a checked list with a saved mapping repeats it.
    pub is_repeated_after_check: bool,
}

impl Declaration {
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

    pub fn flag(&self) -> String {
        format!("--{}", self.key.replace('_', "-"))
    }

    pub fn may_be_in_profile(&self) -> bool {
        self.scope != Scope::Command
    }

    /// Whether rejects get it from the run that wrote them, and
    /// on the page the next list with the same columns.
    pub fn is_passed_to_rejects(&self) -> bool {
        self.scope == Scope::Mapping && self.has_flag
    }

    /// Whether a run that goes on from what the ledger knows gets it from there too: what makes it
    /// the same run. Not how it is delivered: no ledger says that people may be called twice.
    pub fn is_passed_to_resumed(&self) -> bool {
        let is_identity = self.is_identity && self.scope != Scope::Delivery;
        self.scope == Scope::Reading || is_identity
    }

    /// The message about a value that is wrong at `place`. It may end up in a log, so it shows
    /// nothing personal, no token and no phone number.
    pub fn explain(&self, invalid: InvalidValue, place: &str) -> Message {
        let flag = self.flag();
        match invalid {
            InvalidValue::Form(message) => message.behind(place),
            InvalidValue::Value(_, hint) if self.is_personal => {
                let what =
                    terminal_text!("{place}: the value of `{flag}` cannot be used", place, flag);
                Message::new(what, hint)
            }
            InvalidValue::Value(value, hint) => {
                let value = Value::Typed(value);
                let what = terminal_text!(
                    "{place}: {value} cannot be used for `{flag}`",
                    place,
                    value,
                    flag
                );
                Message::new(what, hint)
            }
        }
    }
}

pub type Declared<F> = (&'static Declaration, F);

/// Declares a group of options: each with its clap attributes, type and
/// scope, and the properties that differ from the scope's usual ones.
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

            pub fn fields(&self) -> Vec<$crate::options::Declared<&dyn $crate::options::Field>> {
                let fields: [&dyn $crate::options::Field; $group::DECLARED.len()] = [$(&self.$key),*];
                $group::DECLARED.iter().zip(fields).collect()
            }

            pub fn fields_mut(&mut self) -> Vec<$crate::options::Declared<&mut dyn $crate::options::Field>> {
                let fields: [&mut dyn $crate::options::Field; $group::DECLARED.len()] = [$(&mut self.$key),*];
                $group::DECLARED.iter().zip(fields).collect()
            }

            /// Takes the options from `weaker` that are not given here.
            pub fn complete(&mut self, weaker: &Self) {
                $(
                    if self.$key.is_none() {
                        self.$key.clone_from(&weaker.$key);
                    }
                )*
            }
        }
    };
}

/// Declares a struct that consists of such groups.
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

        impl $all {
            pub fn fields(&self) -> Vec<$crate::options::Declared<&dyn $crate::options::Field>> {
                [$(self.$group.fields()),*].into_iter().flatten().collect()
            }

            pub fn fields_mut(&mut self) -> Vec<$crate::options::Declared<&mut dyn $crate::options::Field>> {
                [$(self.$group.fields_mut()),*].into_iter().flatten().collect()
            }

            /// Takes the options from `weaker` that are not given here.
            pub fn complete(&mut self, weaker: &Self) {
                $(self.$group.complete(&weaker.$group);)*
            }
        }
    };
}

pub(super) use groups;
pub(super) use options;
