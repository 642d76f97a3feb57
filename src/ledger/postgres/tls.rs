//! TLS to the server: its certificate and its name are always verified.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::place::{ServerPlace, Trust};
use crate::ledger::LedgerError;
use crate::message::Value;
use crate::paths::reason;

/// What connects by TLS; `None` for an unencrypted connection.
pub(super) fn connector(place: &ServerPlace) -> Result<Option<MakeRustlsConnect>, LedgerError> {
    // Another part of the program may have set it, to the same.
    let _ = ring::default_provider().install_default();
    let config = match &place.tls {
        None => return Ok(None),
        Some(Trust::System) => ClientConfig::with_platform_verifier()
            .map_err(|error| unusable(place, error.to_string()))?,
        Some(Trust::File(file)) => {
            let bytes = std::fs::read(file).map_err(|error| {
                let why = reason(file, &error);
                unusable(place, text!("cannot read `sslrootcert`: {why}", why))
            })?;
            let mut roots = RootCertStore::empty();
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                let added = certificate.ok().and_then(|der| roots.add(der).ok());
                added
                    .ok_or_else(|| unusable(place, "a certificate in `sslrootcert` is damaged"))?;
            }
            if roots.is_empty() {
                return Err(unusable(place, "there is no certificate in `sslrootcert`"));
            }
            trusting(roots)
        }
    };
    Ok(Some(MakeRustlsConnect::new(config)))
}

/// A configuration that trusts these certificates and no others.
fn trusting(roots: RootCertStore) -> ClientConfig {
    ClientConfig::builder()
        .with_root_certificates(Arc::new(roots))
        .with_no_client_auth()
}

fn unusable(place: &ServerPlace, why: impl Into<Value>) -> LedgerError {
    let why: Value = why.into();
    LedgerError::of_setup(
        text!(
            "{cannot connect to {place}: {why}|{place} cannot be reached}",
            place,
            why
        ),
        "name a file of certificates in PEM form with `sslrootcert`, or leave it out for those that this computer trusts",
    )
}
