//! Values that can be nothing but one of some words.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::{Form, Value, ValueError};
use crate::api::wire::VariablesShape;
use crate::intake::{KnownBad, OnUncertain, Once};
use crate::mapping::{EmptyCells, VarNames};
use crate::options::output::{Format, LogFormat, Progress};
use crate::phone::PhoneRule;
use crate::text::{alternatives, nearest};

macro_rules! words {
    ($($name:ty),*) => {$(
        impl Value for $name {
            const FORM: Form = Form::Text;

            fn parse(text: &str) -> Result<$name, ValueError> {
                word(text)
            }

            fn words() -> Vec<PossibleValue> {
                let variants = <$name>::value_variants().iter();
                variants.filter_map(ValueEnum::to_possible_value).collect()
            }
        }
    )*};
}

words!(
    VarNames,
    EmptyCells,
    PhoneRule,
    OnUncertain,
    Once,
    KnownBad,
    VariablesShape,
    Format,
    Progress,
    LogFormat
);

fn word<T: Value + ValueEnum>(text: &str) -> Result<T, ValueError> {
    T::from_str(text, false).map_err(|_| {
        let words = T::words();
        let words: Vec<&str> = words.iter().map(PossibleValue::get_name).collect();
        let takes = format!("takes {}", alternatives(&words));
        ValueError(match nearest(text, &words) {
            Some(nearest) => format!("did you mean `{nearest}`? It {takes}"),
            None => format!("it {takes}"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_none_is_told_with_those_that_are() {
        let said = |text| Format::parse(text).unwrap_err().to_string();
        assert_eq!(said("yaml"), "it takes `text` or `json`");
        assert_eq!(
            said("jsn"),
            "did you mean `json`? It takes `text` or `json`"
        );
    }
}
