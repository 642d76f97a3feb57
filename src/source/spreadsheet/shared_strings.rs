//! The lengths of the texts that the cells of an .xls share (MS-XLS
//! 2.4.265). calamine copies such a text into every cell that refers to it.

use super::compound::{u16_at, u32_at};

/// The most UTF-8 bytes that a character can become, whatever code page the file names.
pub(super) const CHARACTER_BYTES: u64 = 6;

#[derive(Debug, Default)]
pub(super) struct SharedStrings(Vec<u64>);

impl SharedStrings {
    /// Reads the record of the table and the records that continue it; `None`
    /// if the table contradicts itself. calamine gives up on such a table too.
    pub(super) fn read(blocks: &[&[u8]]) -> Option<Self> {
        let Some((first, rest)) = blocks.split_first() else {
            return Some(SharedStrings::default());
        };
        let mut table = Table {
            // The first eight bytes say how many texts there are. They are not trusted.
            block: first.get(8..)?,
            rest,
        };
        let mut lengths = Vec::new();
        while !table.block.is_empty() || table.next_block().is_some() {
            lengths.push(table.string()?);
        }
        Some(SharedStrings(lengths))
    }

    pub(super) fn len(&self, index: u32) -> u64 {
        self.0.get(index as usize).copied().unwrap_or(0)
    }
}

/// The bytes of the table. A block may end anywhere, even within a text.
struct Table<'a> {
    block: &'a [u8],
    rest: &'a [&'a [u8]],
}

impl Table<'_> {
    /// Skips a text (MS-XLS 2.5.293) and the formatting after it. Returns its length.
    fn string(&mut self) -> Option<u64> {
        if self.block.is_empty() {
            return Some(0);
        }
        let characters = u16_at(self.block, 0).ok()?;
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
        self.skip_characters(usize::from(characters), flags)?;
        self.skip(behind)?;
        Some(CHARACTER_BYTES * u64::from(characters))
    }

    /// Skips this many characters. Each block has its own character width.
    fn skip_characters(&mut self, mut left: usize, mut flags: u8) -> Option<()> {
        loop {
            let width = if flags & 0x1 != 0 { 2 } else { 1 };
            let here = left.min(self.block.len() / width);
            self.block = &self.block[here * width..];
            left -= here;
            if left == 0 {
                return Some(());
            }
            self.next_block()?;
            flags = *self.block.split_off_first()?;
        }
    }

    fn skip(&mut self, mut bytes: usize) -> Option<()> {
        while bytes > 0 {
            if self.block.is_empty() {
                self.next_block()?;
            }
            let here = bytes.min(self.block.len());
            self.block = &self.block[here..];
            bytes -= here;
        }
        Some(())
    }

    fn next_block(&mut self) -> Option<()> {
        self.block = *self.rest.split_off_first()?;
        Some(())
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
        SharedStrings::read(&blocks).map(|strings| strings.0)
    }

    #[test]
    fn lengths_are_upper_bounds_of_the_decoded_texts() {
        let narrow = b"\x03\0\0abc";
        let wide = b"\x02\0\x01a\0b\0";
        let formatted = b"\x01\0\x08\x01\0a\0\0\0\0";
        let all = [&narrow[..], wide, formatted, b"\0\0\0"].concat();
        assert_eq!(lengths(&[&all]), Some(vec![18, 12, 6, 0]));
    }

    #[test]
    fn a_text_continues_in_the_next_record_with_its_own_character_width() {
        assert_eq!(
            lengths(&[b"\x03\0\0ab", b"\x01c\0\x01\0\0x"]),
            Some(vec![18, 6])
        );
    }

    #[test]
    fn a_table_that_ends_within_a_text_is_damage() {
        assert_eq!(lengths(&[b"\x03\0\0ab"]), None);
    }
}
