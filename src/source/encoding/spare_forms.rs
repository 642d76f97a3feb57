//! Bytes for characters that an encoding has and its encoder does not write.
//!
//! The standard lets every program *read* more than it may *write*: the characters
//! for Hong Kong in Big5, those of JIS X 0212 in EUC-JP, a company's own ones in
//! Shift_JIS. Whoever hands back rows as they came must write these too.

use std::collections::HashMap;

use super::Encoding;

/// The bytes of such characters.
pub(super) struct SpareForms {
    forms: HashMap<char, Vec<u8>>,
    /// GBK is read as gb18030, whose four bytes hold all of Unicode.
    is_gbk: bool,
}

impl SpareForms {
    /// Those of `encoding`, found by decoding everything that it could have. That
    /// takes a few milliseconds, so it is best done when first needed.
    pub(super) fn of(encoding: Encoding) -> Self {
        let mut forms = HashMap::new();
        if encoding != Encoding::ISO_2022_JP {
            add_forms(&mut forms, encoding, &[], 0x40);
        }
        if encoding == Encoding::EUC_JP {
            add_forms(&mut forms, encoding, &[0x8F], 0xA1);
        }
        SpareForms {
            forms,
            is_gbk: encoding == Encoding::GBK,
        }
    }

    /// The bytes of `character`, if it has any.
    pub(super) fn get(&self, character: char) -> Option<Vec<u8>> {
        if let Some(form) = self.forms.get(&character) {
            return Some(form.clone());
        }
        // Not kept: it would be all of Unicode in the end.
        let text = character.to_string();
        let (bytes, _, has_failed) = encoding_rs::GB18030.encode(&text);
        (self.is_gbk && !has_failed).then(|| bytes.into_owned())
    }
}

/// Adds every single character that is `prefix` and two more bytes, the second of
/// them from `lowest` on, and that has no bytes otherwise.
fn add_forms(forms: &mut HashMap<char, Vec<u8>>, encoding: Encoding, prefix: &[u8], lowest: u8) {
    for lead in 0x81..=0xFE {
        for trail in lowest..=0xFE {
            let bytes = [prefix, &[lead, trail]].concat();
            if let Some(character) = only_character(encoding, &bytes)
                && has_no_bytes(encoding, character)
            {
                forms.entry(character).or_insert(bytes);
            }
        }
    }
}

fn only_character(encoding: Encoding, bytes: &[u8]) -> Option<char> {
    let text = encoding
        .inner()
        .decode_without_bom_handling_and_without_replacement(bytes)?;
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

fn has_no_bytes(encoding: Encoding, character: char) -> bool {
    let mut buffer = [0; 4];
    let text = character.encode_utf8(&mut buffer);
    encoding.inner().encode(text).2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_only_be_read_can_be_written_too() {
        for (label, character) in [("big5", 'Ê'), ("euc-jp", '丂'), ("sjis", '\u{E000}')] {
            let encoding: Encoding = label.parse().unwrap();
            let forms = SpareForms::of(encoding);
            let bytes = forms.get(character).unwrap();
            assert_eq!(only_character(encoding, &bytes), Some(character));
        }
    }

    #[test]
    fn gbk_writes_what_it_reads_as_four_bytes() {
        let forms = SpareForms::of(Encoding::GBK);
        let bytes = forms.get('ü');
        assert_eq!(bytes, Some(b"\xA8\xB9".to_vec()));
        let bytes = forms.get('ß').unwrap();
        assert_eq!(only_character(Encoding::GBK, &bytes), Some('ß'));
        assert_eq!(bytes.len(), 4);
    }

    #[test]
    fn what_has_no_form_at_all_has_none_here() {
        assert_eq!(SpareForms::of("big5".parse().unwrap()).get('😀'), None);
    }
}
