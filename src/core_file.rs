//! No core file: a crash must not leave the token and people's numbers on the disk.

/// Keeps this process from leaving one. To be called when the program begins.
///
/// The limit is lowered for good, so that no other program of the user raises it again. Systems that
/// pass a core to a program (`systemd-coredump`, Apport) ask no limit, so on Linux the process is also
/// marked as one that is not dumped. Then other programs of this user cannot read its memory and its
/// environment either.
#[cfg(unix)]
pub fn forbid() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Lowering a limit is always permitted.
    let _ = setrlimit(Resource::Core, none);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Windows keeps the memory of a program that has crashed only where an administrator has asked for it
/// (`LocalDumps`); no program can forbid that for itself.
#[cfg(not(unix))]
pub fn forbid() {}
