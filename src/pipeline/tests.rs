//! The loop against a service in memory, under a stopped clock.
