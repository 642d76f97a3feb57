//! gzip, with all members of a file that has several.

use std::io::{self, BufRead, ErrorKind, Read};

use flate2::bufread::GzDecoder;

use super::{Compression, damaged, ends_early, failed_before};

/// Reads what is inside.
pub(super) struct GzipReader {
    member: GzDecoder<Box<dyn BufRead + Send>>,
    state: State,
}

enum State {
    /// In a member.
    Reading,
    /// Behind the last one.
    Ended,
    /// An error has been told.
    Failed,
}

impl GzipReader {
    /// `input` begins with the first member.
    pub(super) fn new(input: impl BufRead + Send + 'static) -> Self {
        let input: Box<dyn BufRead + Send> = Box::new(input);
        // It reads the header at once, where an error is kept without its kind.
        let mut member = GzDecoder::new(nothing());
        member.reset(input);
        GzipReader {
            member,
            state: State::Reading,
        }
    }

    /// Goes to the member that follows the one that has ended, if one does. Zeros to
    /// the end of the file are none: some media come in blocks and are filled up.
    fn next_member(&mut self) -> io::Result<State> {
        let mut has_zeros = false;
        loop {
            let bytes = self.member.get_mut().fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            match bytes.get(zeros) {
                None if bytes.is_empty() => return Ok(State::Ended),
                None => {
                    has_zeros = true;
                    self.member.get_mut().consume(zeros);
                }
                Some(_) if has_zeros || zeros > 0 => {
                    return Err(damaged(Compression::Gzip, "something follows its end"));
                }
                Some(_) => {
                    let input = self.member.reset(nothing());
                    self.member.reset(input);
                    return Ok(State::Reading);
                }
            }
        }
    }

    fn read_on(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let State::Reading = self.state {
            match self.member.read(buffer)? {
                0 => self.state = self.next_member()?,
                read => return Ok(read),
            }
        }
        Ok(0)
    }
}

/// What a decoder reads that has no input for the moment.
fn nothing() -> Box<dyn BufRead + Send> {
    Box::new(io::empty())
}

impl Read for GzipReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let State::Failed = self.state {
            return Err(failed_before(Compression::Gzip));
        }
        self.read_on(buffer).map_err(|error| {
            if error.kind() == ErrorKind::Interrupted {
                return error;
            }
            self.state = State::Failed;
            in_plain_words(error)
        })
    }
}

/// The kinds are those by which `flate2` tells of bad data; the others, and all that
/// have a number of the system, are errors of the input itself.
fn in_plain_words(error: io::Error) -> io::Error {
    match error.kind() {
        _ if error.raw_os_error().is_some() => error,
        ErrorKind::UnexpectedEof => ends_early(Compression::Gzip),
        ErrorKind::InvalidInput => damaged(Compression::Gzip, error),
        _ => error,
    }
}
