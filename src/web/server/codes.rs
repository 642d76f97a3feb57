//! The codes by which a browser signs in. Each works once.

use std::io;

use super::secret::Secret;

/// If more codes are given out, the oldest is worth nothing.
const MAX: usize = 16;

#[derive(Default)]
pub struct Codes(Vec<Secret>);

impl Codes {
    pub fn give(&mut self) -> io::Result<Secret> {
        let code = Secret::new()?;
        if self.0.len() == MAX {
            self.0.remove(0);
        }
        self.0.push(code.clone());
        Ok(code)
    }

    /// Uses a code up; `false` if it is none, or not one any more.
    pub fn take(&mut self, given: &str) -> bool {
        let at = self.0.iter().position(|code| code.is(given));
        at.map(|at| self.0.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once() {
        let mut codes = Codes::default();
        let (one, other) = (codes.give().unwrap(), codes.give().unwrap());
        assert!(codes.take(other.as_str()));
        assert!(!codes.take(other.as_str()));
        assert!(!codes.take(""));
        assert!(codes.take(one.as_str()));
    }

    #[test]
    fn the_oldest_code_is_worth_nothing_when_many_are_given_out() {
        let mut codes = Codes::default();
        let (first, second) = (codes.give().unwrap(), codes.give().unwrap());
        for _ in 1..MAX {
            codes.give().unwrap();
        }
        assert!(!codes.take(first.as_str()));
        assert!(codes.take(second.as_str()));
    }
}
