//! What is agreed on between the ledger that reserves start times and those who use them.

use std::time::Duration;

/// How late a start may come, and by how much two computers may see one time differently: spans
/// are that much longer than limits say.
pub const TOLERANCE: Duration = Duration::from_millis(5);

/// How far ahead start times are reserved: further than it takes to ask for more. What is
/// reserved and not used is lost for all.
pub const AHEAD: Duration = Duration::from_millis(250);

/// How long what the ledger has said of the pace of all runs holds, since another run may have
/// brought a limit: nothing starts on what is older.
pub const NEWS_HOLD: Duration = Duration::from_secs(1);
