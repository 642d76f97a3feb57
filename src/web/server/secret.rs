//! Random values that nobody can guess.

use std::io;

use ring::rand::{SecureRandom, SystemRandom};
use subtle::ConstantTimeEq;

/// 128 bits from the system's secure source, as hexadecimal digits. It has no `Debug`, so it
/// gets into no log.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new() -> io::Result<Secret> {
        let mut bytes = [0; 16];
        let filled = SystemRandom::new().fill(&mut bytes);
        filled.map_err(|_| io::Error::other("the system gives no random numbers"))?;
        Ok(Secret(format!("{:032x}", u128::from_be_bytes(bytes))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares in a time that does not tell how much of it was right.
    pub fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_secret_is_another_one_of_the_same_length() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert_eq!(one.as_str().len(), 32);
        assert!(one.is(one.as_str()));
        assert!(!one.is(other.as_str()));
        assert!(!one.is(&one.as_str()[..31]));
        assert!(!one.is(""));
    }
}
