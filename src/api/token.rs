//! The access token, in a type that cannot print itself.

use std::path::{Path, PathBuf};

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

use super::mask::masked;
use crate::text::quoted_unless_secret;

/// The fewest characters of a token's part that are masked: shorter ones would
/// occur in any text.
const MIN_MASKED: usize = 8;

#[derive(Debug, Clone)]
pub struct Token {
    secret: SecretString,
    /// The value of the header `Authorization`, marked so that it is not printed.
    header: HeaderValue,
    /// The file that it was read from.
    file: Option<PathBuf>,
}

/// Why there is no usable token. Never quotes what was read.
#[derive(Debug, Error)]
pub enum TokenError {
    #[error("cannot read the token file {}: {error}\n\nhint: check the name, and that you may read the file", quoted_unless_secret(&path.display().to_string()))]
    Unreadable {
        path: PathBuf,
        error: std::io::Error,
    },
    #[error("{from} is empty\n\nhint: it must hold the access token and nothing else")]
    Empty { from: String },
    /// More than one line, or characters that no HTTP header can carry.
    #[error(
        "{from} does not hold a token: a token is one line of plain characters\n\nhint: it must hold the access token and nothing else"
    )]
    NotOneLine { from: String },
}

impl Token {
    /// Reads a token file. A byte order mark, UTF-16, a final newline or a
    /// leading `Bearer ` do no harm.
    pub fn from_file(path: &Path) -> Result<Token, TokenError> {
        let bytes = std::fs::read(path).map_err(|error| TokenError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let from = format!(
            "the token file {}",
            quoted_unless_secret(&path.display().to_string())
        );
        let Some(text) = decoded(&bytes) else {
            return Err(TokenError::NotOneLine { from });
        };
        Ok(Token {
            file: Some(path.to_owned()),
            ..Token::from_text(&text, &from)?
        })
    }

    /// The token that its file holds now; none where it came from no regular file, or the
    /// file holds no token any more.
    pub(super) fn read_again(&self) -> Option<Token> {
        // A pipe has nothing more to say, and would be waited for.
        let file = self.file.as_deref().filter(|file| file.is_file())?;
        Token::from_file(file).ok()
    }

    /// Reads a token from text; `from` says in messages where it comes from.
    pub fn from_text(text: &str, from: &str) -> Result<Token, TokenError> {
        let text = text.trim_start_matches('\u{FEFF}').trim();
        let token = match text.split_at_checked("Bearer".len()) {
            Some((scheme, rest))
                if scheme.eq_ignore_ascii_case("Bearer")
                    && (rest.is_empty() || rest.starts_with(char::is_whitespace)) =>
            {
                rest.trim()
            }
            _ => text,
        };
        if token.is_empty() {
            return Err(TokenError::Empty { from: from.into() });
        }
        let header = Some(token).filter(|token| token.bytes().all(|b| b.is_ascii_graphic()));
        let header = header.map(|token| HeaderValue::try_from(format!("Bearer {token}")));
        let Some(Ok(mut header)) = header else {
            return Err(TokenError::NotOneLine { from: from.into() });
        };
        header.set_sensitive(true);
        Ok(Token {
            secret: SecretString::from(token),
            header,
            file: None,
        })
    }

    /// The token itself, for the sandbox, which compares it.
    pub(crate) fn expose(&self) -> &str {
        self.secret.expose_secret()
    }

    pub(super) fn authorization(&self) -> HeaderValue {
        self.header.clone()
    }

    /// `text` with the token, and with its part behind a `|` (the secret half of
    /// tokens like `1|abc`), replaced.
    pub fn masked(&self, text: &str) -> String {
        let token = self.expose();
        let text = masked(text, token);
        match token.split_once('|') {
            Some((_, secret)) if secret.len() >= MIN_MASKED => masked(&text, secret),
            _ => text,
        }
    }
}

/// The text of a token file that may be UTF-8 or UTF-16 (as some editors save it).
fn decoded(bytes: &[u8]) -> Option<String> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        String::from_utf16(&units.collect::<Vec<_>>()).ok()
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // A token is ASCII, so that a zero byte gives UTF-16 away without a mark.
        [_, 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, _, ..] => utf16(bytes, u16::from_be_bytes),
        _ => String::from_utf8(bytes.to_vec()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<String, TokenError> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, bytes).unwrap();
        Token::from_file(&path).map(|token| token.expose().to_owned())
    }

    #[test]
    fn what_editors_and_people_add_to_a_token_does_no_harm() {
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
        assert!(matches!(read(b" \n"), Err(TokenError::Empty { .. })));
        assert!(matches!(read(b"Bearer \n"), Err(TokenError::Empty { .. })));
        for bytes in [
            b"secret-1\nsecret-2".as_slice(),
            b"secret\xFF\xFF",
            b"sec ret",
        ] {
            let error = read(bytes).unwrap_err();
            assert!(matches!(error, TokenError::NotOneLine { .. }));
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
        let shown = format!("{token:?} {:?}", token.authorization());
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
