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
    "staat",
    "stato",
    "länderkennung",
    "laenderkuerzel",
    "laenderkennzeichen",
    "laendercode",
    "landkod",
    "landskod",
    "landskode",
    "landesvorwahl",
    "ländervorwahl",
    "laendervorwahl",
    "rechnungsland",
    "lieferland",
    "wohnsitzland",
    "wohnland",
    "firmenland",
    "indicatif",
    "dialcode",
    "dial_code",
    "calling_code",
    "iso2",
    "iso3",
    "iso_code",
    // French, Spanish, Portuguese, Italian, Catalan, Romanian
    "pays",
    "país",
    "pais",
    "paese",
    "nazione",
    "țară",
    "ţară",
    "ţara",
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

/// Words in a header of which calling codes are the cells.
#[rustfmt::skip]
pub(super) const CODES: &[&str] = &[
    "code", "codes", "countrycode", "dialcode", "dial", "dialling", "calling", "prefix",
    "vorwahl", "ländervorwahl", "laendervorwahl", "landesvorwahl", "ländercode", "laendercode",
    "landcode", "landkode", "landkod", "indicatif", "prefijo", "prefisso", "código", "codice",
];

/// Words beside these that mean another country than the one of the person's phone: of birth,
/// of a holiday, of a bank.
#[rustfmt::skip]
pub(super) const ELSEWHERE: &[&str] = &[
    // Smaller places, and none
    "state", "province", "county", "st", "bundesland", "ip", "eu", "is",
    // Where somebody comes from, or belongs to
    "birth", "born", "origin", "citizenship", "nationality", "passport", "geburt", "geburts",
    "herkunft", "herkomst", "naissance", "nacimiento", "nascita", "origen", "urodzenia", "рождения",
    "staatsangehörigkeit", "nationalité", "nacionalidad", "nazionalità", "provenienza", "origine",
    "pochodzenia", "původu", "narození",
    // Where somebody would like to be, or was
    "destination", "destino", "interest", "interested", "preferred", "favourite", "favorite",
    "desired", "dream", "target", "last", "visited", "visit", "visiting", "holiday", "trip",
    "travel", "study", "visa", "applying", "applied", "event", "events", "fair", "booth", "spoken", "reporting",
    "session", "interés", "intérêt", "interesse", "interessiertes", "zainteresowania", "evento",
    "événement", "veranstaltung", "messe", "wydarzenia", "feria", "salon", "fiera",
    // Whose it is instead
    "spouse", "partner", "parent", "supplier", "vendor", "bank", "issue", "issuing", "issuer",
    "car", "team", "club", "employer", "manager", "sales", "tax", "product", "manufacturer",
    "competitor", "market", "export", "import", "currency", "language",
    "owner", "agent", "sponsor", "campaign", "store", "shop", "referrer", "source", "tier",
    "manufacture", "incorporation", "from", "warehouse", "vertrieb", "commercial", "vendeur",
    "vendedor", "fournisseur", "lieferant", "proveedor", "fornitore",
];
