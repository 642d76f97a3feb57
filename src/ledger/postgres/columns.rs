//! Claims of rows, and values that the server has no type for.

use std::borrow::Cow;

use jiff::Timestamp;

/// Whether a row's claim is open though its sender cannot have a request on its way any more:
/// its lease and then its time-out have passed. `e` is the row's sender.
pub(super) const IS_EXPIRED: &str =
    "(s.is_open AND coalesce(e.until + e.timeout_ms * interval '1 ms' < clock_timestamp(), true))";

/// Joins each row of `sent AS s` with the sender that claimed it.
pub(super) const SENDER: &str = "LEFT JOIN leadload.senders AS e ON e.id = s.sender";

/// Text as the server can store it: it has no NUL.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => text.replace('\0', "\u{FFFD}").into(),
        false => text.into(),
    }
}

/// JSON as the server can look into it.
pub(super) fn storable_json(json: &str) -> String {
    json.replace("\\u0000", "\\ufffd")
}

/// Times are whole seconds, as in every kind of ledger.
pub(super) fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
