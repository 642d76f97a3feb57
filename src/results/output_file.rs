//! One output file, from the first byte of its `.part` file to its final name.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::mem;
use std::path::{Path, PathBuf};

use same_file::Handle;
use sha2::{Digest, Sha256};

use super::OutputError;
use super::paths::part_of;
use crate::clock;
use crate::paths::absolute_place;
use crate::private_file;
use crate::simulation::{self, Fault, is_planted};

const COPY_BYTES: usize = 64 * 1024;

/// The size of the test write: what a file system allocates at a time.
const PROBE_BYTES: usize = 4096;

/// A file that is written as `PATH.part`. A lock keeps a second run from writing there too.
/// When this is dropped the part is removed, unless [`leave`](Self::leave) was called.
#[derive(Debug)]
pub(super) struct OutputFile {
    /// The final path as the user gave it.
    path: PathBuf,
    /// The final path as an absolute path, under which the ledger records it.
    place: PathBuf,
    part: PathBuf,
    /// The name that the finished file gets instead, if any.
    other_name: Option<OsString>,
    /// The name that a file at the final path gets if it is kept; empty until this file is sealed.
    aside: OsString,
    /// SHA-256 of what this run has written, even if another program changes the file.
    digest: Sha256,
    /// What the file begins with. Empty once it is written.
    prefix: &'static [u8],
    is_left: Cell<bool>,
    /// Holds the lock.
    file: File,
}

impl OutputFile {
    /// Creates `PATH.part`, which stays empty until something is written, and checks that
    /// there is space. A part that a killed run has left there is kept under another name,
    /// because it may be the only record of the leads it made. It is removed if `is_known`,
    /// called with the place and the part, says that all of it can be made again.
    pub(super) fn create(
        path: &Path,
        prefix: &'static [u8],
        is_known: impl Fn(&Path, &Path) -> bool,
    ) -> Result<OutputFile, OutputError> {
        let part = part_of(path);
        let unwritable = |error| OutputError::unwritable(path, error);
        let place = absolute_place(path).map_err(unwritable)?;
        let opened = make_part(&part, || is_known(&place, &part)).map_err(unwritable)?;
        let file = opened.ok_or_else(|| OutputError::busy(path))?;
        let mut output = OutputFile {
            path: path.to_owned(),
            place,
            part,
            other_name: None,
            aside: OsString::new(),
            digest: Sha256::new(),
            prefix,
            is_left: Cell::new(false),
            file,
        };
        let probed = output.file.write_all(&[b' '; PROBE_BYTES]);
        let probed = probed.and_then(|()| output.empty());
        probed.map_err(unwritable)?;
        Ok(output)
    }

    /// The path that the file will have, in the form that the user gave.
    pub(super) fn path(&self) -> PathBuf {
        self.named(&self.path)
    }

    /// The path that the file will have, as an absolute path.
    pub(super) fn recorded_path(&self) -> PathBuf {
        self.named(&self.place)
    }

    fn named(&self, path: &Path) -> PathBuf {
        match &self.other_name {
            Some(name) => path.with_file_name(name),
            None => path.to_owned(),
        }
    }

    /// The path for which the file was created, even if it gets another name.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// The path that a file at the final path will have, if it is kept.
    pub(super) fn aside(&self) -> PathBuf {
        self.place.with_file_name(&self.aside)
    }

    pub(super) fn error(&self, error: impl Into<io::Error>) -> OutputError {
        OutputError::unwritable(&self.path, error.into())
    }

    /// A copy of what has been written so far, for reading.
    pub(super) fn copy(&mut self) -> Result<File, OutputError> {
        let copied = tempfile::tempfile().and_then(|mut copy| {
            // Uses the handle that holds the lock: on Windows no other handle may read.
            self.file.rewind()?;
            io::copy(&mut self.file, &mut copy)?;
            copy.rewind()?;
            Ok(copy)
        });
        copied.map_err(|error| self.error(error))
    }

    /// Replaces everything that has been written with other content.
    pub(super) fn replace(&mut self, mut content: File) -> Result<(), OutputError> {
        let replaced = self.empty().and_then(|()| {
            content.rewind()?;
            let mut content = BufReader::with_capacity(COPY_BYTES, content);
            io::copy(&mut content, self).map(drop)
        });
        replaced.map_err(|error| self.error(error))
    }

    /// Makes [`finish`](Self::finish) give the file a new, free name:
    /// `rejects.20261121T031022Z.csv`.
    pub(super) fn rename_to_csv(&mut self) -> Result<(), OutputError> {
        let path = free_name(&self.path.with_extension("csv"));
        let path = path.map_err(|error| self.error(error))?;
        self.other_name = path.file_name().map(ToOwned::to_owned);
        Ok(())
    }

