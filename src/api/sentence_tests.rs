//! What services say, and what only sounds like it.

use super::*;

fn of(text: &str) -> Option<Presence> {
    presence(&text.to_lowercase(), None)
}

#[test]
fn a_duplicate_is_recognized_by_its_sentence() {
    for text in [
        "Lead is already in this campaign",
        "This contact is in the campaign already",
        "The phone number has already been registered.",
        "Number already registered",
        "validation.unique",
        "The phone number must be unique",
        "Contact exists",
        "A contact with this number exists",
        "Lead exists already",
        "The phone number +447911123456 exists in this campaign.",
        "already been taken",
        "Already exists",
        "It already exists.",
        "+447911123456 already exists",
        "Error: lead already exists (id 7)",
        "The contact is already a member of this campaign",
        "This number is already a lead",
        "There is already a contact with this number",
        "The campaign already has this contact",
        "This campaign already contains the phone number",
        "You have already added this lead",
        "The person is already on this list",
        "The lead is already part of the campaign",
        "This phone number is already in use",
        "Phone number already used",
        "The lead has already been added to the campaign",
        "Lead could not be created because the phone number already exists.",
        "Lead not created: it already exists",
        "Lead was not created, already in campaign",
        "Cannot import a lead already in this campaign",
        "Cannot create a lead that already exists",
        "The lead doesn't need to be sent: it already exists",
        "The combination of phone_number and campaign_id already exists",
        "A lead from another campaign already exists in this campaign",
        "Zebedee already exists",
        "phone_number: has already been taken",
        "The contact you are trying to add already exists",
        "You already added this contact",
        "Sie haben diesen Kontakt: er existiert bereits",
        "This lead already belongs to the campaign",
        "LEAD_ALREADY_EXISTS",
        "Member Exists",
        "ada@example.com is already a list member.",
        "Already in campaign",
        "A lead with the same phone number exists in this campaign",
        "The number is already assigned to this campaign",
        "The contact is already in the system",
        "Kontakt existiert",
        "Kontakt existiert bereits in dieser Kampagne",
        "Es existiert bereits ein Kontakt mit dieser Nummer",
        "Die Nummer ist bereits vergeben.",
        "Diese Telefonnummer ist bereits in dieser Kampagne vorhanden",
        "Der Lead wurde schon registriert",
    ] {
        assert_eq!(of(text), Some(Presence::Here), "{text}");
    }
}

#[test]
fn sentences_that_only_resemble_a_duplicate_are_none() {
    for text in [
        "The contact does not exist",
        "The lead doesn't exist",
        "Contact doesn’t exist",
        "The lead no longer exists",
        "No contact exists",
        "No such lead already exists",
        "The campaign no longer exists",
        "The campaign already exists",
        "Campaign exists",
        "The campaign is already stopped",
        "The campaign is already in progress",
        "A call is already in progress",
        "The city must already exist",
        "The city already exists",
        "The contact must already exist",
        "The contact should already be registered",
        "The lead is not already in the campaign",
        "Lead must exist",
        "Please check that the contact exists",
        "Make sure the lead exists",
        "Does the lead exist?",
        "Whether the contact exists is not known",
        "The phone number is refused if it already exists",
        "The phone number is invalid or already exists",
        "The email has already been taken.",
        "The contact name has already been taken",
        "The name of the contact already exists",
        "Variable customer_name already exists",
        "email: has already been taken",
        "campaign_id: already exists",
        "city: must already exist",
        "The name must be unique",
        "You have already used all your credits",
        "You have already imported 1000 leads",
        "All credits have already been used",
        "The limit has already been reached",
        "The number list already has its maximum",
        "The campaign already has the maximum number of leads",
        "The campaign already has a lead limit",
        "The lead has already been called",
        "The number is already blocked",
        "The number is already on the do-not-call list",
        "This contact already exists in the blacklist",
        "The lead has already been added to the suppression list",
        "The lead is already in the trash",
        "The lead has already been deleted",
        "Only contacts that already exist can be called",
        "Leads that already exist are skipped",
        "The maximum number of leads already exists",
        "This feature is already in use",
        "The campaign_id already exists",
        "The phone number must not exist already",
        "Kontakt existiert nicht",
        "Der Kontakt existiert in dieser Kampagne nicht",
        "Es existiert kein Kontakt",
        "Die Kampagne existiert bereits",
        "Die Kampagne ist bereits beendet",
        "Kein Lead existiert bereits",
        "already",
        "exists",
        "",
    ] {
        assert_eq!(of(text), None, "{text}");
    }
}

#[test]
fn another_campaign_is_not_this_one() {
    for text in [
        "A lead with this phone number already exists in another campaign",
        "Lead created. The number already exists in another campaign.",
        "Contact exists in a different campaign",
        "This number is already in other campaigns",
        "The lead already exists elsewhere",
        "The lead already exists, but not in this campaign",
        "Der Kontakt existiert bereits in einer anderen Kampagne",
    ] {
        assert_eq!(of(text), Some(Presence::Elsewhere), "{text}");
    }
    let both = "Lead already exists in this campaign. Lead already exists in another campaign.";
    assert_eq!(of(both), Some(Presence::Here));
    let under_another_name = "The lead already exists under another name";
    assert_eq!(of(under_another_name), Some(Presence::Here));
}

#[test]
fn the_field_of_a_sentence_may_say_what_it_is_about() {
    for (text, about, is_said) in [
        ("exists", Some(Noun::Lead), true),
        ("has already been used", Some(Noun::Lead), true),
        ("must be unique", Some(Noun::Lead), true),
        ("validation.unique", Some(Noun::Lead), true),
        ("the email has already been taken", Some(Noun::Lead), false),
        ("has already been taken", Some(Noun::Other), false),
        ("validation.unique", Some(Noun::Other), false),
        (
            "the lead is already in this campaign",
            Some(Noun::Other),
            true,
        ),
        ("has already been used", None, false),
    ] {
        assert_eq!(presence(text, about).is_some(), is_said, "{text} {about:?}");
    }
}

#[test]
fn a_duplicate_is_one_unless_that_is_denied_or_said_of_something_else() {
    for text in [
        "duplicate lead",
        "duplicate",
        "duplicate entry '+447911123456' for key 'leads_phone_number_unique'",
        "duplicate key value violates unique constraint",
        "duplicate phone numbers are not allowed",
        "the lead is a duplicate",
        "doppelte nummer",
        "duplikat",
    ] {
        assert_eq!(duplicate(text, None), Some(Presence::Here), "{text}");
    }
    let elsewhere = "duplicate of a lead in another campaign";
    assert_eq!(duplicate(elsewhere, None), Some(Presence::Elsewhere));
    for text in [
        "not a duplicate: invalid number",
        "no duplicate found",
        "the allow duplicate field must be true or false",
        "the duplicate check failed",
        "could not check for duplicates",
        "duplicate variable city",
        "the name is a duplicate",
        "it must not be a duplicate",
    ] {
        assert_eq!(duplicate(text, None), None, "{text}");
    }
}

#[test]
fn a_limit_of_the_account_is_recognized_and_a_length_limit_is_not() {
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
