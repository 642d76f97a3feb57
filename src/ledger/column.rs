//! What is in a column, which the kinds of ledger may store differently.

use tokio_postgres::types::Type;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Whole,
    Text,
    Json,
    Bytes,
    YesNo,
    /// Seconds since 1970.
    Time,
    /// A path with its own bytes.
    Path,
    LeadId,
}

impl Kind {
    /// The type of a list of such values on a server, and its name there.
    pub(super) fn list(self) -> (Type, &'static str) {
        match self {
            Kind::Whole => (Type::INT8_ARRAY, "bigint[]"),
            Kind::YesNo => (Type::BOOL_ARRAY, "boolean[]"),
            Kind::Time => (Type::TIMESTAMPTZ_ARRAY, "timestamptz[]"),
            Kind::Text | Kind::LeadId => (Type::TEXT_ARRAY, "text[]"),
            Kind::Json => (Type::JSON_ARRAY, "json[]"),
            Kind::Bytes | Kind::Path => (Type::BYTEA_ARRAY, "bytea[]"),
        }
    }
}