    /// Removes what was written: nobody needs it, not even after a kill.
    pub(super) fn clear(&mut self) -> Result<(), OutputError> {
        self.empty().map_err(|error| self.error(error))
    }

    fn empty(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.set_len(0)?;
        self.digest.reset();
        Ok(())
    }

    /// From now on the part stays where it is, even if the file is never finished.
    pub(super) fn leave(&self) {
        self.is_left.set(true);
    }

    /// Makes sure that everything that was written is on disk and the file
    /// still exists. Returns its SHA-256.
    pub(super) fn seal(&mut self) -> Result<[u8; 32], OutputError> {
        if !is_planted(Fault::RenameBeforeSync) {
            self.file.sync_all().map_err(|error| self.error(error))?;
            simulation::synced(&self.part);
        }
        let aside = free_name(&self.path).map_err(|error| self.error(error))?;
        self.aside = aside.file_name().unwrap_or_default().to_owned();
        self.refuse_gone()?;
        Ok(self.digest.clone().finalize().into())
    }

    /// Moves the sealed file to its final path, or removes it if `stays` is
    /// false. A file that already exists there is removed if `goes`;
    /// otherwise it is kept under another name, which is returned.
    pub(super) fn finish(self, stays: bool, goes: bool) -> Result<Option<PathBuf>, OutputError> {
        if stays {
            self.refuse_gone()?;
        }
        simulation::step("before an output has its name");
        let put = || {
            let kept = if goes {
                None
            } else {
                keep_existing(&self.path, &self.path.with_file_name(&self.aside))?
            };
            if stays {
                fs::rename(&self.part, self.path())?;
            }
            // Otherwise the old file would be mistaken for the file of this run.
            if goes && (!stays || self.other_name.is_some()) {
                remove(&self.path)?;
            }
            Ok(kept)
        };
        let put: io::Result<_> = put();
        let kept = put.map_err(|error| OutputError::not_replaced(&self.path, error))?;
        // The lock must be held until here: without it another run could take over the part.
        self.is_left.set(stays);
        simulation::step("an output has its name");
        private_file::sync_folder(&self.path);
        Ok(kept)
    }

    /// Keeps the part under a name that no other run uses. Returns that name.
    pub(super) fn set_aside(self) -> Result<PathBuf, OutputError> {
        let kept = keep_existing(&self.part, &self.part).map_err(|error| self.error(error))?;
        Ok(kept.unwrap_or_else(|| self.part.clone()))
    }

    /// Removes the part. Files that existed before stay.
    pub(super) fn discard(self) {
        self.is_left.set(false);
    }

