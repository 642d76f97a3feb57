//! A zip archive with a single file in it, as registries deliver their lists.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use jiff::civil::Date;
use zip::ZipArchive;
use zip::read::ZipFile;

/// The most bytes that are unpacked: all numbers of the American registry are less than 4 GiB.
const MAX_BYTES: u64 = 8 << 30;

/// Unpacks the single file of an archive, and says when it was last changed. `None` if the file is
/// no such archive: a workbook is one with many files.
pub(super) fn single_file(mut file: File) -> io::Result<Option<(File, Option<Date>)>> {
    let mut magic = Vec::new();
    file.by_ref().take(4).read_to_end(&mut magic)?;
    if magic != b"PK\x03\x04" {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(0))?;
    let Ok(mut archive) = ZipArchive::new(file) else {
        return Ok(None);
    };
    let is_file =
        |name: &[u8]| !matches!(name.last(), Some(b'/' | b'\\')) && !name.starts_with(b"__MACOSX/");
    let names = archive.file_names_raw().enumerate();
    let mut files = names.filter(|(_, name)| is_file(name));
    let (Some((only, _)), None) = (files.next(), files.next()) else {
        return Ok(None);
    };
    drop(files);
    let entry = archive.by_index(only)?;
    let changed = changed_on(&entry);
    let mut unpacked = tempfile::tempfile()?;
    if io::copy(&mut entry.take(MAX_BYTES + 1), &mut unpacked)? > MAX_BYTES {
        return Err(io::Error::other("it unpacks to more than 8 GiB"));
    }
    Ok(Some((unpacked, changed)))
}

fn changed_on<R: Read + ?Sized>(entry: &ZipFile<'_, R>) -> Option<Date> {
    let time = entry.last_modified()?;
    // None of them is larger than its type: they are bits of a date that has sixteen.
    let [month, day] = [time.month(), time.day()].map(u8::cast_signed);
    Date::new(time.year().cast_signed(), month, day).ok()
}
