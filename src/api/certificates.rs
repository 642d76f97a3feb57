//! Certificates that are trusted in addition to the system's.

use std::path::Path;

use anyhow::{Result, ensure};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::paths::reason;

#[derive(Debug, Clone, Default)]
pub struct Certificates(pub(super) Vec<reqwest::Certificate>);

/// What to do on the page, which does not set certificates.
impl Certificates {
    /// Reads a PEM file (RFC 7468) with one or more certificates. All of them are checked here, so
    /// a bad one is reported now and not when the first connection is made.
    pub fn from_file(path: &Path) -> Result<Certificates> {
        let bytes = std::fs::read(path).map_err(|error| {
            let why = reason(path, &error);
            message!(
                "cannot read the certificate file {file}: {why}",
                "{check the name, and that you may read the file|{ask_setup}}",
                file = path,
                why
            )
        })?;
        // Editors put a byte order mark at the beginning, and the first line is
        // not recognized then.
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        let mut certificates = Vec::new();
        for (index, certificate) in CertificateDer::pem_slice_iter(text).enumerate() {
            let certificate = certificate.ok().and_then(|der| {
                // Only to check whether it can be trusted.
                RootCertStore::empty().add(der.clone()).ok()?;
                reqwest::Certificate::from_der(&der).ok()
            });
            certificates.push(certificate.ok_or_else(|| {
                message!(
                    "certificate {number} in {file} is damaged",
                    "{fetch or export the file again, whole and as PEM|{ask_setup}}",
                    number = index + 1,
                    file = path
                )
            })?);
        }
        ensure!(
            !certificates.is_empty(),
            message!(
                "there is no certificate in {file}",
                "{`--ca-file` needs PEM, text that begins with `-----BEGIN CERTIFICATE-----`; `openssl x509 -inform der -in FILE` converts a DER file to it|{ask_setup}}",
                file = path
            )
        );
        Ok(Certificates(certificates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: impl AsRef<[u8]>) -> Result<usize> {
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
            let error = error.to_string();
            assert!(error.contains("no certificate in"), "{error}");
            assert!(error.contains("ca.pem"), "{error}");
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
            let error = read(format!("{one}{damaged}")).unwrap_err().to_string();
            assert!(error.starts_with("certificate 2 in"), "{damaged}: {error}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Certificates::from_file(Path::new("no-such-file.pem")).unwrap_err();
        assert!(error.to_string().contains("`no-such-file.pem`"), "{error}");
    }
}
