//! The two code pages of DOS that western lists are still written in: Excel's "CSV (MS-DOS)", old
//! cash registers. The Encoding Standard has neither.

/// A code page of DOS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DosPage {
    /// Western Europe.
    Cp850,
    /// The United States, and lists from before 1987.
    Cp437,
}

/// The characters of the bytes from 80 to FF (Unicode's mappings CP850.TXT and CP437.TXT).
const CP850: &str = "\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒ\
    áíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀\
    ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}";
const CP437: &str = "\
    ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒ\
    áíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
    αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";

impl DosPage {
    pub(super) fn named(label: &str) -> Option<DosPage> {
        let label = label.trim().to_ascii_lowercase();
        let is_named = |page: &DosPage| {
            let number = page.name().trim_start_matches("cp");
            let before = label.strip_suffix(number);
            let before = before.map(|before| before.trim_end_matches(['-', '_']));
            matches!(before, Some("" | "cp" | "ibm" | "csibm"))
        };
        let mut pages = [DosPage::Cp850, DosPage::Cp437].into_iter();
        pages.find(is_named)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            DosPage::Cp850 => "cp850",
            DosPage::Cp437 => "cp437",
        }
    }

    /// Every byte has a character.
    pub(super) fn decode(self, bytes: &[u8]) -> String {
        let high = match self {
            DosPage::Cp850 => CP850,
            DosPage::Cp437 => CP437,
        };
        let high: Vec<char> = high.chars().collect();
        let character = |byte: &u8| match byte.checked_sub(0x80) {
            None => char::from(*byte),
            Some(at) => high[usize::from(at)],
        };
        bytes.iter().map(character).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_own_character_and_letters_are_right() {
        for page in [DosPage::Cp850, DosPage::Cp437] {
            let characters = page.decode(&(0..=255).collect::<Vec<u8>>());
            let distinct: std::collections::BTreeSet<char> = characters.chars().collect();
            assert_eq!(
                (distinct.len(), distinct.contains(&'\u{FFFD}')),
                (256, false)
            );
            assert_eq!(
                page.decode(b"Jos\x82 Pe\xA4a, M\x81ller, Stra\xE1e"),
                "José Peña, Müller, Straße"
            );
        }
        assert_eq!(
            DosPage::Cp850.decode(b"Jo\xC6o, S\x9Bren, \x9D"),
            "João, Søren, Ø"
        );
    }

    #[test]
    fn a_page_is_known_by_its_usual_names() {
        for label in [
            "cp850", "CP850", "IBM850", "850", "cp-850", "ibm_850", " cp850 ",
        ] {
            assert_eq!(DosPage::named(label), Some(DosPage::Cp850), "{label}");
        }
        for label in ["cp437", "ibm437", "437", "IBM-437", "csIBM437"] {
            assert_eq!(DosPage::named(label), Some(DosPage::Cp437), "{label}");
        }
        for label in ["", "cp", "85", "cp8500", "dos", "cp852"] {
            assert_eq!(DosPage::named(label), None, "{label}");
        }
    }
}
