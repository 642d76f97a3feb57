//! Certificates that are trusted besides the system's.

use std::path::{Path, PathBuf};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use thiserror::Error;

use crate::text::quoted_unless_secret;

#[derive(Debug, Clone, Default)]
pub struct Certificates(Vec<reqwest::Certificate>);

#[derive(Debug, Error)]
pub enum CertificatesError {
    #[error(
        "cannot read the certificate file {}: {error}\n\nhint: check the name, and that you may read the file",
        quoted(path)
    )]
    Unreadable {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error(
        "there is no certificate in {}\n\nhint: `--ca-file` wants PEM, the text that begins with `-----BEGIN CERTIFICATE-----`; `openssl x509 -inform der -in FILE` makes it of the binary form",
        quoted(path)
    )]
    Nothing { path: PathBuf },
    #[error(
        "certificate {number} in {} is damaged\n\nhint: fetch or export the file again, whole and as PEM",
        quoted(path)
    )]
    Damaged { path: PathBuf, number: usize },
}

fn quoted(path: &Path) -> String {
    quoted_unless_secret(&path.display().to_string())
}

impl Certificates {
    /// Reads a PEM file (RFC 7468) with one certificate or several. All of them are looked
    /// at here, so that none is refused when the first connection is made.
    pub fn from_file(path: &Path) -> Result<Certificates, CertificatesError> {
        let bytes = std::fs::read(path).map_err(|error| CertificatesError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        // Editors put a byte order mark before the first line, which is none then.
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        let mut certificates = Vec::new();
        for (index, certificate) in CertificateDer::pem_slice_iter(text).enumerate() {
            let certificate = certificate.ok().and_then(|der| {
                // Only to see whether it can be trusted.
                RootCertStore::empty().add(der.clone()).ok()?;
                reqwest::Certificate::from_der(&der).ok()
            });
            certificates.push(certificate.ok_or_else(|| CertificatesError::Damaged {
                path: path.to_owned(),
                number: index + 1,
            })?);
        }
        if certificates.is_empty() {
            Err(CertificatesError::Nothing {
                path: path.to_owned(),
            })
        } else {
            Ok(Certificates(certificates))
        }
    }

    pub(super) fn into_inner(self) -> Vec<reqwest::Certificate> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: impl AsRef<[u8]>) -> Result<usize, CertificatesError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        std::fs::write(&path, bytes).unwrap();
        Certificates::from_file(&path).map(|certificates| certificates.0.len())
    }

    fn certificate() -> rcgen::CertifiedKey<rcgen::KeyPair> {
        rcgen::generate_simple_self_signed(["leads.example".to_owned()]).unwrap()
    }

    #[test]
    fn a_file_may_hold_several_with_anything_around_them() {
        let (one, other) = (certificate(), certificate());
        let text = format!(
            "\u{FEFF}{}# Our own authority\r\n\r\n{}{}",
            one.cert.pem(),
            other.signing_key.serialize_pem(),
            other.cert.pem().replace('\n', "\r\n"),
        );
        assert_eq!(read(text).unwrap(), 2);
    }

    #[test]
    fn a_file_without_a_certificate_is_refused_by_name() {
        for bytes in [
            b"".as_slice(),
            b"hello",
            certificate().cert.der(),
            certificate().signing_key.serialize_pem().as_bytes(),
        ] {
            let error = read(bytes).unwrap_err();
            assert!(
                matches!(error, CertificatesError::Nothing { .. }),
                "{error}"
            );
            assert!(error.to_string().contains("ca.pem"), "{error}");
        }
    }

    #[test]
    fn a_damaged_certificate_is_refused_by_its_place() {
        let (one, other) = (certificate().cert.pem(), certificate().cert.pem());
        let begin = "-----BEGIN CERTIFICATE-----";
        let end = "-----END CERTIFICATE-----";
        for damaged in [
            other.replace("MII", "???"),
            other.replace("MII", "AAA"),
            other[..other.len() / 2].to_owned(),
            format!("{begin}\n{end}\n"),
        ] {
            let error = read(format!("{one}{damaged}")).unwrap_err();
            assert!(
                matches!(error, CertificatesError::Damaged { number: 2, .. }),
                "{damaged}: {error}"
            );
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Certificates::from_file(Path::new("no-such-file.pem")).unwrap_err();
        assert!(error.to_string().contains("`no-such-file.pem`"), "{error}");
    }
}
