//! Texts, names of files, and what is sent with every row.

use std::ffi::OsStr;
use std::path::PathBuf;

use secrecy::SecretString;

use super::{Form, Value, ValueError};
use crate::options::Said;

/// Texts that are looked into where they are used.
macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident: $form:ident, $instead:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub String);

        impl $name {
            /// This text.
            pub fn said(text: &str) -> Said<$name> {
                Said::told_as($name(text.to_owned()), text)
            }

            /// These texts.
            pub fn all(texts: &[String]) -> Vec<Said<$name>> {
                texts.iter().map(|text| $name::said(text)).collect()
            }
        }

        impl Value for $name {
            const FORM: Form = Form::$form;
            const INSTEAD: &'static str = $instead;

            fn parse(text: &str) -> Result<$name, ValueError> {
                Ok($name(text.to_owned()))
            }
        }
    )*};
}

pub(super) const COLUMN: &str = "write the column's header in quotes, or its number";

texts! {
    /// Where a service is. Whether it may be plain http is for another option to say, so that
    /// it is read with that.
    Address: Text, "write it in quotes, such as `\"https://app.example.com\"`";
    /// The id or the name of a campaign; nothing where it is empty.
    CampaignText: TextOrNumber, "write the campaign's id, or its name in quotes";
    /// A column by its header or its number: which of the two, a list's header says.
    Column: TextOrNumber, COLUMN;
    /// The same with a name for what stands in it, or without.
    NamedColumn: Named, COLUMN;
    /// A header as it stands in a list.
    Header: AnyText, "write one, such as `[\"Phone\", \"City\"]`, or let `leadload check FILE --save-mapping PROFILE` write it";
    /// The name of a sheet or a profile, or a number of somebody.
    Name: Text, "write it in quotes";
}

const FILE: &str = "write the name of a file, in quotes";

/// The name of a file; what `none` and `-` mean is for its option to say.
impl Value for PathBuf {
    const FORM: Form = Form::File;
    const INSTEAD: &'static str = FILE;

    fn parse(text: &str) -> Result<PathBuf, ValueError> {
        Ok(text.into())
    }

    fn parse_os(text: &OsStr) -> Result<PathBuf, ValueError> {
        Ok(text.into())
    }
}

/// Where the access token is.
#[derive(Debug, Clone)]
pub enum TokenSource {
    /// In this file.
    File(PathBuf),
    /// Here: a variable had it.
    Text(SecretString),
}

impl Value for TokenSource {
    const FORM: Form = Form::File;
    const INSTEAD: &'static str = FILE;

    fn parse(text: &str) -> Result<TokenSource, ValueError> {
        TokenSource::parse_os(text.as_ref())
    }

    fn parse_os(text: &OsStr) -> Result<TokenSource, ValueError> {
        Ok(TokenSource::File(text.into()))
    }
}

/// The same text for every row: `NAME=VALUE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// What it is sent as.
    pub name: String,
    /// What is sent.
    pub value: String,
}

impl Value for Constant {
    const FORM: Form = Form::Pair;
    const INSTEAD: &'static str = "write `{ NAME = \"text\" }`";

    fn parse(text: &str) -> Result<Constant, ValueError> {
        match text.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => Ok(Constant {
                name: name.trim().to_owned(),
                value: value.to_owned(),
            }),
            _ => Err("write NAME=VALUE".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::refuses;
    use super::*;

    #[test]
    fn a_constant_is_split_at_the_first_equals_sign() {
        for (text, name, value) in [("greeting=a=b", "greeting", "a=b"), ("x=", "x", "")] {
            let (name, value) = (name.to_owned(), value.to_owned());
            assert_eq!(Value::parse(text), Ok(Constant { name, value }));
        }
        refuses::<Constant>(&["=x", "x"]);
    }
}
