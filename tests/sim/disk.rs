//! A disk that may lie: what SQLite writes is on it for good only once SQLite has asked for that.
//!
//! Files are real, so a process that is killed loses nothing. When the power is cut, each write
//! that was not synced is there, or half of it, or not at all, whatever came before it. Nothing
//! waits for the real disk.

#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Once;

use leadload::simulation::step;
use rusqlite::ffi::{
    SQLITE_FULL, SQLITE_OK, sqlite3_file, sqlite3_filename, sqlite3_int64, sqlite3_io_methods,
    sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

/// What a disk writes at a time: of a longer write a part may be there.
const SECTOR: usize = 512;

#[derive(Debug, Default)]
struct Disk {
    open: HashMap<usize, Open>,
    files: BTreeMap<PathBuf, Written>,
}

#[derive(Debug, Clone)]
struct Open {
    path: PathBuf,
    methods: *const sqlite3_io_methods,
}

/// A file of SQLite.
#[derive(Debug, Default)]
struct Written {
    synced: Vec<u8>,
    since: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Change {
    /// Does the first bytes of it to a file.
    fn apply(&self, file: &mut Vec<u8>, bytes: usize) {
        match self {
            Change::Write(at, written) => {
                let written = &written[..bytes.min(written.len())];
                file.resize(file.len().max(at + written.len()), 0);
                file[*at..at + written.len()].copy_from_slice(written);
            }
            Change::Truncate(to) => file.truncate(*to),
        }
    }
}

thread_local! {
    static IS_FULL: Cell<bool> = const { Cell::new(false) };
    static DISK: RefCell<Disk> = RefCell::default();
}

/// From now on there is no room on the disk, or room again.
pub fn fill(is_full: bool) {
    IS_FULL.set(is_full);
}

/// Forgets what was written: all of it is on the disk.
pub fn settle() {
    DISK.with_borrow_mut(|disk| disk.files.clear());
}

/// What is left of SQLite's files when the power is cut, for each as `chance` says.
pub fn left(mut chance: impl FnMut(u64) -> u64) -> BTreeMap<PathBuf, Vec<u8>> {
    DISK.with_borrow(|disk| {
        let left = disk.files.iter().map(|(path, written)| {
            let mut file = written.synced.clone();
            for change in &written.since {
                match chance(4) {
                    0 | 1 => change.apply(&mut file, usize::MAX),
                    2 => change.apply(&mut file, SECTOR * chance(9) as usize),
                    _ => {}
                }
            }
            (path.clone(), file)
        });
        left.collect()
    })
}

/// Puts the disk below SQLite, in this process.
pub fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // SAFETY: SQLite's own interface; what it is given stays for as long as the process.
        unsafe {
            let usual = *sqlite3_vfs_find(std::ptr::null());
            let ours = Box::leak(Box::new(usual));
            ours.zName = c"simulated".as_ptr();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            assert_eq!(sqlite3_vfs_register(ours, 1), SQLITE_OK);
        }
    });
}

fn usual() -> &'static sqlite3_vfs {
    // SAFETY: the system's own files, under the name that they have there.
    unsafe { &*sqlite3_vfs_find(c"unix".as_ptr()) }
}

/// Opens a file, whose methods become ours.
unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are passed on as they came; methods are a table of functions that can be
    // copied.
    unsafe {
        let opened = usual().xOpen.unwrap()(vfs, name, file, flags, flags_out);
        if opened != SQLITE_OK || name.is_null() {
            return opened;
        }
        let methods = (*file).pMethods;
        let path = path_of(name);
        DISK.with_borrow_mut(|disk| {
            let synced = || Written {
                synced: fs::read(&path).unwrap_or_default(),
                since: Vec::new(),
            };
            disk.files.entry(path.clone()).or_insert_with(synced);
            disk.open.insert(file as usize, Open { path, methods });
        });
        let ours = Box::leak(Box::new(*methods));
        ours.xClose = Some(close);
        ours.xWrite = Some(write);
        ours.xTruncate = Some(truncate);
        ours.xSync = Some(sync);
        (*file).pMethods = ours;
        opened
    }
}

unsafe fn path_of(name: *const c_char) -> PathBuf {
    // SAFETY: SQLite's names end with a zero.
    let name = unsafe { CStr::from_ptr(name) };
    PathBuf::from(name.to_str().unwrap())
}

/// Records something about an open file, and returns how it is done.
fn of(file: *mut sqlite3_file, change: Option<Change>) -> &'static sqlite3_io_methods {
    DISK.with_borrow_mut(|disk| {
        let open = &disk.open[&(file as usize)];
        if let (Some(change), Some(written)) = (change, disk.files.get_mut(&open.path)) {
            written.since.push(change);
        }
        // SAFETY: the table is a constant of SQLite.
        unsafe { &*open.methods }
    })
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    data: *const c_void,
    bytes: c_int,
    at: sqlite3_int64,
) -> c_int {
    step("before a write");
    if IS_FULL.get() {
        return SQLITE_FULL;
    }
    // SAFETY: SQLite says how many bytes there are.
    unsafe {
        let written = slice::from_raw_parts(data.cast::<u8>(), bytes as usize).to_vec();
        let methods = of(file, Some(Change::Write(at as usize, written)));
        methods.xWrite.unwrap()(file, data, bytes, at)
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, to: sqlite3_int64) -> c_int {
    step("before a truncation");
    let methods = of(file, Some(Change::Truncate(to as usize)));
    // SAFETY: passed on.
    unsafe { methods.xTruncate.unwrap()(file, to) }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, _flags: c_int) -> c_int {
    step("before a sync");
    DISK.with_borrow_mut(|disk| {
        let open = &disk.open[&(file as usize)];
        if let Some(written) = disk.files.get_mut(&open.path) {
            for change in std::mem::take(&mut written.since) {
                change.apply(&mut written.synced, usize::MAX);
            }
        }
    });
    step("after a sync");
    SQLITE_OK
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let methods = of(file, None);
    // SAFETY: its methods are the system's again, as when it was opened.
    unsafe {
        let ours = (*file).pMethods.cast_mut();
        (*file).pMethods = methods;
        drop(Box::from_raw(ours));
        DISK.with_borrow_mut(|disk| disk.open.remove(&(file as usize)));
        methods.xClose.unwrap()(file)
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, _sync: c_int) -> c_int {
    step("before a file is removed");
    // SAFETY: passed on.
    unsafe {
        let path = path_of(name);
        DISK.with_borrow_mut(|disk| disk.files.remove(Path::new(&path)));
        usual().xDelete.unwrap()(vfs, name, 0)
    }
}
