//! The codes by which a browser signs in. Each works once.

use std::io;

use super::secret::Secret;

/// If more codes are given out, the oldest is worth nothing.
const MAX: usize = 16;

/// Where a code is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the link that is printed.
    Link,
    /// In the file that leads the browser to the page.
    File,
}

#[derive(Default)]
pub struct Codes(Vec<(Secret, Place)>);

impl Codes {
    pub fn give(&mut self, place: Place) -> io::Result<Secret> {
        let code = Secret::new()?;
        if self.0.len() == MAX {
            self.0.remove(0);
        }
        self.0.push((code.clone(), place));
        Ok(code)
    }

    /// Uses a code up; `None` if it is none, or not one any more.
    pub fn take(&mut self, given: &str) -> Option<Place> {
        let at = self.0.iter().position(|(code, _)| code.is(given))?;
        Some(self.0.remove(at).1)
    }

    /// Makes all codes that are written there worthless.
    pub fn forget(&mut self, place: Place) {
        self.0.retain(|(_, written)| *written != place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once() {
        let mut codes = Codes::default();
        let link = codes.give(Place::Link).unwrap();
        let file = codes.give(Place::File).unwrap();
        assert_eq!(codes.take(file.as_str()), Some(Place::File));
        assert_eq!(codes.take(file.as_str()), None);
        assert_eq!(codes.take(""), None);
        assert_eq!(codes.take(link.as_str()), Some(Place::Link));
    }

    #[test]
    fn the_oldest_code_is_worth_nothing_when_many_are_given_out() {
        let mut codes = Codes::default();
        let first = codes.give(Place::Link).unwrap();
        let second = codes.give(Place::Link).unwrap();
        for _ in 1..MAX {
            codes.give(Place::Link).unwrap();
        }
        assert_eq!(codes.take(first.as_str()), None);
        assert_eq!(codes.take(second.as_str()), Some(Place::Link));
    }
}
