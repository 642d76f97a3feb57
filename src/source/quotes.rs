//! Detects quotes that are never closed.
//!
//! A row may have line ends between quotes. So if a closing quote is missing, the rows below
//! belong to the cell, up to the next quote. Only the content of such a row shows the mistake.

/// If this many lines inside a cell look like rows, they are rows, …
const ROWS_WITHIN: usize = 3;

/// … or this many if a row has only two cells: an address may have one comma in each of its lines.
const SHORT_ROWS_WITHIN: usize = 10;

/// Whether the text of a row has a quote that is never closed, and so
/// contains the rows below it. There are two signs:
///
/// - A quoted cell does not end where a cell can end: the quote that closes
///   it was meant to open another cell.
/// - The number of `cells` differs from the `columns` of the header, and the lines in the
///   middle look like rows. (If the number is right, the cell is a note with rows in it.)
pub(super) fn is_torn(row: &[u8], delimiter: u8, cells: usize, columns: usize) -> bool {
    memchr::memchr(b'"', row).is_some()
        && (!ends_where_cells_end(row, delimiter)
            || cells != columns && has_rows_within(row, delimiter, columns))
}

/// Whether every quoted cell is closed, and the closing quote is followed by a delimiter, a line
/// end or the end of the row. Some programs write white space after the quote, which is ignored.
fn ends_where_cells_end(row: &[u8], delimiter: u8) -> bool {
    after_quoted_cells(row, delimiter, |rest| {
        let space = |byte: &&u8| matches!(byte, b' ' | b'\t') && **byte != delimiter;
        let rest = &rest[rest.iter().take_while(space).count()..];
        rest.first()
            .is_none_or(|byte| matches!(byte, b'\n' | b'\r') || *byte == delimiter)
    })
}

pub(super) fn are_closed(row: &[u8], delimiter: u8) -> bool {
    after_quoted_cells(row, delimiter, |_| true)
}

/// Whether every quoted cell is closed, and `is_end` accepts the text after each.
fn after_quoted_cells(row: &[u8], delimiter: u8, is_end: impl Fn(&[u8]) -> bool) -> bool {
    let mut rest = row;
    loop {
        if rest.first() == Some(&b'"') {
            let Some(len) = quoted_len(rest) else {
                return false;
            };
            rest = &rest[len..];
            if !is_end(rest) {
                return false;
            }
        }
        match memchr::memchr3(delimiter, b'\n', b'\r', rest) {
            Some(end) if rest[end] == delimiter => rest = &rest[end + 1..],
            _ => return true,
        }
    }
}

/// The length of the quoted cell at the beginning of `text`, quotes included; `None` if
/// the cell has no end. Two quotes in a row stand for one quote and do not end the cell.
fn quoted_len(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr(b'"', &text[at..])? + 1;
        match text.get(at) {
            Some(b'"') => at += 1,
            _ => return Some(at),
        }
    }
}

fn has_rows_within(row: &[u8], delimiter: u8, columns: usize) -> bool {
    let needed = match columns {
        0 | 1 => return false,
        2 => SHORT_ROWS_WITHIN,
        _ => ROWS_WITHIN,
    };
    let lines: Vec<&[u8]> = row
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .filter(|line| !line.is_empty())
        .collect();
    // The first line is the torn row itself; the last has the quote that closes it.
    let within = lines.get(1..lines.len().saturating_sub(1));
    // Delimiters in a line with quotes cannot be counted this simply.
    let mut plain = within.unwrap_or_default().to_vec();
    plain.retain(|line| !line.contains(&b'"'));
    let is_row = |line: &&[u8]| memchr::memchr_iter(delimiter, line).count() + 1 == columns;
    plain.len() >= needed && plain.iter().all(is_row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_between_quotes_do_not_break_a_row() {
        for row in [
            "1,\"12 High St,\nLeeds\",x\n",
            "1,\"a \"\"b\"\"\nc\" ,x\r\n",
            "\"a\nb\"",
            "\"a\nb\",",
            "\"12 High St,\nFlat 2,\nLeeds,\nUK\",x",
        ] {
            assert!(!is_torn(row.as_bytes(), b',', 0, 2), "{row:?}");
        }
    }

    #[test]
    fn a_cell_that_does_not_end_where_cells_end_is_torn() {
        for row in [
            "1,\"Ada\n2,\"Bob\"\n",
            "1,\"Ada,x\n2,Bob,y",
            "\"never closed",
            "1,\"Ada\n\"2\",Bob\n",
        ] {
            assert!(is_torn(row.as_bytes(), b',', 3, 3), "{row:?}");
        }
    }

    #[test]
    fn rows_inside_a_cell_are_rows_that_it_has_swallowed() {
        let row = "1,\"Ada,x\n2,Bob,y\n3,Cy,z\n4,Di,w\n5,Ed\",v\n";
        assert!(is_torn(row.as_bytes(), b',', 2, 3));
        assert!(
            !is_torn(row.as_bytes(), b',', 3, 3),
            "a note with rows in it"
        );
        assert!(!is_torn(row.as_bytes(), b',', 3, 5));
        assert!(!is_torn(b"1,\"see: a,b,c\n\nand more\",x\n", b',', 2, 3));
    }
}
