//! Claims of rows.

/// Whether a row's claim is open though its sender cannot have a request on its way any more:
/// its lease and then its time-out have passed. `e` is the row's sender.
pub(super) const IS_EXPIRED: &str =
    "(s.is_open AND coalesce(e.until + e.timeout_ms * interval '1 ms' < clock_timestamp(), true))";

/// Joins each row of `sent AS s` with the sender that claimed it.
pub(super) const SENDER: &str = "LEFT JOIN leadload.senders AS e ON e.id = s.sender";
