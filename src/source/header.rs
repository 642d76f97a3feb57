//! The first row of an input: what its columns are called.

/// An input's header and what else its first bytes tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The columns' names as they stand.
    pub names: Vec<String>,
    /// Whether the file begins with a UTF-8 byte order mark.
    pub has_bom: bool,
}
