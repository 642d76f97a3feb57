//! How lists are written, and which countries their numbers are of.

use super::texts::COLUMN;
use super::{Form, Value, ValueError};
use crate::mapping::RegionColumns;
use crate::phone::Region;
use crate::source::{Encoding, EncodingError};

/// What stands between cells: one character that is not part of a cell's form, or its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(pub u8);

impl Value for Delimiter {
    const FORM: Form = Form::Character;
    const INSTEAD: &'static str = "write the character in quotes, such as `\";\"`";

    fn parse(text: &str) -> Result<Delimiter, ValueError> {
        let byte = match text.to_lowercase().as_str() {
            "tab" | "\\t" | "\t" => b'\t',
            "comma" => b',',
            "semicolon" => b';',
            "pipe" => b'|',
            other => match other.as_bytes() {
                [byte] if byte.is_ascii_punctuation() && *byte != b'"' || *byte == b' ' => *byte,
                _ => return Err("write one character, such as `;`, or `tab`".into()),
            },
        };
        Ok(Delimiter(byte))
    }
}

impl Value for Encoding {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write it in quotes";

    fn parse(text: &str) -> Result<Encoding, ValueError> {
        text.parse()
            .map_err(|error: EncodingError| ValueError(error.to_string()))
    }
}

impl Value for Region {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write an ISO code in quotes, such as `\"GB\"`";
    const SEPARATOR: Option<char> = Some(',');

    fn usual_form(&self) -> Option<String> {
        Some(self.to_string())
    }

    fn parse(text: &str) -> Result<Region, ValueError> {
        Region::parse(text).ok_or_else(|| {
            let hint = Region::nearest(text)
                .map(|nearest| format!("; did you mean {nearest}?"))
                .unwrap_or_default();
            ValueError(format!(
                "write an ISO code such as DE, or an English name{hint}"
            ))
        })
    }
}

/// The word that says that there is none of something.
const NONE: &str = "none";

/// The country of numbers in national form, where a row names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultRegion {
    /// This one.
    Country(Region),
    /// None, whatever a weaker layer says.
    None,
}

impl DefaultRegion {
    /// The country, if it is one.
    pub fn country(self) -> Option<Region> {
        match self {
            DefaultRegion::Country(region) => Some(region),
            DefaultRegion::None => None,
        }
    }
}

impl Value for DefaultRegion {
    const FORM: Form = Form::Text;
    const INSTEAD: &'static str = "write an ISO code in quotes, such as `\"GB\"`, or `\"none\"`";

    fn usual_form(&self) -> Option<String> {
        Some(match self {
            DefaultRegion::Country(region) => region.to_string(),
            DefaultRegion::None => NONE.to_owned(),
        })
    }

    fn parse(text: &str) -> Result<DefaultRegion, ValueError> {
        if text.trim().eq_ignore_ascii_case(NONE) {
            Ok(DefaultRegion::None)
        } else {
            <Region as Value>::parse(text).map(DefaultRegion::Country)
        }
    }
}

impl Value for RegionColumns {
    const FORM: Form = Form::TextOrNumber;
    const INSTEAD: &'static str = COLUMN;

    fn parse(text: &str) -> Result<RegionColumns, ValueError> {
        Ok(match text.trim().to_lowercase().as_str() {
            "auto" => RegionColumns::Auto,
            NONE => RegionColumns::None,
            _ => RegionColumns::Named(text.to_owned()),
        })
    }
}
