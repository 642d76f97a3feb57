//! The program: everything is in the library, so that tests and benchmarks reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    leadload::core_file::forbid();
    leadload::commands::run(std::env::args_os()).into()
}
