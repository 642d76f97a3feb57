//! Counts physical lines, as a text editor does.

/// Counts line ends (LF, CR LF or CR alone) in bytes that arrive in pieces.
#[derive(Debug, Default)]
pub(super) struct LineCounter {
    ended: u64,
    after_cr: bool,
}

impl LineCounter {
    pub(super) fn at(line: u64) -> LineCounter {
        LineCounter {
            ended: line - 1,
            after_cr: false,
        }
    }

    pub(super) fn advance(&mut self, bytes: &[u8]) {
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let follows_cr = match at {
                0 => self.after_cr,
                _ => bytes[at - 1] == b'\r',
            };
            if bytes[at] == b'\r' || !follows_cr {
                self.ended += 1;
            }
        }
        if let Some(last) = bytes.last() {
            self.after_cr = *last == b'\r';
        }
    }

    /// The line of the next byte, from 1.
    pub(super) fn current(&self) -> u64 {
        self.ended + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line_after(chunks: &[&[u8]]) -> u64 {
        let mut lines = LineCounter::default();
        for chunk in chunks {
            lines.advance(chunk);
        }
        lines.current()
    }

    #[test]
    fn lf_crlf_and_cr_each_end_one_line() {
        assert_eq!(line_after(&[b"a\nb\r\nc\rd"]), 4);
        assert_eq!(line_after(&[b"\n\n\r\n\r\r"]), 6);
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_makes_no_difference(text in "[a\r\n]{0,40}", cut in 0usize..40) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            prop_assert_eq!(line_after(&[&bytes[..cut], &bytes[cut..]]), line_after(&[bytes]));
        }
    }
}
