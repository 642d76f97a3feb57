//! Compressed answers that the client did not ask for; some proxies send them.

use std::io::{self, Read};

use flate2::Compression;
use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Packing {
    /// `Content-Encoding: gzip`
    Gzip,
    /// `Content-Encoding: deflate` in the zlib format, as the standard says.
    Deflate,
    /// `Content-Encoding: deflate` without the zlib format, as some servers send it.
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
