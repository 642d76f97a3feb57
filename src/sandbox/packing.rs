//! Answers that are packed though nobody asked for it, as some proxies do.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use serde::Deserialize;

/// How answers are packed.
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
    /// The value of `Content-Encoding`.
    pub(super) fn encoding(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Deflate | Packing::RawDeflate => "deflate",
        }
    }

    /// The body, packed.
    pub(crate) fn pack(self, body: &[u8]) -> io::Result<Vec<u8>> {
        let (packed, level) = (Vec::new(), Compression::default());
        match self {
            Packing::Gzip => {
                let mut packer = GzEncoder::new(packed, level);
                packer.write_all(body)?;
                packer.finish()
            }
            Packing::Deflate => {
                let mut packer = ZlibEncoder::new(packed, level);
                packer.write_all(body)?;
                packer.finish()
            }
            Packing::RawDeflate => {
                let mut packer = DeflateEncoder::new(packed, level);
                packer.write_all(body)?;
                packer.finish()
            }
        }
    }
}
