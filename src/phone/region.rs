//! Countries and territories.

use std::fmt;

use super::country_name::{self, COUNTRIES};
use super::plan::CallingCode;
use crate::text;

/// A country, or a territory with telephone numbers of its own. Displayed
/// as its two-letter ISO 3166-1 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(pub(super) rlibphonenumber::Region);

/// The calling codes of Italy, Britain, Norway, Australia, Finland and Guadeloupe: the other
/// countries that have them are territories in the numbering plan of the main one.
const WITH_TERRITORIES: [u16; 6] = [39, 44, 47, 61, 358, 590];

impl Region {
    /// The country whose numbering plan a territory is part of: `--countries GB`
    /// also allows Guernsey, whose mobile numbers look like Britain's. Countries
    /// that merely share a calling code (+1, +7) are not part of each other.
    pub(super) fn plan_holder(self) -> Region {
        let plan = CallingCode::of(self);
        let has_territories = WITH_TERRITORIES.contains(&plan.code);
        plan.country(0).filter(|_| has_territories).unwrap_or(self)
    }

    /// Finds a country by its code (of two or three letters), by its name in English
    /// or in one of the languages that lists are written in, or by its calling code
    /// (`+49`). Case, accents, punctuation, "the" and "and" make no difference.
    ///
    /// If the text has two of these (`Germany (+49)`), they must mean the same country.
    pub fn parse(text: &str) -> Option<Region> {
        if let Some(region) = country_name::find(text) {
            return Some(region);
        }
        let at = text.find(['(', '+'])?;
        let (name, rest) = text.split_at(at);
        let rest = rest.trim_matches(|c: char| matches!(c, '(' | ')') || c.is_whitespace());
        let name = name.trim_end_matches(|c: char| !c.is_alphanumeric());
        let named = country_name::find(name);
        match rest.strip_prefix('+') {
            Some(code) if name.is_empty() => CallingCode::written(code)?.country(0),
            Some(code) => {
                let plan = CallingCode::written(code)?;
                named.filter(|region| plan.is_of(*region))
            }
            None => named.filter(|region| country_name::find(rest) == Some(*region)),
        }
    }

    pub fn calling_code(self) -> Option<u16> {
        Some(CallingCode::of(self).code).filter(|code| *code > 0)
    }

    /// Whether both have the same calling code. If so, a number in national
    /// form is the same number in both.
    pub fn shares_calling_code(self, other: Region) -> bool {
        self.calling_code() == other.calling_code()
    }

    pub fn name(self) -> &'static str {
        let name = self.in_sentence();
        name.strip_prefix("the ").unwrap_or(name)
    }

    /// All countries with their codes, by name.
    pub fn all_by_name() -> Vec<(String, &'static str)> {
        let list = COUNTRIES.list.iter();
        let named = list.map(|(region, _)| (region.to_string(), region.name()));
        let mut all: Vec<_> = named.collect();
        all.sort_by_key(|(_, name)| *name);
        all
    }

    /// The name within a sentence: `the United Kingdom`, `Germany`.
    pub fn in_sentence(self) -> &'static str {
        let mut listed = COUNTRIES.list.iter();
        let own = listed.find(|(region, _)| *region == self);
        // Every region comes from this list or from the table of
        // calling codes, and a test compares the two.
        own.map_or("another country", |(_, name)| *name)
    }

    pub fn nearest(text: &str) -> Option<String> {
        text::nearest(text.trim(), &COUNTRIES.names).map(str::to_owned)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.as_region_str())
    }
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
        let listed: Vec<Region> = COUNTRIES.list.iter().map(|(region, _)| *region).collect();
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
    fn every_name_in_other_languages_means_its_country() {
        let lines = include_str!("country_names.txt").lines();
        for line in lines.filter(|line| !line.starts_with('#')) {
            let (expected, names) = line.split_once(' ').unwrap();
            for name in names.split("; ") {
                assert_eq!(code(name), expected, "{name}");
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
    fn a_country_is_known_by_its_names_in_many_languages_and_by_its_calling_code() {
        let cases = [
            (
                "DE",
                "Deutschland;Allemagne;Alemania;Niemcy;Německo;Германия;德国;ドイツ;BRD;+49;(+49);Germany (+49);DE +49;Deutschland (DE)",
            ),
            ("ES", "España;Espana;Espagne;Spanien;Hiszpania;西班牙"),
            ("CZ", "Česko;Cesko;Česká republika;Tschechien;Tchéquie"),
            (
                "GB",
                "Großbritannien;Grossbritannien;Vereinigtes Königreich;Royaume-Uni;Reino Unido;Regno Unito;Verenigd Koninkrijk;Wielka Brytania;Великобритания;イギリス;英国;+44",
            ),
            (
                "US",
                "Vereinigte Staaten;États-Unis;Etats Unis;Estados Unidos;Stati Uniti;EE. UU.;EUA;Stany Zjednoczone;美国;+1",
            ),
            ("AT", "Österreich;Oesterreich;Autriche;Rakousko"),
            ("CH", "Schweiz;Suisse;Svizzera;Suiza;Szwajcaria"),
            ("IT", "Italia;Italie;Italien;Włochy"),
            ("PL", "Polska;Polen;Pologne"),
            ("GR", "Ελλάδα;ελλαδα;Griechenland"),
            ("JP", "日本;Japon;Japonsko"),
            ("CA", "Kanada;Canada (+1)"),
            ("TR", "TÜRKİYE;türkiye;Turquie"),
            ("KZ", "Kazakhstan (+7)"),
        ];
        for (expected, names) in cases {
            for name in names.split(';') {
                assert_eq!(code(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn unknown_country_names_are_not_recognized() {
        for text in [
            "",
            " ",
            "001",
            "ZZ",
            "Korea",
            "Atlantis",
            "AQ",
            "the",
            "44",
            "N/A",
            "Kongo",
            "Nga",
            "Áo",
            "Germany (FR)",
            "Germany (+44)",
            "+49 30",
            "+999",
            "+",
            "()",
        ] {
            assert_eq!(Region::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_typing_error_finds_the_intended_country() {
        assert_eq!(Region::nearest("Germny").as_deref(), Some("Germany"));
        assert_eq!(Region::nearest("qqq"), None);
    }

    #[test]
    fn a_country_is_shown_by_its_code_and_called_by_its_everyday_name() {
        let region = Region::parse("bolivia").unwrap();
        assert_eq!(format!("{region:>4}"), "  BO");
        assert_eq!(region.name(), "Bolivia");
        assert_eq!(Region::parse("GB").unwrap().name(), "United Kingdom");
        for (code, name) in [
            ("GB", "the United Kingdom"),
            ("NL", "the Netherlands"),
            ("CZ", "the Czech Republic"),
            ("PH", "the Philippines"),
            ("DE", "Germany"),
        ] {
            assert_eq!(Region::parse(code).unwrap().in_sentence(), name);
        }
    }
}
