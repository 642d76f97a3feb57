//! Countries as people write them.
//!
//! The names are a list of our own, beside this file. The crates that know ISO 3166
//! bring its official names alone ("Bolivia (Plurinational State of)"), so that the
//! everyday name and the other names of a third of the countries would be ours in
//! any case; none knows the three territories that have telephone numbers and no
//! place in ISO; and the one that is well kept (`rust_iso3166`) brings five thousand
//! provinces and a shared library along.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use crate::text;

/// A country, or a territory with telephone numbers of its own. Shown as its
/// two-letter code of ISO 3166-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(pub(super) rlibphonenumber::Region);

impl Region {
    /// The country whose numbering plan a territory is part of, so that whoever names
    /// the country means its numbers too: mobiles of Guernsey look like any of Britain.
    /// Countries that merely share a calling code (+1, +7) are not part of each other.
    pub(super) fn plan_holder(self) -> Region {
        use rlibphonenumber::Region as R;
        Region(match self.0 {
            R::GG | R::IM | R::JE => R::GB,
            R::AX => R::FI,
            R::BL | R::MF => R::GP,
            R::CC | R::CX => R::AU,
            R::SJ => R::NO,
            R::VA => R::IT,
            own => own,
        })
    }

    /// The country with this code (of two or three letters) or English name. Case,
    /// accents, punctuation, "the" and "and" make no difference.
    pub fn parse(text: &str) -> Option<Region> {
        let name = simplified(text);
        // `N/A` is no country, and is not Namibia.
        let is_short = name.len() <= LONGEST_CODE;
        if is_short && !text.trim().chars().all(|c| c.is_alphabetic() || c == '.') {
            return None;
        }
        COUNTRIES
            .by_name
            .get(&name)
            .map(|at| COUNTRIES.list[*at].region)
    }

    /// The everyday English name.
    pub fn name(self) -> &'static str {
        let list = &COUNTRIES.list;
        match list.binary_search_by_key(&self, |country| country.region) {
            Ok(at) => list[at].name,
            // Every region comes from this list or from the table of calling codes,
            // and a test holds one against the other.
            Err(_) => "another country",
        }
    }

    /// The known name that is most like the text, for a hint after a slip.
    pub fn nearest(text: &str) -> Option<String> {
        text::nearest(text.trim(), &COUNTRIES.names).map(str::to_owned)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.as_region_str())
    }
}

/// The letters of the longer codes of ISO 3166-1.
const LONGEST_CODE: usize = 3;

struct Country {
    region: Region,
    name: &'static str,
}

struct Countries {
    /// In the order of their codes.
    list: Vec<Country>,
    /// Places in the list by simplified names and codes.
    by_name: HashMap<String, usize>,
    /// Every name, as written.
    names: Vec<&'static str>,
}

static COUNTRIES: LazyLock<Countries> = LazyLock::new(|| {
    let mut countries = Countries {
        list: Vec::new(),
        by_name: HashMap::new(),
        names: Vec::new(),
    };
    for line in include_str!("countries.txt").lines() {
        countries.add(line);
    }
    countries
});

impl Countries {
    /// Takes up a line of the list; comments and what is no country are left out.
    fn add(&mut self, line: &'static str) -> Option<()> {
        let (code, rest) = line.split_once(' ')?;
        let (long_code, names) = rest.split_once(' ')?;
        let region = Region(rlibphonenumber::Region::from_code(code).ok()?);
        let at = self.list.len();
        for name in [code, long_code].into_iter().chain(names.split("; ")) {
            self.by_name.insert(simplified(name), at);
        }
        self.names.extend(names.split("; "));
        let name = names.split("; ").next()?;
        self.list.push(Country { region, name });
        Some(())
    }
}

/// The name without what people write in different ways.
fn simplified(name: &str) -> String {
    let mut simple = String::with_capacity(name.len());
    let plain: String = name.trim().chars().filter_map(plain_letter).collect();
    // A word by itself is a code or a name: AND is Andorra, and ST São Tomé.
    let is_only_word = plain.split_whitespace().nth(1).is_none();
    for word in plain.split_whitespace() {
        match word {
            _ if is_only_word => simple.push_str(word),
            "the" | "and" => {}
            "st" => simple.push_str("saint"),
            _ => simple.push_str(word),
        }
    }
    simple
}

