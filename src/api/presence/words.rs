//! The words by which [`presence`](super) goes, in lower case, with spaces between them.

/// Whether the word is one of these.
pub(super) fn among(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|other| other == word)
}

pub(super) const ALREADY: &str = "already bereits schon";

pub(super) const EXISTS: &str = "exists exist existed existiert existieren";

/// What can have been done to a lead so that it is there, …
pub(super) const DONE: &str = "taken registered added imported present there enrolled subscribed
    included contained listed inserted existing belongs besteht gehört";

/// … where the lead or its number is named, …
pub(super) const DONE_TO_A_LEAD: &str = "used created submitted assigned linked attached associated
    stored saved recorded received entered uploaded known";

/// … and in German, where the word may come last.
pub(super) const DONE_IN_GERMAN: &str = "vergeben vorhanden registriert angelegt eingetragen
    erfasst hinzugefügt importiert gespeichert verwendet benutzt belegt enthalten bekannt
    zugeordnet zugewiesen hinterlegt aufgenommen existiert existieren mitglied teil";

/// Names of a lead, or of what it is known by.
pub(super) const LEAD: &str = "lead contact phone telephone mobile number person customer recipient
    participant subscriber member prospect client user record entry entries item resource entity
    duplicate kontakt kontakte telefon eintrag datensatz kunde teilnehmer empfänger mitglied";

/// Names of something else.
pub(super) const OTHER: &str = "email mail name city address company variable field column campaign
    list plan limit balance credit quota tag token account request job file call import check
    detection agent assistant kampagne kampagnen liste stadt ort adresse firma feld variablen
    konto guthaben anruf anfrage";

/// What a lead can be in.
pub(super) const PLACES: &str = "campaign list account project workspace team group system database
    kampagne kampagnen liste listen konto gruppe datenbank";

/// What it can be in without being in a list.
pub(super) const STATES: &str = "progress process hold trial motion effect place";

/// What those are in who are not to be called, or no longer.
pub(super) const BLOCKED: &str = "blacklist blacklisted blocklist blocked block dnc suppression
    suppressed opt optout unsubscribe unsubscribed exclusion excluded trash archive archived
    sperrliste gesperrt papierkorb archiv";

pub(super) const IN: &str = "in on within im auf part teil";

pub(super) const HAS: &str = "has have contains contain includes include hat haben enthält";

/// What stands before one thing.
pub(super) const ONE: &str = "a an the this that such same another existing ein eine einen diesen
    diese dieser dieses den der die das";

/// Those who do something, rather than have it done to them.
pub(super) const ACTIVE: &str = "you we i sie wir du ihr";

/// What denies or demands the verb that it stands before, or leaves it open.
pub(super) const NOT: &str =
    "not no never neither nor without cannot must should shall need needs or
    nicht kein keine keinen keiner nie muss müssen soll sollte sollten oder";

/// What does so from further away.
pub(super) const PERHAPS: &str =
    "if unless whether until only no none wenn falls ob nur kein keine keinen
    keiner";

/// What makes a question or a demand of a mere `exists`.
pub(super) const DEMANDS: &str = "may might can could would will do does did to that ensure sure
    verify check confirm only dass";

/// What only describes the thing before it follows these.
pub(super) const PREPOSITIONS: &str = "with of for in on from mit für von aus zu";

pub(super) const JOINS: &str = "and or und oder";

pub(super) const ELSEWHERE: &str = "another other different andere anderen anderer anderem";

pub(super) const OF_THIS: &str = "this the dieser der";

/// Words that begin another clause.
pub(super) const CONJUNCTIONS: &str = "because since as but so while therefore weil da denn aber";

/// What is done about duplicates without there being one.
pub(super) const MEASURES: &str = "allow allows allowed check checks checking checked detect
    detects detecting detected non";
