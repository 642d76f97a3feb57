use super::*;
use crate::mapping::Mapping;
use crate::source::Header;

/// Headers of columns that say who must not be called, from programs and in many languages.
const DO_NOT_CALL: &[&str] = &[
    "Do Not Call",
    "DoNotCall",
    "do_not_call",
    "DNC",
    "DNC Flag",
    "Do Not Contact",
    "Don't call",
    "Do not allow Phone Calls",
    "donotphone",
    "No Call List",
    "Never call",
    "Opt-out",
    "Opted Out",
    "HasOptedOut",
    "OptedOutOfCalls",
    "Opt Out Date",
    "Phone opt-out",
    "Opt out by phone",
    "Marketing Opt-Out",
    "Telemarketing opt out (Y/N)",
    "Unsubscribed",
    "unsubscribed_at",
    "Is Unsubscribed",
    "Blocked",
    "is_blocked",
    "Blacklisted",
    "Robinson list",
    "TPS registered",
    "CTPS",
    "Do_Not_Call__c",
    "DO_NOT_CALL__C",
    "Account Do Not Call",
    "Robinson-Liste",
    "Do not telephone",
    "Keine Zustimmung",
    "Samtycke återkallat",
    "İzin yok",
    "Do-Not-Call (DNC)",
    "Do Not Call - Mobile",
    "Do Not Call Phone 1",
    "Home Phone DNC",
    "Federal DNC",
    "Not to be called",
    "Unsubscribed from all",
    "Do not call or e-mail",
    "Phone/SMS opt-out",
    "No consent",
    "Consent withdrawn",
    "Not opted in",
    "Anrufverbot",
    "Für Anrufe gesperrt",
    "Einwilligung widerrufen",
    "Ne pas appeler (O/N)",
    "Lista Robinson (S/N)",
    "Não me perturbe",
    "Brak zgody",
    "電話不可",
    "Werbesperre",
    "Werbesperre (Telefon)",
    "Telefon-Werbesperre",
    "Kontaktsperre",
    "Nicht anrufen",
    "Robinsonliste",
    "Gesperrt",
    "Ne pas appeler",
    "Bloctel",
    "Opposition au démarchage",
    "No llamar",
    "Lista Robinson",
    "Não ligar",
    "Non chiamare",
    "Registro Opposizioni",
    "Niet bellen",
    "Bel-me-niet register",
    "Ring ikke",
    "NIX-telefon",
    "Älä soita",
    "Nie dzwonić",
    "NEVOLAT",
    "Ne hívja",
    "Aramayın",
    "Μην καλείτε",
    "Не звонить",
    "לא להתקשר",
    "عدم الاتصال",
    "Jangan hubungi",
    "ห้ามโทร",
    "架電禁止",
    "请勿致电",
    "수신거부",
    "Do not contact via phone",
    "Opt-out from calls",
    "Opt-out from calls and SMS",
    "Unsubscribed from phone",
    "Blocked from calling",
    "No phone calls",
    "Gesperrt für Anrufe",
    "Gesperrt für Telefon",
    "Nicht telefonisch kontaktieren",
    "Widerspruch Telefonwerbung",
    "Non contattare telefonicamente",
    "Não contatar por telefone",
    "Zakaz kontaktu telefonicznego",
    "Direct Phone DNC",
    "Office Phone DNC",
    "Other Phone DNC",
    "Main DNC",
    "Wireless DNC",
    "DNCFlag",
    "DNC_IND",
    "DNC_YN",
    "Do Not Call Indicator",
    "In DNC",
    "FTC DNC",
    "DNC requested",
    "Permanent DNC",
    "optoutdate",
    "Unsub",
    "UNSUB_TIME",
    "cf_do_not_call",
    "custom.Do Not Call",
    "Custom field: DNC",
    "Prospect Do Not Call",
    "Opt-out requested",
    "Do Not Call Until",
    "Do not call ever",
    "Do not call this number",
    "No more calls",
    "Calls not allowed",
    "Does not want to be called",
    "Telefonsperre aktiv",
    "Werbesperre KZ",
    "Werbesperre gesetzt am",
    "Werbewiderspruch vom",
    "Für Werbung gesperrt",
    "Kein Telefonkontakt",
    "Möchte nicht angerufen werden",
    "Auf Robinsonliste",
    "Robinson Treffer",
    "Démarchage interdit",
    "Refus d'être contacté",
    "No volver a llamar",
    "Inscrito en Lista Robinson",
    "Da non chiamare",
    "Iscritto al Registro delle Opposizioni",
    "Não ligar mais",
    "Não permitir chamadas telefônicas",
    "Wil niet gebeld worden",
    "Proszę nie dzwonić",
    "Nie zezwalaj na połączenia telefoniczne",
    "Opt-in declined",
    "Consent missing",
    "Einwilligung fehlt",
    "Widerruf der Einwilligung",
    "Cofnięcie zgody",
];

