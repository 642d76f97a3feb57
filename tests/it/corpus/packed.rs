//! Compressed lists, and files that only look like lists.

use super::{encoded, gzip, named, utf_16le, zstd};
use crate::sheets::zip_of;

const LIST: &str = "phone,name\n+447400123456,Ada\n+447400123457,Bob\n";

fn without_its_end(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 6);
    bytes
}

/// A skippable frame, as `pzstd` writes it.
const SKIPPABLE: &[u8] = b"\x50\x2A\x4D\x18\x04\x00\x00\x00\x01\x02\x03\x04";

corpus! {
    gzip_named_so: named("leads.csv.gz", gzip(LIST)), "" => "
        exit 0
        gzip, UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
    ";
    gzip_of_two_members: named("leads.csv.gz", [gzip("phone,name\n+447400123456,Ada\n"), gzip("+447400123457,Bob\n")].concat()), "" => "
        exit 0
        gzip, UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
    ";
    gzip_of_windows_1252: gzip(encoded("windows-1252", "Name;Telefon\r\nJörg Müller;+493012345678\r\nKäthe Weiß;+493012345679\r\n")), "" => "
        exit 0
        gzip, windows-1252, semicolon, header in line 1
        2 | +493012345678 | ready | name=Jörg Müller
        3 | +493012345679 | ready | name=Käthe Weiß
    ";
    zstd_named_csv: zstd(LIST), "" => "
        exit 0
        zstd, UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
    ";
    zstd_of_several_frames: [SKIPPABLE.to_vec(), zstd("phone,name\n+447400123456,Ada\n"), zstd("+447400123457,Bob\n")].concat(), "" => "
        exit 0
        zstd, UTF-8, comma, header in line 1
        2 | +447400123456 | ready | name=Ada
        3 | +447400123457 | ready | name=Bob
    ";
    standard_input_packed: named("-", gzip(utf_16le("\u{FEFF}phone\tname\n+447400123456\tZoë\n"))), "" => "
        exit 0
        gzip, UTF-16LE, mark, tab, header in line 1
        2 | +447400123456 | ready | name=Zoë
    ";
    gzip_cut_off: named("leads.csv.gz", without_its_end(gzip(LIST))), "" => "
        exit 2
        cannot read `leads.csv.gz`: its end is missing
    ";
    zstd_cut_off: named("leads.csv.zst", without_its_end(zstd(LIST))), "" => "
        exit 2
        cannot read `leads.csv.zst`: its end is missing
    ";
    zip_of_a_list: named("leads.zip", zip_of(&[("leads.csv", LIST.as_bytes())], true)), "" => "
        exit 2
        `leads.zip` is a zip archive, not a spreadsheet
    ";
    pdf: named("leads.pdf", "%PDF-1.7\n"), "" => "
        exit 2
        `leads.pdf` is a PDF: rows are read only from CSV files and spreadsheets
    ";
    web_page_named_xls: named("leads.xls", "<html><table>\n<tr><td>phone</td></tr>\n<tr><td>+447400123456</td></tr>\n</table></html>\n"), "" => "
        exit 2
        `leads.xls` is a web page or XML: rows are read only from CSV files and spreadsheets
    ";
    list_named_xls: named("leads.xls", "phone\tname\n+447400123456\tAda\n"), "" => "
        exit 0
        UTF-8, tab, header in line 1
        2 | +447400123456 | ready | name=Ada
    ";
}