    /// Someone may have deleted the part, and what is written to a deleted file is lost.
    fn refuse_gone(&self) -> Result<(), OutputError> {
        match is_file_at(&self.file, &self.part) {
            Ok(true) => Ok(()),
            Ok(false) => Err(OutputError::gone(&self.part)),
            Err(error) => Err(self.error(error)),
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let prefix = mem::take(&mut self.prefix);
        self.file.write_all(prefix)?;
        self.digest.update(prefix);
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        // Removed while the lock is held, so the part cannot belong to another run.
        if !self.is_left.get() {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// Creates the part and locks it; `None` if another run holds the lock. A part
/// that a killed run has left is removed if it is empty or `is_known` says that
/// it is no longer needed; otherwise it is kept under another name. It is never
/// written to: another user may have made it, and could read what is written.
fn make_part(part: &Path, is_known: impl Fn() -> bool) -> io::Result<Option<File>> {
    loop {
        match private_file::create(part) {
            Ok(file) if private_file::try_lock(&file)? && is_file_at(&file, part)? => {
                return Ok(Some(file));
            }
            // Another run has taken the file over before it was locked.
            Ok(_) => continue,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let left = match File::options().read(true).write(true).open(part) {
            Ok(left) => left,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if !private_file::try_lock(&left)? {
            return Ok(None);
        }
        // Between the opening and the locking another run may have renamed
        // the file to its final path: then it is not a part any more.
        if !is_file_at(&left, part)? {
            continue;
        }
        if left.metadata()?.len() == 0 || is_known() {
            fs::remove_file(part)?;
        } else {
            keep_existing(part, part)?;
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn is_file_at(file: &File, path: &Path) -> io::Result<bool> {
    match Handle::from_path(path) {
        Ok(at_path) => Ok(Handle::from_file(file.try_clone()?)? == at_path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Renames the file at `path`, if there is one: `leads.results.csv` becomes
/// `leads.results.20261121T031022Z.csv`, or `planned` if there is no such file.
fn keep_existing(path: &Path, planned: &Path) -> io::Result<Option<PathBuf>> {
    if !path.try_exists()? {
        return Ok(None);
    }
    let kept = match planned.try_exists()? {
        true => free_name(path)?,
        false => planned.to_owned(),
    };
    fs::rename(path, &kept)?;
    Ok(Some(kept))
}

fn free_name(path: &Path) -> io::Result<PathBuf> {
    let stamp = clock::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    for attempt in 0..100 {
        let suffix = match attempt {
            0 => stamp.clone(),
            _ => format!("{stamp}-{attempt}"),
        };
        let mut name = path.file_stem().unwrap_or_default().to_owned();
        name.push(format!(".{suffix}"));
        if let Some(extension) = path.extension() {
            name.push(".");
            name.push(extension);
        }
        let kept = path.with_file_name(name);
        if !kept.try_exists()? {
            return Ok(kept);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lead::RunId;
    use crate::ledger::{OutputKind, OutputRecord};
    use crate::results::KnownOutputs;
    use crate::source::Fingerprint;

    fn known_to(known: &KnownOutputs) -> impl Fn(&Path, &Path) -> bool {
        |place, part| known.has_part(place, part)
    }

    /// Moves the file to its final path. A known file there is removed.
    fn finish(output: OutputFile, known: &KnownOutputs) -> Result<Option<PathBuf>, OutputError> {
        let goes = known.has_part(output.place(), output.place());
        output.finish(true, goes)
    }

    /// Results without rows.
    const OLD: &str = "phone_number,lead_id,settled_at\n";

    struct Place {
        folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl Place {
        fn new() -> Place {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("leads.results.csv");
            Place { folder, path }
        }

        fn holding(text: &str) -> Place {
            let place = Place::new();
            fs::write(&place.path, text).unwrap();
            place
        }

        fn begin(&self, known: &KnownOutputs) -> OutputFile {
            OutputFile::create(&self.path, b"", known_to(known)).unwrap()
        }

        /// What the ledger knows if a run has written this text here.
        fn known(&self, text: Option<&str>) -> KnownOutputs {
            let sha256 = text.map(|text| Fingerprint::of(text.as_bytes()).unwrap().sha256);
            KnownOutputs::new(vec![OutputRecord {
                run: RunId(1),
                path: absolute_place(&self.path).ok(),
                kind: OutputKind::Results,
                sha256,
                rows: None,
                state: None,
            }])
        }

        fn read(&self) -> String {
            fs::read_to_string(&self.path).unwrap()
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.folder.path()).unwrap();
            let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
            let mut names: Vec<String> = entries
                .map(|entry| name(entry).into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    fn write(output: &mut OutputFile, text: &str) {
        output.write_all(text.as_bytes()).unwrap();
        output.seal().unwrap();
    }

    #[test]
    fn a_file_that_is_as_we_wrote_it_is_replaced() {
        let place = Place::holding(OLD);
        let known = place.known(Some(OLD));
        let mut output = place.begin(&known);
        write(&mut output, "new");
        assert_eq!(place.read(), OLD, "until the new one takes its place");
        assert_eq!(output.path(), place.path);
        assert_eq!(finish(output, &known).unwrap(), None);
        assert_eq!(place.read(), "new");
        assert_eq!(place.names(), ["leads.results.csv"]);
    }

    #[test]
    fn a_file_that_was_changed_is_kept() {
        let place = Place::holding("old, and a note");
        for known in [
            place.known(Some(OLD)),
            place.known(None),
            KnownOutputs::default(),
        ] {
            fs::write(&place.path, "old, and a note").unwrap();
            let mut output = place.begin(&known);
            write(&mut output, "new");
            let kept = output.finish(true, false).unwrap().unwrap();
            assert_eq!(fs::read_to_string(kept).unwrap(), "old, and a note");
            assert_eq!(place.read(), "new");
        }
        assert_eq!(place.names().len(), 4);
    }

    #[test]
    fn without_rows_what_is_as_we_wrote_it_is_removed_and_anything_else_kept() {
        let place = Place::holding(OLD);
        let known = place.known(Some(OLD));
        assert_eq!(place.begin(&known).finish(false, true).unwrap(), None);
        assert_eq!(place.names(), [""; 0]);

        fs::write(&place.path, "mine").unwrap();
        let kept = place.begin(&known).finish(false, false).unwrap();
        assert_eq!(fs::read_to_string(kept.unwrap()).unwrap(), "mine");
        assert_eq!(place.names().len(), 1);
    }

    #[test]
    fn what_a_killed_run_has_left_is_discarded_where_the_place_is_known() {
        for (left, text) in [("half a li", None), (OLD, Some(OLD))] {
            let place = Place::new();
            fs::write(part_of(&place.path), left).unwrap();
            let known = place.known(text);
            let mut output = place.begin(&known);
            write(&mut output, "new");
            finish(output, &known).unwrap();
            assert_eq!(place.read(), "new");
            assert_eq!(place.names(), ["leads.results.csv"]);
        }
    }

    #[test]
    fn what_a_killed_run_has_left_is_kept_where_nothing_is_known() {
        let place = Place::new();
        fs::write(part_of(&place.path), "half a li").unwrap();
        drop(place.begin(&KnownOutputs::default()));
        let names = place.names();
        let [kept] = &names[..] else {
            panic!("{names:?}");
        };
        let text = fs::read_to_string(place.folder.path().join(kept)).unwrap();
        assert_eq!(text, "half a li");
    }

    #[test]
    fn a_file_that_goes_elsewhere_leaves_nothing_stale_in_the_place_it_was_to_have() {
        let place = Place::holding(OLD);
        let known = place.known(Some(OLD));
        let mut output = place.begin(&known);
        output.rename_to_csv().unwrap();
        write(&mut output, "new");
        let elsewhere = output.recorded_path();
        assert_ne!(elsewhere, absolute_place(&place.path).unwrap());
        assert_eq!(absolute_place(&output.path()).unwrap(), elsewhere);
        assert_eq!(finish(output, &known).unwrap(), None);
        assert_eq!(fs::read_to_string(elsewhere).unwrap(), "new");
        assert_eq!(place.names().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_part_that_is_deleted_meanwhile_is_missed_and_the_earlier_file_stays() {
        let place = Place::holding(OLD);
        let known = place.known(Some(OLD));
        let mut unsealed = place.begin(&known);
        fs::remove_file(part_of(&place.path)).unwrap();
        let text = unsealed.seal().unwrap_err().message().to_string();
        assert!(text.contains("leads.results.csv.part`"), "{text}");

        let mut sealed = place.begin(&known);
        write(&mut sealed, "new");
        fs::remove_file(part_of(&place.path)).unwrap();
        assert!(finish(sealed, &known).unwrap_err().is_gone());
        assert_eq!(place.read(), OLD);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_deleted_meanwhile_is_missed() {
        let place = Place::new();
        let mut output = place.begin(&KnownOutputs::default());
        fs::remove_dir_all(place.folder.path()).unwrap();
        output.write_all(b"row").unwrap();
        assert!(output.seal().unwrap_err().is_gone());
    }

    #[test]
    fn a_folder_that_is_not_there_is_to_be_made() {
        let place = Place::new();
        let path = place.folder.path().join("out").join("r.csv");
        let error = OutputFile::create(&path, b"", |_, _| false).unwrap_err();
        let text = error.message().to_string();
        assert!(text.contains("/out`"), "{text}");
    }

    /// Root can write there anyway, so both results are allowed.
    #[cfg(unix)]
    #[test]
    fn a_read_only_folder_is_reported_or_written_to() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::new();
        let folder = place.folder.path();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
        let is_refused = File::create(folder.join("probe")).is_err();
        let created = OutputFile::create(&place.path, b"", |_, _| false);
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        match created {
            Ok(_) => assert!(!is_refused),
            Err(error) => {
                assert!(is_refused);
                let text = error.message().to_string();
                assert!(text.contains("permission"), "{text}");
            }
        }
    }

    /// Root can write there anyway, so both results are allowed.
    #[cfg(unix)]
    #[test]
    fn a_file_that_cannot_replace_the_old_one_is_left_beside_it() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::holding(OLD);
        let known = place.known(Some(OLD));
        let mut output = place.begin(&known);
        write(&mut output, "new");
        output.leave();
        let folder = place.folder.path();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
        let finished = finish(output, &known);
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        match finished {
            Ok(_) => assert_eq!(place.read(), "new"),
            Err(error) => {
                let text = error.message().to_string();
                assert!(text.contains("cannot replace"), "{text}");
                assert_eq!(place.read(), OLD);
                let part = fs::read_to_string(part_of(&place.path)).unwrap();
                assert_eq!(part, "new");
            }
        }
    }

    proptest! {
        #[test]
        fn the_digest_is_that_of_the_file_as_it_is_found(
            first: Vec<Vec<u8>>,
            other in prop::option::of(any::<Vec<u8>>()),
            last: Vec<u8>,
        ) {
            let place = Place::new();
            let known = KnownOutputs::default();
            let mut output = OutputFile::create(&place.path, b"\xEF\xBB\xBF", known_to(&known)).unwrap();
            for piece in &first {
                output.write_all(piece).unwrap();
            }
            if let Some(other) = other {
                let mut content = tempfile::tempfile().unwrap();
                content.write_all(&other).unwrap();
                output.replace(content).unwrap();
            }
            output.write_all(&last).unwrap();
            let sha256 = output.seal().unwrap();
            finish(output, &known).unwrap();
            let found = Fingerprint::of(File::open(&place.path).unwrap()).unwrap();
            prop_assert_eq!(found.sha256, sha256);
        }
    }
}