const CONSENT: &[&str] = &[
    "Consent",
    "consent_given",
    "Consent__c",
    "Consent (Yes/No)",
    "Consent (email/phone)",
    "Call permission",
    "İzin",
    "Call consent",
    "Consent to calls",
    "TCPA Consent",
    "Marketing consent",
    "GDPR Consent (Y/N)",
    "Opt-in",
    "OptIn",
    "OPT_IN",
    "Opted in",
    "Phone Opt-In",
    "Opt in status",
    "Permission to call",
    "OK to call",
    "Einwilligung",
    "Einwilligung erteilt",
    "Einwilligung Telefon",
    "Werbeeinwilligung",
    "Zustimmung",
    "Toestemming",
    "Consentement",
    "Consentement RGPD",
    "Consentimiento",
    "Consentimento LGPD",
    "Consenso marketing",
    "Consimțământ",
    "Samtykke",
    "Samtycke",
    "Suostumus",
    "Zgoda marketingowa RODO",
    "Souhlas",
    "Súhlas",
    "Hozzájárulás",
    "Privola",
    "Açık Rıza",
    "Συγκατάθεση",
    "Согласие",
    "הסכמה",
    "الموافقة",
    "Persetujuan",
    "ความยินยอม",
    "同意",
    "동의",
    "Consent obtained",
    "Valid consent",
    "Express written consent",
    "Consent to be called",
    "Opt-In vorhanden",
    "Einwilligung zur Telefonwerbung",
    "Einwilligung zu Anrufen",
    "Zustimmung zur Kontaktaufnahme",
    "Telefonerlaubnis",
    "Consentement démarchage",
    "Consentimiento para llamadas",
    "Consenso telefonate",
    "Consenso al contatto",
    "Consentimento para contato",
    "Toestemming gegeven",
    "Toestemming om te bellen",
    "Zgoda wyrażona",
    "Zgoda na telefony",
    "Allow Phone Calls",
    "Call allowed",
];

/// Headers of columns that say something else, or something about another channel.
const OTHERS: &[&str] = &[
    "Unsubscribed from all email",
    "Unsubscribed from Emails",
    "Email Opt Out",
    "HasOptedOutOfEmail",
    "HasOptedOutOfFax",
    "SMS opt-out",
    "Fax opt out",
    "Do not email",
    "Do not mail",
    "Do not allow Bulk Emails",
    "Do not allow Mails",
    "Do not allow Faxes",
    "E-Mail-Werbesperre",
    "Newsletter abgemeldet",
    "Werbesperre Post",
    "Désabonné newsletter",
    "No. calls",
    "No. of calls",
    "No contact since",
    "Kein Kontakt seit",
    "No contact person",
    "SIM gesperrt",
    "Nicht anrufen vor",
    "Bitte nicht anrufen vor",
    "Blocked dates",
    "Not on TPS",
    "Not on DNC",
    "Keine Werbesperre",
    "Blocked number of seats",
    "Other",
    "Main",
    "Company",
    "Valid until",
    "Active",
    "Confirmed",
    "Blocked by",
    "Blocked reason",
    "Blocked until",
    "Blocked amount",
    "Block",
    "Block No.",
    "Unblocked",
    "Unsubscribe link",
    "Unsubscribe reason",
    "Opt-out reason",
    "Opt-out URL",
    "Reason for opt-out",
    "Do not call before",
    "Do not call after 8 pm",
    "Do Not Disturb from",
    "DNC source",
    "DNC checked by",
    "Last call",
    "Call",
    "Calls",
    "Callback",
    "Number of calls",
    "Kreditsperre",
    "Liefersperre",
    "Sperrmüll",
    "Email consent",
    "No reply",
    "No opt-out",
    "Not blocked",
    "Account blocked",
    "401k opt-out",
    "Consent requested",
    "Opt-in requested",
    "Without consent form",
    "SMS or WhatsApp opt-out",
    "Do not contact by e-mail",
    "SMS Consent",
    "SMS Consent Timestamp",
    "Cookie consent",
    "Consent text",
    "Consent date",
    "Consent source",
    "Consent version",
    "Consent form URL",
    "Consent: I agree to the terms",
    "DOUBLE_OPT-IN",
    "Opt-in date",
    "OPTIN_TIME",
    "OPTIN_IP",
    "Opt-in page",
    "E-Mail-Einwilligung",
    "Einwilligungstext",
    "Newsletter opt-in",
    "Email permission status",
    "Accepts Marketing",
    "Preferred contact",
    "Contact",
    "Status",
    "Name",
    "Robinson Street",
    "Suppression valve",
    "Email status",
    "Subscriber since",
    "Never subscribed",
];

fn meant(header: &str) -> Vec<MarkKind> {
    let all = [MarkKind::DoNotCall, MarkKind::Consent];
    let all = all.into_iter();
    all.filter(|kind| kind.is_meant_by(header)).collect()
}

#[test]
fn headers_that_say_who_is_called_are_known_in_many_languages() {
    let wrong = |headers: &[&'static str], kind: MarkKind| {
        let wrong = headers.iter().filter(|header| meant(header) != [kind]);
        wrong.copied().collect::<Vec<&str>>()
    };
    assert_eq!(wrong(DO_NOT_CALL, MarkKind::DoNotCall), [""; 0]);
    assert_eq!(wrong(CONSENT, MarkKind::Consent), [""; 0]);
    let upper = DO_NOT_CALL.iter().filter(|header| {
        // A capital sigma has one form alone.
        meant(&header.to_uppercase()) != [MarkKind::DoNotCall] && !header.contains("Opt")
    });
    let upper: Vec<&&str> = upper.collect();
    assert_eq!(upper, [&"DoNotCall"; 0], "in capitals");
}

