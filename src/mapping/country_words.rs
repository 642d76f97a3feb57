//! What people call a column with countries, in the languages of [`phone_words`](super::phone_words):
//! in lower case, with `_` between words.

/// Words that mean a country, by themselves or in a longer header (`Mailing Country`).
pub(super) const WORDS: &[&str] = &[
    // English, and what programs write
    "country",
    "countries",
    "countrycode",
    "countryname",
    "nation",
    // German, Dutch, Danish, Norwegian, Swedish, Afrikaans, Icelandic
    "land",
    "länderkennzeichen",
    "länderkürzel",
    "ländercode",
    "landkode",
    "landcode",
    "lkz",
    // French, Spanish, Portuguese, Italian, Catalan, Romanian
    "pays",
    "país",
    "pais",
    "paese",
    "nazione",
    "țară",
    "țara",
    "tara",
    // Finnish, Estonian, Latvian, Lithuanian
    "maa",
    "valtio",
    "riik",
    "valsts",
    "šalis",
    // Polish, Czech, Slovak, Hungarian, Slovene, Croatian, Serbian
    "kraj",
    "państwo",
    "země",
    "stát",
    "krajina",
    "štát",
    "ország",
    "država",
    "zemlja",
    // Turkish, Greek
    "ülke",
    "χώρα",
    // Russian, Ukrainian, Bulgarian
    "страна",
    "країна",
    "държава",
    // Hebrew, Arabic, Persian, Hindi
    "מדינה",
    "ארץ",
    "بلد",
    "البلد",
    "الدولة",
    "دولة",
    "کشور",
    "देश",
    // Indonesian, Malay, Vietnamese, Thai, Swahili, Tagalog
    "negara",
    "quốc_gia",
    "nước",
    "ประเทศ",
    "nchi",
    "bansa",
    // Japanese, Chinese, Korean
    "国",
    "國",
    "국",
];

/// The same in scripts that put no space between words.
pub(super) const PARTS: &[&str] = &["国名", "国家", "國家", "국가", "ประเทศ"];

/// Words beside these that mean another place than that of the phone.
pub(super) const ELSEWHERE: &[&str] = &[
    "state",
    "province",
    "county",
    "birth",
    "born",
    "origin",
    "citizenship",
    "nationality",
    "passport",
    "ip",
    "destination",
    "interest",
    "geburt",
    "herkunft",
    "naissance",
    "nacimiento",
    "nascita",
];
