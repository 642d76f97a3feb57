//! The number of rows by status.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Status;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; Status::ALL.len()]);

impl Counts {
    pub fn all(&self) -> impl Iterator<Item = (Status, u64)> {
        Status::ALL.into_iter().zip(self.0)
    }

    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    pub fn problems(&self) -> u64 {
        let problems = self.all().filter(|(status, _)| status.is_problem());
        problems.map(|(_, rows)| rows).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    pub fn of(&self, status: Status) -> u64 {
        self.0[status as usize]
    }

    pub fn add(&mut self, status: Status) {
        self.0[status as usize] += 1;
    }

    /// A row that was counted under one status is counted under another one. It is also found where
    /// a later start of its run has counted it, if another run has settled the number meanwhile.
    pub fn change(&mut self, from: Status, to: Status) {
        let counted_as = [from, Status::AlreadyImported];
        if let Some(status) = counted_as.into_iter().find(|status| self.of(*status) > 0) {
            self.0[status as usize] -= 1;
        }
        self.add(to);
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.all())
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Counts, D::Error> {
        let mut counts = Counts::default();
        for (status, rows) in BTreeMap::<Status, u64>::deserialize(deserializer)? {
            counts.0[status as usize] = rows;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_changes_is_counted_once_whatever_a_later_start_has_counted_it_as() {
        for counted_as in [Status::Uncertain, Status::AlreadyImported] {
            let mut counts = Counts::default();
            counts.add(counted_as);
            counts.change(Status::Uncertain, Status::Duplicate);
            assert_eq!((counts.total(), counts.of(Status::Duplicate)), (1, 1));
        }
    }

    #[test]
    fn counts_are_read_as_they_are_written() {
        let mut counts = Counts::default();
        counts.add(Status::Created);
        counts.add(Status::Created);
        counts.add(Status::Invalid);
        let json = serde_json::to_string(&counts).unwrap();
        assert_eq!(serde_json::from_str::<Counts>(&json).unwrap(), counts);
        assert_eq!(
            serde_json::from_str::<Counts>("{}").unwrap(),
            Counts::default()
        );
        assert!(serde_json::from_str::<Counts>(r#"{"done":1}"#).is_err());
    }
}
