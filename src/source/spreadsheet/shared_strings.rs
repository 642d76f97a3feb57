//! The texts that the cells of an .xls share (MS-XLS 2.4.265), by their length alone:
//! calamine copies a text into every cell that refers to it.

use super::ole::{u16_at, u32_at};

/// The most bytes of UTF-8 that a character of one byte and one of two bytes become,
/// whatever code page the file names: calamine decodes two bytes for either.
pub(super) const NARROW: u64 = 4;
const WIDE: u64 = 6;

/// How long the texts are.
#[derive(Debug)]
pub(super) enum SharedStrings {
    Known(Vec<u64>),
    /// The table is not one that can be followed: any text may be all of it.
    Unknown(u64),
}

impl Default for SharedStrings {
    fn default() -> Self {
        SharedStrings::Known(Vec::new())
    }
}

impl SharedStrings {
    /// Reads the table's record and those that continue it.
    pub(super) fn read(blocks: &[&[u8]]) -> Self {
        let mut table = Table::new(blocks);
        match table.lengths() {
            Some(lengths) => SharedStrings::Known(lengths),
            None => {
                let bytes: usize = blocks.iter().map(|block| block.len()).sum();
                SharedStrings::Unknown(NARROW * bytes as u64)
            }
        }
    }

    /// The bytes of the text at `index`.
    pub(super) fn len(&self, index: u32) -> u64 {
        match self {
            SharedStrings::Known(lengths) => lengths.get(index as usize).copied().unwrap_or(0),
            SharedStrings::Unknown(longest) => *longest,
        }
    }
}

/// The table's bytes, which are cut into blocks anywhere.
struct Table<'a> {
    block: &'a [u8],
    rest: std::slice::Iter<'a, &'a [u8]>,
}

impl<'a> Table<'a> {
    fn new(blocks: &'a [&'a [u8]]) -> Self {
        let mut rest = blocks.iter();
        // How many texts there are stands first, and is not relied upon.
        let block = rest.next().and_then(|block| block.get(8..)).unwrap_or(&[]);
        Table { block, rest }
    }

    fn lengths(&mut self) -> Option<Vec<u64>> {
        let mut lengths = Vec::new();
        while !self.block.is_empty() || self.next_block() {
            lengths.push(self.string()?);
        }
        Some(lengths)
    }

    /// A text (MS-XLS 2.5.293), and what is told of its looks behind it.
    fn string(&mut self) -> Option<u64> {
        if self.block.is_empty() {
            return Some(0);
        }
        let characters = u64::from(u16_at(self.block, 0).ok()?);
        let flags = *self.block.get(2)?;
        self.block = &self.block[3..];
        let mut behind = 0;
        if flags & 0x8 != 0 {
            behind += 4 * usize::from(u16_at(self.block, 0).ok()?);
            self.block = &self.block[2..];
        }
        if flags & 0x4 != 0 {
            behind += u32_at(self.block, 0).ok()? as usize;
            self.block = &self.block[4..];
        }
        let len = self.characters(characters, flags)?;
        self.skip(behind)?;
        Some(len)
    }

    /// So many characters, each block of them with a width of its own.
    fn characters(&mut self, count: u64, mut flags: u8) -> Option<u64> {
        let mut left = count as usize;
        let mut len = 0;
        while left > 0 {
            let is_wide = flags & 0x1 != 0;
            let width = if is_wide { 2 } else { 1 };
            let here = left.min(self.block.len() / width);
            len += here as u64 * if is_wide { WIDE } else { NARROW };
            self.block = &self.block[here * width..];
            left -= here;
            if left > 0 {
                if !self.next_block() {
                    return None;
                }
                flags = *self.block.first()?;
                self.block = &self.block[1..];
            }
        }
        Some(len)
    }

    fn skip(&mut self, mut bytes: usize) -> Option<()> {
        while bytes > 0 {
            if self.block.is_empty() && !self.next_block() {
                return None;
            }
            let here = bytes.min(self.block.len());
            self.block = &self.block[here..];
            bytes -= here;
        }
        Some(())
    }

    fn next_block(&mut self) -> bool {
        match self.rest.next() {
            Some(block) => {
                self.block = block;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(blocks: &[&[u8]]) -> Option<Vec<u64>> {
        let first = [&[0; 8], blocks[0]].concat();
        let blocks: Vec<&[u8]> = std::iter::once(&first[..])
            .chain(blocks[1..].iter().copied())
            .collect();
        match SharedStrings::read(&blocks) {
            SharedStrings::Known(lengths) => Some(lengths),
            SharedStrings::Unknown(_) => None,
        }
    }

    #[test]
    fn texts_are_as_long_as_they_can_become() {
        let narrow = b"\x03\0\0abc";
        let wide = b"\x02\0\x01a\0b\0";
        let formatted = b"\x01\0\x08\x01\0a\0\0\0\0";
        let all = [&narrow[..], wide, formatted, b"\0\0\0"].concat();
        assert_eq!(lengths(&[&all]), Some(vec![12, 12, 4, 0]));
    }

    #[test]
    fn a_text_goes_on_in_the_next_record_in_a_width_of_its_own() {
        assert_eq!(
            lengths(&[b"\x03\0\0ab", b"\x01c\0\x01\0\0x"]),
            Some(vec![14, 4])
        );
    }

    #[test]
    fn in_a_table_that_cannot_be_followed_any_text_may_be_all_of_it() {
        assert_eq!(lengths(&[b"\x03\0\0ab"]), None);
        let cut_off = [&[0; 8][..], b"\x03\0\0ab"].concat();
        assert_eq!(SharedStrings::read(&[&cut_off]).len(7), 4 * 13);
    }
}
