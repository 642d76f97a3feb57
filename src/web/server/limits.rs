//! How much one request may take, and how long.

use std::time::Duration;

/// Every bound of the server in one place, so that tests can shorten the times.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time. One that has not signed in is closed for the next; where all have,
    /// the next waits until one of them ends.
    pub connections: usize,
    /// For the head of a request, and between two requests of a connection.
    pub head_time: Duration,
    pub head_bytes: usize,
    /// Without a byte of a body.
    pub idle_time: Duration,
    /// For the whole of a form that has no file, and for the fields before a file.
    pub form_time: Duration,
    pub form_bytes: usize,
    pub form_fields: usize,
    /// The parts of a form with a file.
    pub parts: usize,
    /// One text field of a form with a file.
    pub field_bytes: usize,
    pub file_bytes: u64,
    /// For open connections when the program ends.
    pub end_time: Duration,
    /// For a browser to read the file that leads it to the page.
    pub redirect_time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 64,
            head_time: Duration::from_secs(10),
            head_bytes: 32 << 10,
            idle_time: Duration::from_secs(30),
            form_time: Duration::from_secs(60),
            form_bytes: 1 << 20,
            form_fields: 100_000,
            // Two for each column of a list.
            parts: 5_000,
            field_bytes: 64 << 10,
            file_bytes: 2 << 30,
            end_time: Duration::from_secs(3),
            redirect_time: Duration::from_secs(60),
        }
    }
}
