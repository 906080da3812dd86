//! Whether a folder can be written, for a check of settings that starts nothing.

use std::fs::{OpenOptions, remove_file};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Tries to write into a folder, or, if it is not there yet, into the nearest one above it that is. Nothing is left of it.
///
/// # Errors
///
/// What the operating system says; [`ErrorKind::NotADirectory`] if a file is in the way.
pub(crate) fn check(folder: &Path) -> io::Result<()> {
    let folder = std::path::absolute(folder)?;
    for present in folder.ancestors() {
        match present.metadata() {
            Ok(metadata) if metadata.is_dir() => {
                let probe = present.join(format!(".rookery-check-{}", std::process::id()));
                OpenOptions::new().write(true).create_new(true).open(&probe)?;
                return remove_file(&probe);
            }
            Ok(_) => return Err(ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_is_found_and_nothing_is_left() {
        let place = tempfile::tempdir().unwrap();
        check(place.path()).unwrap();
        check(&place.path().join("a/b")).unwrap();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
        std::fs::write(place.path().join("file"), "").unwrap();
        assert_eq!(check(&place.path().join("file/b")).unwrap_err().kind(), ErrorKind::NotADirectory);
        check(Path::new("/proc/x")).unwrap_err();
    }
}
