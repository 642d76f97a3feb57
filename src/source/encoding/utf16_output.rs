//! Text to UTF-16, which `encoding_rs` does not write.

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// UTF-16LE
    LowFirst,
    /// UTF-16BE
    HighFirst,
}

/// The high byte of the unit that carries a byte which has no partner. It makes a
/// *leading* surrogate: no text that follows can complete it to a character, while a
/// trailing one could be completed by an undecodable unit before it.
const LONE_HIGH: u8 = 0xD8;

/// Writes UTF-16.
#[derive(Debug)]
pub(super) struct Utf16Output {
    order: Order,
    /// The first of the two bytes of an undecodable unit.
    lone: Option<u8>,
}

impl Utf16Output {
    pub(super) fn new(order: Order) -> Self {
        Utf16Output { order, lone: None }
    }

    /// Writes characters.
    pub(super) fn text(&mut self, text: &str, bytes: &mut Vec<u8>) {
        if text.is_empty() {
            return;
        }
        if let Some(byte) = self.lone.take() {
            // By itself it would shift all that follows by half a unit.
            bytes.extend(self.unit(byte, LONE_HIGH));
        }
        for unit in text.encode_utf16() {
            let [high, low] = unit.to_be_bytes();
            bytes.extend(self.unit(low, high));
        }
    }

    /// Writes an undecodable byte: two in a row are a unit, in the order in which
    /// they come.
    pub(super) fn byte(&mut self, byte: u8, bytes: &mut Vec<u8>) {
        match self.lone.take() {
            Some(first) => bytes.extend([first, byte]),
            None => self.lone = Some(byte),
        }
    }

    /// Writes what is left. At the very end there is nothing that a byte without a
    /// partner could shift.
    pub(super) fn finish(&mut self, bytes: &mut Vec<u8>) {
        bytes.extend(self.lone.take());
    }

    fn unit(&self, low: u8, high: u8) -> [u8; 2] {
        match self.order {
            Order::LowFirst => [low, high],
            Order::HighFirst => [high, low],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_without_a_partner_neither_shifts_the_rest_nor_becomes_a_character() {
        for (order, expected) in [
            (Order::LowFirst, b"\x00\xD8\x41\xD8,\0"),
            (Order::HighFirst, b"\x00\xD8\xD8\x41\0,"),
        ] {
            let (mut output, mut bytes) = (Utf16Output::new(order), Vec::new());
            for byte in [0x00, 0xD8, 0x41] {
                output.byte(byte, &mut bytes);
            }
            output.text(",", &mut bytes);
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn characters_beyond_the_first_plane_are_two_units() {
        let (mut output, mut bytes) = (Utf16Output::new(Order::HighFirst), Vec::new());
        output.text("😀", &mut bytes);
        assert_eq!(bytes, b"\xD8\x3D\xDE\x00");
    }
}
