//! Whether bytes are UTF-8, whole or nearly.

/// The longest beginning of a character that a piece can end in, in bytes.
const LONGEST_CUT: usize = 3;

/// Counts what speaks for UTF-8 and what against it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Utf8Evidence {
    /// Characters of several bytes. Text in another encoding has few by chance: each
    /// needs a byte of one range followed by as many of another as the first says.
    characters: u64,
    /// Bytes that are part of no character.
    broken: u64,
    /// The beginning of a character that the last piece ended in.
    cut: [u8; LONGEST_CUT],
    cut_len: usize,
}

impl Utf8Evidence {
    /// Takes the next piece.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while self.cut_len > 0 && !bytes.is_empty() {
            bytes = self.feed_cut(bytes);
        }
        if bytes.is_ascii() {
            return;
        }
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(_) => return self.count_characters(bytes),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.count_characters(valid);
            match error.error_len() {
                Some(len) => {
                    self.broken += len as u64;
                    bytes = &rest[len..];
                }
                None => {
                    self.cut_len = rest.len().min(LONGEST_CUT);
                    self.cut[..self.cut_len].copy_from_slice(&rest[..self.cut_len]);
                    return;
                }
            }
        }
    }

    /// Goes on with a character that was cut; returns what is left of `bytes`.
    fn feed_cut<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut joined = [0; LONGEST_CUT + 1];
        let cut = &self.cut[..self.cut_len];
        joined[..cut.len()].copy_from_slice(cut);
        joined[cut.len()] = bytes[0];
        let joined = &joined[..=cut.len()];
        match std::str::from_utf8(joined).map_err(|error| error.error_len()) {
            Ok(_) => self.characters += 1,
            Err(None) => {
                self.cut_len = joined.len().min(LONGEST_CUT);
                self.cut[..self.cut_len].copy_from_slice(&joined[..self.cut_len]);
                return &bytes[1..];
            }
            // The new byte is none of the broken ones; it may begin a character itself.
            Err(Some(_)) => {
                self.broken += self.cut_len as u64;
                self.cut_len = 0;
                return bytes;
            }
        }
        self.cut_len = 0;
        &bytes[1..]
    }

    fn count_characters(&mut self, valid: &[u8]) {
        // Every character beyond ASCII has one byte that is no continuation of it.
        // So many at a time as can be counted in a byte: the compiler makes vector
        // instructions of that, which are several times as fast.
        for run in valid.chunks(usize::from(u8::MAX)) {
            let firsts: u8 = run.iter().map(|byte| u8::from(*byte >= 0xC0)).sum();
            self.characters += u64::from(firsts);
        }
    }

    /// Whether there was nothing but ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.characters == 0 && self.broken() == 0
    }

    /// How many bytes are no UTF-8.
    pub(super) fn broken(&self) -> u64 {
        self.broken + self.cut_len as u64
    }

    /// Whether it is UTF-8, be it with some damage: at least as many characters as broken
    /// bytes. Bytes of another encoding hardly ever make one by chance.
    pub(super) fn is_likely(&self) -> bool {
        self.broken() == 0 || self.characters >= self.broken()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn evidence(pieces: &[&[u8]]) -> (u64, u64) {
        let mut evidence = Utf8Evidence::default();
        for piece in pieces {
            evidence.feed(piece);
        }
        (evidence.characters, evidence.broken())
    }

    #[test]
    fn characters_and_broken_bytes_are_counted() {
        assert_eq!(evidence(&[b"abc"]), (0, 0));
        assert_eq!(evidence(&["Größe 東京 😀".as_bytes()]), (5, 0));
        assert_eq!(evidence(&[b"M\xFCller, Stra\xDFe"]), (0, 2));
        assert_eq!(evidence(&[b"\xE6\x9D"]), (0, 2));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_input_is_cut(
            bytes in proptest::collection::vec(prop_oneof![
                any::<u8>(), Just(0xE6), Just(0x9D), Just(0xF0), Just(0x9F), Just(0xC3), Just(b'a'),
            ], 0..60),
            size in 1_usize..9,
        ) {
            let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(evidence(&pieces), evidence(&[&bytes]));
        }
    }
}
