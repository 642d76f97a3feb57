//! A workbook's bytes, of which calamine gets to see no part that has not been weighed.
//!
//! Which parts calamine reads, and which one is the sheet, is said by other parts, and
//! any name will do for any of them. So it is not asked what a part is called: a part
//! is weighed when the first of its bytes is read.

use std::cell::RefCell;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;

use zip::ZipArchive;

use super::error::Refusal;
use super::weight::{Weight, check_pieces, check_records};

/// A sheet of this size does no harm even if it is a single cell, and is not read twice.
const SMALL_PART_BYTES: u64 = 64 << 20;

/// How the parts of a workbook are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// All of them as XML: .xlsx.
    Xml,
    /// As binary records, the relationships aside: .xlsb.
    Records,
}

/// Where calamine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It reads parts whole, and keeps what they say.
    Opening,
    /// It hands out the cells of a sheet one by one.
    Reading,
}

/// The workbook as calamine reads it.
pub(super) struct Guarded<'a> {
    bytes: Cursor<&'a [u8]>,
    scales: Rc<RefCell<Scales<'a>>>,
}

/// What is left to do, and how it went.
struct Scales<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    kind: Parts,
    stage: Stage,
    weight: Weight,
    /// Where the bytes of the parts are that have not been weighed, and their places in
    /// the archive.
    unweighed: Vec<(Range<u64>, usize)>,
    refusal: Option<Refusal>,
}

/// What the one who opens a [`Guarded`] workbook keeps of it.
pub(super) struct Guard<'a>(Rc<RefCell<Scales<'a>>>);

/// The workbook `bytes`, to be read, and the guard that says whether all is well.
pub(super) fn guarded(bytes: &[u8], kind: Parts) -> Result<(Guarded<'_>, Guard<'_>), Refusal> {
    let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(Refusal::corrupt)?;
    let unweighed = (0..zip.len())
        .filter_map(|index| {
            // What has no place in the file cannot be read by calamine either.
            let part = zip.by_index_raw(index).ok()?;
            let start = part.data_start()?;
            Some((start..start.saturating_add(part.compressed_size()), index))
        })
        .collect();
    let scales = Rc::new(RefCell::new(Scales {
        zip,
        kind,
        stage: Stage::Opening,
        weight: Weight::default(),
        unweighed,
        refusal: None,
    }));
    let bytes = Cursor::new(bytes);
    let guard = Guard(Rc::clone(&scales));
    Ok((Guarded { bytes, scales }, guard))
}

impl Guard<'_> {
    /// From now on calamine hands out cells one by one.
    pub(super) fn start_reading(&self) {
        self.0.borrow_mut().stage = Stage::Reading;
    }

    /// What calamine has given, unless a part was refused: of some parts it takes no
    /// notice when they cannot be read.
    pub(super) fn judge<T>(&self, given: Result<T, Refusal>) -> Result<T, Refusal> {
        match self.0.borrow_mut().refusal.take() {
            Some(refusal) => Err(refusal),
            None => given,
        }
    }
}

impl Scales<'_> {
    /// Weighs the parts that have bytes in `wanted`.
    fn weigh(&mut self, wanted: &Range<u64>) -> Result<(), Refusal> {
        while let Some(at) = self
            .unweighed
            .iter()
            .position(|(range, _)| range.start < wanted.end && wanted.start < range.end)
        {
            let (_, index) = self.unweighed.swap_remove(at);
            self.weigh_part(index)?;
        }
        Ok(())
    }

    fn weigh_part(&mut self, index: usize) -> Result<(), Refusal> {
        // calamine cannot read it either, and tells it.
        let Ok(part) = self.zip.by_index(index) else {
            return Ok(());
        };
        let size = part.size();
        let kind = match part.name_raw() {
            b"xl/_rels/workbook.bin.rels" => Parts::Xml,
            _ => self.kind,
        };
        match (self.stage, kind) {
            (Stage::Opening, Parts::Xml) => self.weight.add_xml(part, size),
            (Stage::Opening, Parts::Records) => self.weight.add_records(part, size),
            // No piece is longer than the part that it is in.
            (Stage::Reading, _) if size <= SMALL_PART_BYTES => Ok(()),
            (Stage::Reading, Parts::Xml) => check_pieces(part),
            (Stage::Reading, Parts::Records) => check_records(part),
        }
    }
}

impl Read for Guarded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = self.bytes.position();
        let wanted = start..start.saturating_add(buffer.len() as u64);
        let mut scales = self.scales.borrow_mut();
        if let Err(refusal) = scales.weigh(&wanted) {
            scales.refusal = Some(refusal);
        }
        if scales.refusal.is_some() {
            return Err(io::Error::other("a part was refused"));
        }
        self.bytes.read(buffer)
    }
}

impl Seek for Guarded<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}
