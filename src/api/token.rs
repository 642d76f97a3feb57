//! The access token, in a type that cannot print itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

use super::mask::Secrets;
use crate::message::{Template, Value};
use crate::paths::reason;
use crate::text::{hex, is_quoted};

/// How long the secret part of a token must be to be masked: a shorter one would occur in any text.
const MIN_MASKED: usize = 8;

#[derive(Debug, Clone)]
pub struct Token {
    secret: SecretString,
    /// The value of the header `Authorization`, marked as sensitive so that it is not printed.
    pub(super) header: HeaderValue,
    fingerprint: Arc<str>,
    /// The token, and its part after a `|` (the secret half of tokens like `1|abc`).
    secrets: Arc<Secrets>,
    /// The file that the token was read from.
    file: Option<PathBuf>,
    /// Those that this process has used before. They stay masked too.
    earlier: Vec<Token>,
}

impl Token {
    /// Reads a token file. A byte order mark, UTF-16, a final newline and a leading `Bearer ` are
    /// accepted. No error quotes what was read.
    pub fn from_file(path: &Path) -> Result<Token> {
        let bytes = std::fs::read(path).map_err(|error| {
            let why = reason(path, &error);
            message!("{cannot read the token file {file}|the stored access token can't be read}: {why}", "{check the name, and that you may read the file|paste the token again under {--token-file}}", file = path, why)
        })?;
        // A token is ASCII, so a zero byte means UTF-16, even without a byte order mark.
        let encoding = match bytes[..] {
            [_, 0, ..] => UTF_16LE,
            [0, _, ..] => UTF_16BE,
            _ => UTF_8,
        };
        let (text, _, _) = encoding.decode(&bytes);
        Ok(Token {
            file: Some(path.to_owned()),
            ..Token::from_text(&text, text!("the token file {file}", file = path))?
        })
    }

    /// What the ledger knows the token by, to tell another account's later: the first eight bytes of a
    /// SHA-256, in which the token cannot be found.
    pub fn fingerprint(&self) -> Arc<str> {
        Arc::clone(&self.fingerprint)
    }

    /// The regular file that the token came from, if it did. A pipe has nothing more to give, and
    /// reading it would block.
    pub(super) fn regular_file(&self) -> Option<&Path> {
        self.file.as_deref().filter(|file| file.is_file())
    }

    /// The token that is in the file now; `None` if the token did not come from a regular file, or
    /// if the file no longer holds a token.
    pub(super) fn read_again(&self) -> Option<Token> {
        Token::from_file(self.regular_file()?).ok()
    }