/// The letter in lower case and without its accent; a space for what joins words;
/// nothing for a point or an apostrophe.
fn plain_letter(c: char) -> Option<char> {
    let c = c.to_lowercase().next()?;
    Some(match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'è'..='ë' | 'ē' | 'ę' | 'ě' => 'e',
        'ì'..='ï' | 'ī' | 'ı' => 'i',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' => 'o',
        'š' | 'ş' | 'ș' => 's',
        'ù'..='ü' | 'ū' | 'ů' => 'u',
        'ý' | 'ÿ' => 'y',
        'ž' => 'z',
        '.' | '\'' | '’' | '‘' | '`' | '´' => return None,
        // Accents that follow their letter.
        '\u{0300}'..='\u{036F}' => return None,
        c if c.is_alphanumeric() => c,
        _ => ' ',
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phone::plans::CALLING_CODES;

    fn code(text: &str) -> String {
        Region::parse(text).map_or("-".to_owned(), |region| region.to_string())
    }

    #[test]
    fn every_country_of_the_phone_library_has_a_name_and_no_other_has() {
        let listed: Vec<Region> = COUNTRIES
            .list
            .iter()
            .map(|country| country.region)
            .collect();
        let mut supported: Vec<Region> = rlibphonenumber::PHONE_NUMBER_UTIL
            .get_supported_regions()
            .map(Region)
            .collect();
        supported.sort_unstable();
        assert_eq!(listed, supported);
        for region in CALLING_CODES.iter().flat_map(|code| code.regions) {
            assert_ne!(Region(*region).name(), "another country");
        }
    }

    #[test]
    fn no_two_countries_share_a_name() {
        for line in include_str!("countries.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
        {
            let (codes, names) = line.split_at(7);
            let (two, three) = codes.split_once(' ').unwrap();
            for name in [two, three.trim()].into_iter().chain(names.split("; ")) {
                assert_eq!(code(name), two, "{name}");
            }
        }
    }

    #[test]
    fn a_country_is_known_by_its_codes_and_names() {
        let cases = [
            (
                "GB",
                "gb;GBR;UK;U.K.;uk;Great-Britain;Great Britain;Britain;England;Scotland;Wales;Northern Ireland",
            ),
            (
                "US",
                "US;usa;U.S.;U.S.A.;The United States;united states of america;America",
            ),
            ("NL", "Holland;The Netherlands;Nederland"),
            ("CZ", "Czech Republic;the czech republic;CZECHIA"),
            (
                "KR",
                "South Korea;Korea, Republic of;Republic of Korea;Korea (Republic of)",
            ),
            ("KP", "North Korea;Korea, Democratic People's Republic of"),
            ("RU", "Russia;Russian Federation"),
            ("VN", "Vietnam;Viet Nam"),
            ("IR", "Iran;Iran, Islamic Republic of"),
            ("BO", "Bolivia;Bolivia, Plurinational State of"),
            (
                "CI",
                "Ivory Coast;Côte d'Ivoire;Cote d’Ivoire;COTE D'IVOIRE",
            ),
            ("TR", "Turkey;Türkiye;TÜRKİYE"),
            ("CV", "Cape Verde;Cabo Verde"),
            ("SZ", "Swaziland;Eswatini"),
            ("MK", "Macedonia;North Macedonia"),
            ("MM", "Burma;Myanmar"),
            ("AE", "UAE;U.A.E.;United Arab Emirates"),
            ("HK", "Hong Kong;HongKong;Hong Kong SAR"),
            ("MO", "Macau;Macao"),
            ("TW", "Taiwan;Taiwan, Province of China"),
            ("PS", "Palestine;State of Palestine"),
            (
                "CD",
                "DR Congo;D.R. Congo;Congo, the Democratic Republic of the",
            ),
            ("CG", "Congo;Republic of the Congo"),
            ("LA", "Laos;Lao People's Democratic Republic"),
            ("SY", "Syria"),
            ("MD", "Moldova"),
            ("TZ", "Tanzania"),
            ("BN", "Brunei"),
            ("VA", "Vatican;Vatican City;Holy See"),
            ("AD", "AND;ad;Andorra"),
            ("ST", "St;São Tomé & Príncipe;Sao Tome and Principe"),
            ("KN", "St. Kitts & Nevis;Saint Kitts and Nevis"),
            ("TT", "Trinidad & Tobago;Trinidad and Tobago"),
            ("RE", "Reunion;Réunion"),
            ("CW", "Curacao;Curac\u{327}ao"),
            ("DE", "DEU;Deutschland; germany "),
            ("XK", "Kosovo"),
        ];
        for (expected, names) in cases {
            for name in names.split(';') {
                assert_eq!(code(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn what_is_no_country_is_none() {
        for text in [
            "", " ", "001", "ZZ", "Korea", "Atlantis", "AQ", "the", "44", "+44",
        ] {
            assert_eq!(Region::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_slip_finds_the_country_that_was_meant() {
        assert_eq!(Region::nearest("Germny").as_deref(), Some("Germany"));
        assert_eq!(Region::nearest("qqq"), None);
    }

    #[test]
    fn a_country_is_shown_by_its_code_and_called_by_its_everyday_name() {
        let region = Region::parse("bolivia").unwrap();
        assert_eq!(format!("{region:>4}"), "  BO");
        assert_eq!(region.name(), "Bolivia");
        assert_eq!(Region::parse("GB").unwrap().name(), "United Kingdom");
    }
}
