//! Compressed lists, whole and damaged.

use std::io::Write;

use super::*;

const LIST: &[u8] = b"name,phone\nAnna,+49 30 1234567\nPeter,+49 30 7654321\n";

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// With a checksum, as the program `zstd` writes it.
fn zstded(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(bytes: &[u8]) -> io::Result<(Option<Compression>, Vec<u8>)> {
    let (compression, mut reader) = decompressed(Box::new(Cursor::new(bytes.to_vec())))?;
    let mut inside = Vec::new();
    reader.read_to_end(&mut inside)?;
    assert_eq!(reader.read(&mut [0])?, 0);
    Ok((compression, inside))
}

fn error_of(bytes: &[u8]) -> String {
    unpacked(bytes).unwrap_err().to_string()
}

#[test]
fn compression_is_recognized_by_the_first_bytes() {
    let (gz, zst) = (gzipped(LIST), zstded(LIST));
    let inside = || LIST.to_vec();
    assert_eq!(unpacked(&gz).unwrap(), (Some(Compression::Gzip), inside()));
    assert_eq!(unpacked(&zst).unwrap(), (Some(Compression::Zstd), inside()));
    assert_eq!(unpacked(LIST).unwrap(), (None, inside()));
    assert_eq!(unpacked(b"").unwrap(), (None, Vec::new()));
    let nothing = (Some(Compression::Gzip), Vec::new());
    assert_eq!(unpacked(&gzipped(b"")).unwrap(), nothing);
    assert_eq!(unpacked(&zstded(b"")).unwrap().1, b"");
}

#[test]
fn all_members_and_frames_are_read() {
    let twice = LIST.repeat(2);
    for pack in [gzipped, zstded] {
        let both = [pack(LIST), pack(b""), pack(LIST)].concat();
        assert_eq!(unpacked(&both).unwrap().1, twice);
    }
    let skippable = b"\x50\x2A\x4D\x18\x03\x00\x00\x00abc";
    let both = [&skippable[..], &zstded(LIST), skippable, &zstded(LIST)].concat();
    assert_eq!(unpacked(&both).unwrap().1, twice);
}

#[test]
fn a_large_list_is_unpacked_completely() {
    let list = LIST.repeat(20_000);
    for pack in [gzipped, zstded] {
        assert!(unpacked(&pack(&list)).unwrap().1 == list);
    }
}

#[test]
fn data_cut_anywhere_is_an_error_that_says_so() {
    for (pack, magic) in [(gzipped as fn(&[u8]) -> Vec<u8>, 2), (zstded, 4)] {
        let twice = [pack(LIST), pack(LIST)].concat();
        for cut in magic..twice.len() {
            if cut == twice.len() / 2 {
                assert_eq!(unpacked(&twice[..cut]).unwrap().1, LIST)
            } else {
                let error = unpacked(&twice[..cut]).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{cut}: {error}");
            }
        }
    }
}

#[test]
fn data_with_any_byte_changed_gives_an_error_or_the_list() {
    for pack in [gzipped, zstded] {
        let packed = pack(LIST);
        for at in 4..packed.len() {
            let mut changed = packed.clone();
            changed[at] ^= 0x55;
            // Some header bytes, such as the time of packing, change nothing here.
            if let Ok((_, inside)) = unpacked(&changed) {
                assert_eq!(inside, LIST, "{at}");
            }
        }
    }
}

#[test]
fn anything_after_the_compressed_data_is_an_error() {
    let gz = gzipped(LIST);
    for garbage in [&b"garbage"[..], b"\0\0x", b"\x1F", &[0; 512]] {
        error_of(&[&gz[..], garbage].concat());
    }
    error_of(&[&zstded(LIST)[..], b"garbage"].concat());
}

#[test]
fn zstd_data_that_needs_too_much_memory_is_refused_with_advice() {
    let pack = |window_log| {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(window_log).unwrap();
        encoder.write_all(LIST).unwrap();
        encoder.finish().unwrap()
    };
    assert_eq!(unpacked(&pack(25)).unwrap().1, LIST);
    let error = unpacked(&pack(26)).unwrap_err();
    let hint = crate::source::hint(&error).to_string();
    assert!(hint.starts_with("unpack it first"), "{hint}");
}

#[test]
fn an_error_of_the_file_itself_is_passed_on() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(5))
        }
    }
    for packed in [gzipped(LIST), zstded(LIST)] {
        let half = packed[..packed.len() / 2].to_vec();
        let (_, mut reader) = decompressed(Box::new(Cursor::new(half).chain(Broken))).unwrap();
        let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(5));
    }
}

proptest::proptest! {
    #[test]
    fn no_input_makes_it_panic(
        mut bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
        magic in 0..3_usize,
    ) {
        let magic = [&b""[..], b"\x1F\x8B\x08\0", b"\x28\xB5\x2F\xFD"][magic];
        bytes.splice(..0, magic.iter().copied());
        let _ = unpacked(&bytes);
    }
}
