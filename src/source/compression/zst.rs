//! zstd, with all frames of a file that has several.

use std::io::{self, BufRead, ErrorKind, Read};

use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::{Compression, damaged, ends_early, failed_before};

/// The binary logarithm of [`WINDOW_BYTES`].
const WINDOW_LOG: u32 = 25;

/// The most that the decoder may remember of what it has unpacked, in bytes: half of
/// the memory that the whole program allows itself. `zstd` asks for 8 MiB at most up
/// to its level 19, for up to 128 MiB with `--ultra` and up to 2 GiB with `--long`.
pub(super) const WINDOW_BYTES: usize = 1 << WINDOW_LOG;

/// Reads what is inside.
pub(super) struct ZstdReader<R> {
    input: R,
    decoder: Decoder<'static>,
    /// Whether the input may end here.
    is_between_frames: bool,
    has_failed: bool,
}

impl<R: BufRead> ZstdReader<R> {
    /// `input` begins with the first frame.
    pub(super) fn new(input: R) -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
        Ok(ZstdReader {
            input,
            decoder,
            is_between_frames: true,
            has_failed: false,
        })
    }

    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let bytes = self.input.fill_buf()?;
            let has_ended = bytes.is_empty();
            if has_ended && self.is_between_frames {
                return Ok(0);
            }
            let step = self
                .decoder
                .run_on_buffers(bytes, buffer)
                .map_err(in_plain_words)?;
            self.input.consume(step.bytes_read);
            // At the end of a frame the decoder makes itself ready for the next.
            self.is_between_frames = step.remaining == 0;
            if step.bytes_written > 0 {
                return Ok(step.bytes_written);
            }
            if has_ended && !self.is_between_frames {
                return Err(ends_early(Compression::Zstd));
            }
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.has_failed {
            return Err(failed_before(Compression::Zstd));
        }
        let read = self.read_on(buffer);
        self.has_failed = matches!(&read, Err(error) if error.kind() != ErrorKind::Interrupted);
        read
    }
}

/// `zstd` tells what it is by text only.
fn in_plain_words(error: io::Error) -> io::Error {
    if error.to_string().contains("too much memory") {
        return io::Error::new(
            ErrorKind::InvalidData,
            format!(
                "the zstd data needs more than {} MiB of memory to unpack: unpack it first, or pack it again without `--long` and `--ultra`",
                WINDOW_BYTES >> 20
            ),
        );
    }
    damaged(Compression::Zstd, error)
}
