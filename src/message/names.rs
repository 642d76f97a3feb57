//! What each voice calls a setting, and turns of speech that many texts have.
//!
//! A template names them by key. The words of the page are those of its labels: a label that changes
//! is changed here.

use super::Voice;

/// Each key, what the terminal calls it, and what the page does.
pub(super) const NAMES: [(&str, &str, &str); 24] = [
    // Turns of speech.
    ("again", "run the same command again", "try again"),
    ("ask_setup", ASK_SETUP, ASK_SETUP),
    ("ledger", "the ledger", "leadload's record of what was sent"),
    ("rejects", "the rejects file", "the rows to fix"),
    (
        "report_bug",
        "this is a bug in leadload, please report it",
        "this is a mistake in leadload, please report it",
    ),
    ("the_service", "the service", "the calling service"),
    // Settings.
    ("--base-url", "`--base-url`", "“Service”"),
    ("--campaign", "`--campaign`", "“Campaign”"),
    ("--campaign-column", "`--campaign-column`", "“Campaign”"),
    ("--consent-column", "`--consent-column`", "“Who is called”"),
    ("--delimiter", "`--delimiter`", "“Does this look wrong?”"),
    (
        "--do-not-call-column",
        "`--do-not-call-column`",
        "“Who is called”",
    ),
    ("--encoding", "`--encoding`", "“Does this look wrong?”"),
    ("--no-header", "`--no-header`", "“Does this look wrong?”"),
    ("--only", "`--only`", "“Only send rows where”"),
    ("--phone-column", "`--phone-column`", "“Phone number”"),
    ("--region", "`--region`", "“Country”"),
    ("--region-column", "`--region-column`", "“Country”"),
    ("--set", "`--set`", "“What the agent is told”"),
    ("--sheet", "`--sheet`", "“Does this look wrong?”"),
    (
        "--skip-column",
        "`--skip-column`",
        "“What the agent is told”",
    ),
    ("--suppress", "`--suppress`", "“Do-not-call list”"),
    ("--token-file", "`--token-file`", "“Service”"),
    ("--var", "`--var`", "“What the agent is told”"),
];

const ASK_SETUP: &str = "ask the person who set up leadload on this computer";

/// What a voice calls it; `None` if the key is not known.
pub(super) fn name(key: &str, voice: Voice) -> Option<&'static str> {
    let found = NAMES.iter().find(|(known, ..)| *known == key);
    found.map(|(_, terminal, page)| match voice {
        Voice::Terminal => *terminal,
        Voice::Page => *page,
    })
}
