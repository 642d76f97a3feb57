//! Windows opens a console for a program that is started by a double click, and closes it as
//! soon as the program ends. Someone who starts it this way wants the page, and time to read
//! an error.

/// Whether no other process is in the console, as after a double click: if a shell started
/// the program, the shell is there too.
///
/// Source: <https://learn.microsoft.com/windows/console/getconsoleprocesslist>
#[cfg(windows)]
#[expect(
    unsafe_code,
    reason = "neither the standard library nor a crate in use has a safe call for it"
)]
pub fn has_own_console() -> bool {
    use windows_sys::Win32::System::Console::GetConsoleProcessList;
    let mut processes = [0; 2];
    // SAFETY: the array has room for as many entries as its length says. The result is larger
    // than that where there are more processes, and 0 without a console.
    unsafe { GetConsoleProcessList(processes.as_mut_ptr(), 2) == 1 }
}

#[cfg(not(windows))]
pub fn has_own_console() -> bool {
    false
}
