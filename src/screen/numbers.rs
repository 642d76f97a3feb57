//! Numbers, each with the place where it occurred first, in little memory.
//!
//! A file of tens of millions of numbers must not fill the machine's memory, so each number takes
//! at most 16 bytes: 8 for its key and 4 for its place, in open-addressed tables that are at least
//! three quarters full. There are many small tables and not one, so growing a table never needs a
//! second copy of everything.

/// A map from keys, which are never 0, to places.
#[derive(Debug)]
pub struct Numbers {
    tables: Box<[Table; TABLES]>,
}

const TABLES: usize = 64;

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers {
            tables: Box::new(std::array::from_fn(|_| Table::default())),
        }
    }
}

impl Numbers {
    /// Reads what [`record`](Self::record) will need for the keys, and ignores it. In tables
    /// larger than the processor's caches each look-up waits for memory; many independent
    /// reads wait together.
    pub fn warm(&self, keys: impl Iterator<Item = u64>) {
        let read = keys.fold(0, |read, key| {
            let hash = spread(key);
            read ^ self.tables[(hash % TABLES as u64) as usize].peek(hash)
        });
        std::hint::black_box(read);
    }

    pub fn record(&mut self, key: u64, place: u32) -> Option<u32> {
        let hash = spread(key);
        self.tables[(hash % TABLES as u64) as usize].record(hash, key, place)
    }

    pub fn get(&self, key: u64) -> Option<u32> {
        let hash = spread(key);
        self.tables[(hash % TABLES as u64) as usize].get(hash, key)
    }

    /// All keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = u64> {
        let keys = self.tables.iter().flat_map(|table| &table.keys);
        keys.copied().filter(|key| *key != 0)
    }

    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.taken).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An open-addressed table with linear probing. The key 0, which no number has, marks a free slot.
#[derive(Debug, Default)]
struct Table {
    keys: Vec<u64>,
    places: Vec<u32>,
    taken: usize,
}

impl Table {
    fn record(&mut self, hash: u64, key: u64, at: u32) -> Option<u32> {
        // At most nine tenths full: above that, probing takes too long.
        if self.taken * 10 >= self.keys.len() * 9 {
            self.grow();
        }
        let place = self.place(hash, key);
        if self.keys[place] == key {
            return Some(self.places[place]);
        }
        self.keys[place] = key;
        self.places[place] = at;
        self.taken += 1;
        None
    }

    /// What is where the search for a key with this hash begins.
    fn peek(&self, hash: u64) -> u64 {
        match self.keys.get(self.home(hash)) {
            Some(key) => key ^ u64::from(self.places[self.home(hash)]),
            None => 0,
        }
    }

    fn get(&self, hash: u64, key: u64) -> Option<u32> {
        if self.keys.is_empty() {
            return None;
        }
        let place = self.place(hash, key);
        (self.keys[place] == key).then(|| self.places[place])
    }

    /// The slot of `key`, or else a free slot for it. There is always one,
    /// because the table is never full.
    fn place(&self, hash: u64, key: u64) -> usize {
        let len = self.keys.len();
        let mut place = self.home(hash);
        while self.keys[place] != 0 && self.keys[place] != key {
            place += 1;
            if place == len {
                place = 0;
            }
        }
        place
    }

    /// The slot where the search for a key begins. The upper bits of its hash choose the slot; the
    /// lower bits have chosen the table.
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.keys.len() as u128) >> 64) as usize
    }

    /// Grows by a fifth, so the table is three quarters full afterwards.
    fn grow(&mut self) {
        let len = (self.keys.len() * 6 / 5).max(16);
        let keys = std::mem::replace(&mut self.keys, vec![0; len]);
        let places = std::mem::replace(&mut self.places, vec![0; len]);
        for (key, first) in keys.into_iter().zip(places) {
            if key != 0 {
                let place = self.place(spread(key), key);
                self.keys[place] = key;
                self.places[place] = first;
            }
        }
    }
}

/// Spreads consecutive numbers over all 64 bits (the finaliser of MurmurHash3).
fn spread(mut key: u64) -> u64 {
    key ^= key >> 33;
    key = key.wrapping_mul(0xff51_afd7_ed55_8ccd);
    key ^= key >> 33;
    key = key.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ (key >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_costs_at_most_sixteen_bytes() {
        let mut numbers = Numbers::default();
        let count = 300_000;
        for i in 0..count {
            numbers.record(447_900_000_000 + u64::from(i), i);
        }
        let bytes: usize = numbers
            .tables
            .iter()
            .map(|table| table.keys.capacity() * 8 + table.places.capacity() * 4)
            .sum();
        assert!(bytes <= 16 * count as usize, "{bytes} bytes for {count}");
    }

    #[test]
    fn a_number_is_found_where_it_came_first() {
        let mut numbers = Numbers::default();
        assert_eq!(numbers.get(7), None);
        assert_eq!(numbers.record(7, 1), None);
        assert_eq!(numbers.record(7, 2), Some(1));
        assert_eq!((numbers.get(7), numbers.get(8)), (Some(1), None));
        assert_eq!(numbers.len(), 1);
    }
}
