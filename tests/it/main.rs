//! The real binary against the real embedded service over a real socket.
fn main() {}
