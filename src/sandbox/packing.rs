//! Compressed answers that the client did not ask for, as some proxies send them.

use std::io::{self, Read};

use flate2::Compression;
use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// `Content-Encoding: gzip`
    Gzip,
    /// `Content-Encoding: deflate`, in zlib's form, as the standard has it.
    Deflate,
    /// The same without zlib's form, as some servers have it.
    RawDeflate,
}

impl Packing {
    pub(super) fn encoding(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Deflate | Packing::RawDeflate => "deflate",
        }
    }

    pub(crate) fn pack(self, body: &[u8]) -> io::Result<Vec<u8>> {
        let mut packed = Vec::new();
        let level = Compression::default();
        match self {
            Packing::Gzip => GzEncoder::new(body, level).read_to_end(&mut packed)?,
            Packing::Deflate => ZlibEncoder::new(body, level).read_to_end(&mut packed)?,
            Packing::RawDeflate => DeflateEncoder::new(body, level).read_to_end(&mut packed)?,
        };
        Ok(packed)
    }
}