#[test]
fn nobody_is_silenced_by_headers_that_say_something_else() {
    let wrong = OTHERS.iter().filter(|header| !meant(header).is_empty());
    assert_eq!(wrong.collect::<Vec<_>>(), [&""; 0]);
}

#[test]
fn cells_are_read_in_many_languages() {
    let read = |kind: MarkKind, cells: &[&'static str], mark: Mark| {
        let wrong = cells.iter().filter(|cell| kind.read(cell) != mark);
        assert_eq!(wrong.collect::<Vec<_>>(), [&""; 0], "{kind:?} {mark:?}");
    };
    let yes = [
        "1",
        "1.0",
        "-1",
        "x",
        " X ",
        "yes",
        "Y",
        "TRUE",
        "ja",
        "WAHR",
        "Oui",
        "sí",
        "sim",
        "tak",
        "ano",
        "igen",
        "evet",
        "да",
        "כן",
        "はい",
        "是",
        "✓",
        "✔",
        "2026-03-04",
        "4.3.2026",
        "03/04/2026 10:12",
    ];
    let no = [
        "0",
        "0.0",
        "no",
        "N",
        "false",
        "nein",
        "FALSCH",
        "non",
        "não",
        "nie",
        "nem",
        "hayır",
        "нет",
        "לא",
        "いいえ",
        "否",
        "none",
        "keine",
    ];
    let forbidden = [
        "Do Not Allow",
        "do not call",
        "DNC",
        "withdrawn",
        "Revoked",
        "widerrufen",
        "Opt-out",
        "opted_out",
        "unsubscribed",
        "Nicht zulassen",
        "blocked",
        "no consent",
    ];
    let allowed = [
        "Allow", "allowed", "granted", "opt-in", "Opted in", "erteilt", "OK", "Zulassen",
    ];
    let empty = ["", "  ", "-", "–", "n/a", "N/A", "null", "."];
    let unknown = [
        "○",
        "×",
        "2024-01-01 revoked",
        "2024-05-01, zurückgezogen",
        "maybe",
        "?",
        "3",
        "web form",
        "✗",
        "[\"email\"]",
        "2026",
        "ask first",
    ];
    read(MarkKind::DoNotCall, &yes, Mark::Stop);
    read(MarkKind::DoNotCall, &no, Mark::Call);
    read(MarkKind::Consent, &yes, Mark::Call);
    read(MarkKind::Consent, &no, Mark::Stop);
    for kind in [MarkKind::DoNotCall, MarkKind::Consent] {
        read(kind, &forbidden, Mark::Stop);
        read(kind, &allowed, Mark::Call);
        read(kind, &empty, Mark::Empty);
        read(kind, &unknown, Mark::Unknown);
    }
}

#[test]
fn no_word_is_in_two_lists() {
    let lists = ["yes", "no", "allowed", "forbidden", "nothing"];
    for (at, list) in lists.iter().enumerate() {
        for other in &lists[at + 1..] {
            let twice = WORDS.of(list).intersection(WORDS.of(other));
            assert_eq!(twice.collect::<Vec<_>>(), [""; 0], "{list} {other}");
        }
    }
}

fn marks(names: &[&str], spec: &MappingSpec, rows: &[&[&str]]) -> Vec<(usize, MarkKind, bool)> {
    let header = Header {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        line: Some(1),
    };
    let mapping = Mapping::plan("leads.csv", &header, &RowBatch::of_text(rows), spec).unwrap();
    let marks = mapping.marks.iter();
    marks
        .map(|mark| (mark.column, mark.kind, mark.is_found))
        .collect()
}

#[test]
fn columns_are_found_or_named_and_only_decides_alone() {
    let names = ["phone", "Do Not Call", "Consent", "note"];
    let rows: &[&[&str]] = &[&["+442079460101", "x", "no", "yes"]];
    let spec = MappingSpec::default();
    let both = [(1, MarkKind::DoNotCall, true), (2, MarkKind::Consent, true)];
    assert_eq!(marks(&names, &spec, rows), both);
    let texts: &[&[&str]] = &[&["+442079460101", "maybe", "[\"email\"]", ""]];
    assert_eq!(
        marks(&names, &spec, texts),
        both[..1],
        "a text is no consent"
    );
    let spec = MappingSpec {
        do_not_call: ColumnChoice::Named("note".into()),
        consent: ColumnChoice::None,
        ..MappingSpec::default()
    };
    assert_eq!(
        marks(&names, &spec, rows),
        [(3, MarkKind::DoNotCall, false)]
    );
    let spec = MappingSpec {
        only: vec!["consent=yes".into(), "Do Not Call=".into()],
        ..MappingSpec::default()
    };
    assert_eq!(marks(&names, &spec, rows), []);
}