    /// Reads a token from text. Messages call the source `from`.
    pub fn from_text(text: &str, from: impl Into<Value>) -> Result<Token> {
        let from = from.into();
        let refused = |why: Template| {
            message!(
                "{{from}|the access token} {why}",
                "{it must hold the access token and nothing else|paste the token again, and nothing else}",
                from = from.clone(),
                why
            )
        };
        let text = text.trim_start_matches('\u{FEFF}').trim();
        let (scheme, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let has_scheme = scheme.eq_ignore_ascii_case("Bearer");
        let token = if has_scheme { rest.trim() } else { text };
        ensure!(!token.is_empty(), refused(template!("is empty")));
        let has_marks = is_quoted(text) || is_quoted(token);
        ensure!(!has_marks, refused(template!("is in quotation marks")));
        // Nothing else can be in an HTTP header.
        if let Some(c) = token.chars().find(|c| !c.is_ascii_graphic()) {
            bail!(refused(match c {
                '\n' | '\r' => template!("has more than one line, and a token is one line"),
                c if c.is_whitespace() => template!("has a space in it, and a token has none"),
                _ => template!("has characters in it that a token cannot have"),
            }));
        }
        let mut header = HeaderValue::try_from(format!("Bearer {token}"))?;
        header.set_sensitive(true);
        let digest = Sha256::new()
            .chain_update("leadload token ")
            .chain_update(token);
        let digest: [u8; 32] = digest.finalize().into();
        let half = token.split_once('|').map(|(_, half)| half);
        let half = half.filter(|half| half.len() >= MIN_MASKED);
        Ok(Token {
            fingerprint: hex(&digest[..8]).into(),
            secrets: Arc::new(Secrets::new([token].into_iter().chain(half))),
            secret: SecretString::from(token),
            header,
            file: None,
            earlier: Vec::new(),
        })
    }

    /// The token itself. The sandbox needs it to compare.
    pub(crate) fn expose(&self) -> &str {
        self.secret.expose_secret()
    }

    /// The token, after this process has used these.
    pub fn after(self, earlier: &[Token]) -> Token {
        let earlier = earlier.to_vec();
        Token { earlier, ..self }
    }

    /// The text with the token replaced, and everything that tells much of it (see `mask`).
    pub fn masked(&self, text: &str) -> String {
        let earlier = self.earlier.iter();
        let text = earlier.fold(text.to_owned(), |text, token| token.masked(&text));
        self.secrets.masked(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, bytes).unwrap();
        Token::from_file(&path).map(|token| token.expose().to_owned())
    }

    #[test]
    fn tokens_that_were_used_before_stay_masked() {
        let token = |text| Token::from_text(text, "it").unwrap();
        let earlier = [token("1|first-secret"), token("2|second-secret")];
        let token = token("3|third-secret").after(&earlier);
        for said in ["first-secret", "2|second-secret", "third-secret"] {
            let masked = token.masked(&format!("no {said}!"));
            assert!(!masked.contains("secret"), "{masked}");
        }
    }

    #[test]
    fn what_editors_and_people_add_to_a_token_is_removed() {
        let utf16 = |text: &str| {
            text.encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<_>>()
        };
        for bytes in [
            b"1|abcdef".to_vec(),
            b"1|abcdef\r\n".to_vec(),
            b"\xEF\xBB\xBF1|abcdef\n".to_vec(),
            b"Bearer 1|abcdef".to_vec(),
            b"\xEF\xBB\xBFbearer  1|abcdef\n\n".to_vec(),
            [b"\xFF\xFE".to_vec(), utf16("Bearer 1|abcdef\r\n")].concat(),
            utf16("1|abcdef"),
        ] {
            assert_eq!(read(&bytes).unwrap(), "1|abcdef");
        }
    }

    #[test]
    fn an_empty_or_torn_token_is_refused_without_being_quoted() {
        for empty in [b" \n".as_slice(), b"Bearer \n"] {
            let error = read(empty).unwrap_err().to_string();
            assert!(error.contains("is empty"), "{error}");
        }
        for (bytes, why) in [
            (b"secret-1\nsecret-2".as_slice(), "one line"),
            (b"secret\xFF\xFF", "cannot have"),
            (b"sec ret", "a space"),
            (b"\"secret\"\n", "quotation marks"),
            (b"'Bearer secret'", "quotation marks"),
            (b"Bearer `secret`", "quotation marks"),
            ("“secret”".as_bytes(), "quotation marks"),
        ] {
            let error = read(bytes).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert!(!format!("{error} {error:?}").contains("sec"), "{error:?}");
        }
    }

    #[test]
    fn a_token_that_is_given_for_a_file_is_not_quoted() {
        for token in [
            "1|abcdefgh",
            "abcdefghijklmnopqrstuvwxyz",
            "Bearer abcdefgh",
        ] {
            let error = Token::from_file(Path::new(token)).unwrap_err();
            assert!(!error.to_string().contains("abcdefgh"), "{error}");
        }
        let error = Token::from_file(Path::new("no-such-file.txt")).unwrap_err();
        assert!(error.to_string().contains("`no-such-file.txt`"), "{error}");
    }

    #[test]
    fn neither_debug_nor_the_header_shows_the_token() {
        let token = Token::from_text("1|abcdefgh", "test").unwrap();
        let shown = format!("{token:?} {:?}", token.header);
        assert!(!shown.contains("abcdefgh"), "{shown}");
    }

    #[test]
    fn text_that_echoes_the_token_or_its_secret_half_is_masked() {
        let token = Token::from_text("1|abcdefgh", "test").unwrap();
        assert_eq!(
            token.masked("bad 1|abcdefgh, 1%7Cabcdefgh"),
            "bad [token], [token]"
        );
    }
}
