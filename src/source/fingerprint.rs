//! The digest that identifies a file, whatever its name is.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use sha2::{Digest, Sha256};

use crate::text::hex;

/// The read buffer is large because reading takes most of the time.
const BUFFER_BYTES: usize = 1 << 20;

/// A digest and the number of the bytes of a file as it is on disk: a compressed file
/// is not unpacked. It is displayed as the digest in lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint {
    pub sha256: [u8; 32],
    pub bytes: u64,
}

impl Fingerprint {
    pub fn of(bytes: impl Read) -> io::Result<Fingerprint> {
        let mut bytes = BufReader::with_capacity(BUFFER_BYTES, bytes);
        let mut digest = Sha256::new();
        let mut total = 0;
        loop {
            let read = bytes.fill_buf()?;
            if read.is_empty() {
                break;
            }
            digest.update(read);
            let len = read.len();
            total += len as u64;
            bytes.consume(len);
        }
        Ok(Fingerprint {
            sha256: digest.finalize().into(),
            bytes: total,
        })
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.sha256))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use proptest::prelude::*;

    use super::*;
    use crate::source::{Input, SourceError};

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.
        let abc = Fingerprint::of(&b"abc"[..]).unwrap();
        assert_eq!(abc.bytes, 3);
        assert_eq!(
            abc.to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let nothing = Fingerprint::of(io::empty()).unwrap();
        assert_eq!(nothing.bytes, 0);
        assert_eq!(
            nothing.to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    /// Returns a few bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = self.1.min(buffer.len());
            self.0.read(&mut buffer[..len])
        }
    }

    proptest! {
        #[test]
        fn the_fingerprint_does_not_depend_on_how_the_bytes_are_split(
            bytes: Vec<u8>,
            piece in 1usize..20,
        ) {
            let whole = Fingerprint::of(&bytes[..]).unwrap();
            prop_assert_eq!(whole.bytes, bytes.len() as u64);
            prop_assert_eq!(Fingerprint::of(Dripping(&bytes, piece)).unwrap(), whole);
        }

        #[test]
        fn other_bytes_have_another_fingerprint(a: Vec<u8>, b: Vec<u8>) {
            let same = Fingerprint::of(&a[..]).unwrap() == Fingerprint::of(&b[..]).unwrap();
            prop_assert_eq!(same, a == b);
        }
    }

    #[test]
    fn an_input_is_identified_by_its_bytes_not_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a.csv", "b.csv"].map(|name| {
            let path = folder.path().join(name);
            fs::write(&path, "phone\n+447911000001\n").unwrap();
            Input::open(&path).unwrap().fingerprint().unwrap()
        });
        assert_eq!(a, b);
        assert_eq!(a.bytes, 20);
    }

    #[test]
    fn an_input_that_changes_has_no_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "phone\n").unwrap();
        let input = Input::open(&path).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let error = input.fingerprint().unwrap_err();
        assert_eq!(error.message, SourceError::changed(input.name()).message);
    }

    #[cfg(unix)]
    #[test]
    fn what_looks_changed_is_compared_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let write = |text: &str| {
            // No file system records times much more finely.
            std::thread::sleep(std::time::Duration::from_millis(20));
            fs::write(&path, text).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        };
        write("phone\n1\n");
        let input = Input::open(&path).unwrap();
        input.fingerprint().unwrap();
        write("phone\n1\n");
        assert!(input.check_unchanged().is_ok());
        write("phone\n2\n");
        assert!(input.check_unchanged().is_err());
        assert!(input.fingerprint().is_err());
        write("phone\n1\n");
        assert!(input.check_unchanged().is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn an_input_that_was_changed_secretly_before_its_fingerprint_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        fs::write(&path, "phone\n1\n").unwrap();
        let input = Input::open(&path).unwrap();
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, "phone\n2\n").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(modified).unwrap();
        // Reading goes on: nothing is sent before the fingerprint is there.
        assert!(input.check_unchanged().is_ok());
        assert!(input.fingerprint().is_err());
    }
}
