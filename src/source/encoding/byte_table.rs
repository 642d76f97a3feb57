//! An encoding of one byte a character, as a table.
//!
//! A table of our own rather than `encoding_rs`' decoder because the two differ in
//! the holes of the Windows pages (0x81 in windows-1252 …): the standard makes
//! control characters of them, which here are undecodable bytes like those that
//! other tables leave out.

use super::{Encoding, UNDECODABLE};

/// A single-byte encoding.
#[derive(Debug)]
pub(super) struct ByteTable {
    /// What stands for each byte; `None` for one that means nothing.
    characters: [Option<char>; 256],
    /// The same in UTF-8, or [`UNDECODABLE`].
    texts: [Text; 256],
}

/// All tables lie in the plane whose characters have at most so many bytes.
const TEXT_BYTES: usize = 3;

#[derive(Debug, Clone, Copy, Default)]
struct Text {
    bytes: [u8; TEXT_BYTES],
    len: u8,
}

impl ByteTable {
    /// The table of `encoding`, which must be one of single bytes: of another one
    /// it has the ASCII half and nothing else.
    pub(super) fn of(encoding: Encoding) -> Self {
        let characters = std::array::from_fn(|byte| character(encoding, byte as u8));
        ByteTable {
            characters,
            texts: std::array::from_fn(|byte| Text::of(characters[byte])),
        }
    }

    /// What `byte` means, if anything.
    pub(super) fn character(&self, byte: u8) -> Option<char> {
        self.characters[usize::from(byte)]
    }

    /// Decodes from the beginning of `source` into that of `target` until one of
    /// them ends; returns how much it read and wrote, in bytes.
    pub(super) fn decode(&self, source: &[u8], target: &mut [u8]) -> (usize, usize) {
        let (mut read, mut written) = (0, 0);
        while read < source.len() {
            let room = &mut target[written..];
            let most = room.len().min(source.len() - read);
            let plain = encoding_rs::mem::copy_ascii_to_ascii(
                &source[read..read + most],
                &mut room[..most],
            );
            read += plain;
            written += plain;
            // From one accent to the next is a few bytes in most lists that have
            // any: as many as there are in a row are written before another run.
            while let Some(byte) = source.get(read).filter(|byte| !byte.is_ascii()) {
                let text = self.texts[usize::from(*byte)];
                let Some(room) = target.get_mut(written..written + TEXT_BYTES) else {
                    return (read, written);
                };
                room.copy_from_slice(&text.bytes);
                read += 1;
                written += usize::from(text.len);
            }
            if written == target.len() {
                break;
            }
        }
        (read, written)
    }
}

impl Text {
    fn of(character: Option<char>) -> Text {
        let mut text = Text::default();
        match character {
            Some(character) if character.len_utf8() <= TEXT_BYTES => {
                text.len = character.encode_utf8(&mut text.bytes).len() as u8;
            }
            _ => {
                text.bytes[0] = UNDECODABLE;
                text.len = 1;
            }
        }
        text
    }
}

fn character(encoding: Encoding, byte: u8) -> Option<char> {
    let is_hole = |c: &char| encoding.is_windows_page() && ('\u{80}'..='\u{9F}').contains(c);
    let bytes = [byte];
    let text = encoding
        .inner()
        .decode_without_bom_handling_and_without_replacement(&bytes)?;
    text.chars().next().filter(|c| !is_hole(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holes_of_windows_1252_mean_nothing() {
        let table = ByteTable::of(Encoding::WINDOWS_1252);
        let holes: Vec<u8> = (0..=u8::MAX)
            .filter(|byte| table.character(*byte).is_none())
            .collect();
        assert_eq!(holes, [0x81, 0x8D, 0x8F, 0x90, 0x9D]);
        assert_eq!(table.character(0x80), Some('€'));
    }

    #[test]
    fn latin_2_keeps_its_control_characters() {
        let table = ByteTable::of("iso-8859-2".parse().unwrap());
        assert_eq!(table.character(0x81), Some('\u{81}'));
    }

    #[test]
    fn decoding_stops_where_the_room_ends_and_goes_on_from_there() {
        let table = ByteTable::of(Encoding::WINDOWS_1252);
        let source = b"M\xFCller \x81\x80";
        for room in 3..20 {
            let (mut text, mut rest) = (Vec::new(), &source[..]);
            while !rest.is_empty() {
                let mut target = vec![0; room];
                let (read, written) = table.decode(rest, &mut target);
                assert!(read > 0);
                text.extend_from_slice(&target[..written]);
                rest = &rest[read..];
            }
            assert_eq!(text, b"M\xC3\xBCller \xFF\xE2\x82\xAC");
        }
    }
}
