//! Compressed bodies (RFC 9110, 8.4). Some servers send them although the client never asks.
//!
//! Rule: pure. The output has the same bound as plain bodies, and so the time is bounded too: a
//! small compressed body can hold any amount of data.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::verdict::TransportError;

const UNKNOWN: TransportError = TransportError::Packed(
    "the answer is compressed in a way that is not known here (`Content-Encoding`)",
);
const DAMAGED: TransportError = TransportError::Packed("the answer is compressed, and damaged");

/// At most `most` bytes of a body, decompressed as the values of `Content-Encoding` say.
pub(super) fn unpacked<'a>(
    encodings: impl Iterator<Item = &'a str>,
    body: Bytes,
    most: usize,
) -> Result<Bytes, TransportError> {
    let encodings = encodings.flat_map(|value| value.split(','));
    let encodings: Vec<String> = encodings
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && name != "identity")
        .collect();
    // An empty body stays empty, whatever its encoding.
    if encodings.is_empty() || body.is_empty() {
        return Ok(body);
    }
    let [encoding] = &encodings[..] else {
        return Err(UNKNOWN);
    };
    let unpacked = match encoding.as_str() {
        "gzip" | "x-gzip" => read(MultiGzDecoder::new(&*body), most),
        // By the standard, `deflate` means the zlib format; many servers send raw deflate data.
        "deflate" => {
            read(ZlibDecoder::new(&*body), most).or_else(|| read(DeflateDecoder::new(&*body), most))
        }
        _ => return Err(UNKNOWN),
    };
    unpacked.map(Bytes::from).ok_or(DAMAGED)
}

fn read(unpacked: impl Read, most: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    unpacked.take(most as u64).read_to_end(&mut body).ok()?;
    Some(body)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::sandbox::Packing;

    const MOST: usize = 2 * 1024 * 1024;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        Packing::Gzip.pack(bytes).unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        Packing::Deflate.pack(bytes).unwrap()
    }

    fn raw(bytes: &[u8]) -> Vec<u8> {
        Packing::RawDeflate.pack(bytes).unwrap()
    }

    fn unpack(encodings: &[&str], body: Vec<u8>) -> Result<Bytes, TransportError> {
        unpacked(encodings.iter().copied(), body.into(), MOST)
    }

    const TEXT: &[u8] = br#"{"data":{"id":"1"}}"#;

    #[test]
    fn what_was_packed_is_unpacked_however_that_is_written() {
        for (encodings, body) in [
            (&["gzip"][..], gzip(TEXT)),
            (&["GZip"], gzip(TEXT)),
            (&["x-gzip"], gzip(TEXT)),
            (&["gzip"], [gzip(&TEXT[..5]), gzip(&TEXT[5..])].concat()),
            (&["deflate"], zlib(TEXT)),
            (&[" Deflate "], raw(TEXT)),
            (&["identity,,gzip"], gzip(TEXT)),
            (&["identity"], TEXT.to_vec()),
            (&[""], TEXT.to_vec()),
            (&[], TEXT.to_vec()),
        ] {
            let unpacked = unpack(encodings, body);
            assert_eq!(unpacked.as_deref(), Ok(TEXT), "{encodings:?}");
        }
        assert_eq!(unpack(&["gzip"], Vec::new()).as_deref(), Ok(&b""[..]));
    }

    #[test]
    fn what_cannot_be_unpacked_is_reported() {
        let cut = |body: Vec<u8>| body[..body.len() - 3].to_vec();
        for (encodings, body, lost) in [
            (&["br"][..], TEXT.to_vec(), UNKNOWN),
            (&["gzip, br"], TEXT.to_vec(), UNKNOWN),
            (&["gzip", "gzip"], gzip(&gzip(TEXT)), UNKNOWN),
            (&["gzip"], TEXT.to_vec(), DAMAGED),
            (&["gzip"], cut(gzip(TEXT)), DAMAGED),
            (&["gzip"], zlib(TEXT), DAMAGED),
            (&["deflate"], TEXT.to_vec(), DAMAGED),
            (&["deflate"], cut(zlib(TEXT)), DAMAGED),
            (&["deflate"], cut(raw(TEXT)), DAMAGED),
        ] {
            assert_eq!(unpack(encodings, body), Err(lost), "{encodings:?}");
        }
    }

    #[test]
    fn a_body_that_unpacks_to_too_much_is_cut_off() {
        let much = vec![b'x'; 10 * MOST];
        let bombs = [
            ("gzip", gzip(&much)),
            ("deflate", zlib(&much)),
            ("deflate", raw(&much)),
        ];
        for (encoding, bomb) in bombs {
            let body = unpack(&[encoding], bomb).unwrap();
            assert_eq!(body.len(), MOST, "{encoding}");
        }
    }

    proptest! {
        #[test]
        fn a_damaged_body_is_unpacked_correctly_or_not_at_all(
            text: Vec<u8>,
            changed in prop::collection::vec((any::<Index>(), any::<u8>()), 0..4),
            kept in 0..200_usize,
        ) {
            let whole = gzip(&text);
            let mut body = whole.clone();
            for (at, byte) in changed {
                body[at.index(whole.len())] = byte;
            }
            body.truncate(kept);
            let is_nothing = body.is_empty();
            match unpack(&["gzip"], body) {
                Ok(unpacked) => prop_assert!(unpacked == text || is_nothing),
                Err(lost) => prop_assert_eq!(lost, DAMAGED),
            }
            // Raw deflate data has no checksum, so only the length is tested.
            if let Ok(unpacked) = unpack(&["deflate"], text) {
                prop_assert!(unpacked.len() <= MOST);
            }
        }
    }
}
