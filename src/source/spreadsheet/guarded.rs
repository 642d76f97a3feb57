//! An .xlsx of which calamine reads no part before it is weighed.
//!
//! Other parts say which parts calamine reads and which one is the sheet, under any name.
//! So names do not matter here: a part is weighed when calamine reads the first of its
//! bytes.

use std::cell::RefCell;
use std::fmt::Display;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::rc::Rc;

use zip::ZipArchive;

use super::error::WorkbookError;
use super::weight::{Weight, walk};

/// A sheet of this size does no harm even as a single cell, so it is not read twice.
const SMALL_PART_BYTES: u64 = 64 << 20;

pub(super) struct Guarded<'a> {
    bytes: Cursor<&'a [u8]>,
    scales: Rc<RefCell<Scales<'a>>>,
}

/// What is left to be weighed, and the first error.
struct Scales<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    weight: Weight,
    /// Whether calamine returns the cells of a sheet one by one. Before that it reads parts
    /// whole, and keeps what they say.
    is_reading: bool,
    /// Where the bytes of the parts are that have not been weighed, and their places in
    /// the archive.
    unweighed: Vec<(Range<u64>, usize)>,
    error: Option<WorkbookError>,
}

/// What the caller keeps of a [`Guarded`] workbook.
pub(super) struct Guard<'a>(Rc<RefCell<Scales<'a>>>);

/// The workbook `bytes` for calamine, and the guard that knows of the errors.
pub(super) fn guarded<'a>(
    bytes: &'a [u8],
    mut zip: ZipArchive<Cursor<&'a [u8]>>,
) -> (Guarded<'a>, Guard<'a>) {
    let unweighed = (0..zip.len())
        .filter_map(|index| {
            // calamine cannot read what has no place in the file either.
            let part = zip.by_index_raw(index).ok()?;
            let start = part.data_start()?;
            Some((start..start.saturating_add(part.compressed_size()), index))
        })
        .collect();
    let scales = Rc::new(RefCell::new(Scales {
        zip,
        weight: Weight::default(),
        is_reading: false,
        unweighed,
        error: None,
    }));
    let bytes = Cursor::new(bytes);
    let guard = Guard(Rc::clone(&scales));
    (Guarded { bytes, scales }, guard)
}

impl Guard<'_> {
    pub(super) fn start_reading(&self) {
        self.0.borrow_mut().is_reading = true;
    }

    /// What calamine has returned, unless a part was refused: it ignores some parts that
    /// cannot be read.
    pub(super) fn judge<T, E: Display>(&self, given: Result<T, E>) -> Result<T, WorkbookError> {
        match self.0.borrow_mut().error.take() {
            Some(error) => Err(error),
            None => given.map_err(WorkbookError::corrupt),
        }
    }
}

impl Scales<'_> {
    fn weigh(&mut self, wanted: &Range<u64>) -> Result<(), WorkbookError> {
        while let Some(at) = self
            .unweighed
            .iter()
            .position(|(range, _)| range.start < wanted.end && wanted.start < range.end)
        {
            let (_, index) = self.unweighed.swap_remove(at);
            // calamine cannot read it either, and reports it.
            let Ok(part) = self.zip.by_index(index) else {
                continue;
            };
            let size = part.size();
            if !self.is_reading {
                self.weight.add_part(part, size)?;
            } else if size > SMALL_PART_BYTES {
                // Cells weigh nothing, but none may be too long.
                walk(part, false, |_| Ok(()))?;
            }
        }
        Ok(())
    }
}

impl Read for Guarded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = self.bytes.position();
        let wanted = start..start.saturating_add(buffer.len() as u64);
        let mut scales = self.scales.borrow_mut();
        if let Err(error) = scales.weigh(&wanted) {
            scales.error = Some(error);
        }
        if scales.error.is_some() {
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
