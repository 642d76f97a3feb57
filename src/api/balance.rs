//! Whether a sentence says that the account has come to its limit.
//!
//! Rule: pure; works on words in lower case.

/// Words for what an account has, or may use.
const OF_ACCOUNT: &[&str] = &[
    "balance",
    "credit",
    "credits",
    "plan",
    "limit",
    "quota",
    "guthaben",
    "kontingent",
];

/// How long a text may be: that is the limit of a field, and some fields are called `plan`.
const OF_TEXT: &[&str] = &[
    "character",
    "characters",
    "char",
    "chars",
    "length",
    "size",
    "byte",
    "bytes",
    "field",
    "zeichen",
    "feld",
];

/// How long a limit lasts, which is one of the account whatever it counts.
const OF_PERIOD: &[&str] = &["hourly", "daily", "weekly", "monthly", "yearly"];

/// Whether a text in lower case is about balance, credit, plan or limit of the account.
pub(super) fn is_about_balance(text: &str) -> bool {
    let has = |words: &[&str]| {
        let mut said = text.split(|c: char| !c.is_alphanumeric());
        said.any(|word| words.contains(&word))
    };
    let is_of_text = has(OF_TEXT) || text.contains("too long") || text.contains("longer than");
    has(OF_ACCOUNT) && (!is_of_text || has(OF_PERIOD))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_the_account_is_one_and_a_limit_of_a_text_is_none() {
        for text in [
            "insufficient balance",
            "you have no credits left",
            "credit limit reached",
            "upgrade your plan",
            "your plan does not allow this",
            "monthly call limit reached",
            "daily limit reached",
            "monthly limit of 10000 characters reached",
            "kein guthaben",
        ] {
            assert!(is_about_balance(text), "{text}");
        }
        for text in [
            "the name may not be greater than 20 characters",
            "limit of characters for name is 20",
            "character limit exceeded for city",
            "the plan field is limited to 20 characters",
            "the plan field is required.",
            "plan: too long",
            "the plan may not be longer than 20",
            "the length limit of city is 20",
            "das limit von 20 zeichen ist überschritten",
            "no explanation",
        ] {
            assert!(!is_about_balance(text), "{text}");
        }
    }
}
