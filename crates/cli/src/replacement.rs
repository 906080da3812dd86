//! Replacing a file that others read: the new one has the owner, the group and the mode of the former one.
//!
//! The former file is kept with the ending `.old`.

use std::fmt::{Display, Formatter};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::Context;

/// The bits of a mode that say who may read, write and execute.
const PERMISSION_BITS: u32 = 0o777;

/// Who could use a file before it was replaced, where the new file could not be given to them. Its text is a warning for people.
pub(crate) struct LostAccess {
    path: PathBuf,
    owner: u32,
    group: u32,
    mode: u32,
}

impl Display for LostAccess {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let LostAccess { path, owner, group, mode } = self;
        let path = path.display();
        write!(
            formatter,
            "warning: only the present user can read {path}. The former file belonged to the user {owner} and the group {group}, and only root \
             can give a file away. If the server runs as another user, run as root: chown {owner}:{group} {path} && chmod {mode:o} {path}"
        )
    }
}

/// Puts new contents in the place of a file, so that those who could read the former one can read them: a server that does not run as the
/// user of this program.
///
/// Without the right to set owner and group the new file is readable by the present user alone, and the result says who lost access.
///
/// # Errors
///
/// There is no such file, or its folder cannot be written. The file is then the former one, or bears its name with `.old` behind it.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<Option<LostAccess>> {
    let former = std::fs::metadata(path).with_context(|| format!("reading the owner of {}", path.display()))?;
    let (new, old) = (path.with_added_extension("new"), path.with_added_extension("old"));
    let writing = || format!("writing {}", new.display());
    // One that was cut off has left it, and nothing uses it.
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error).with_context(writing),
        _ => {}
    }
    // No other user may read it before its group is the right one.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
    let mut file = file.with_context(writing)?;
    file.write_all(bytes).with_context(writing)?;
    let is_kept = keep_access(&file, &former).with_context(writing)?;
    std::fs::rename(path, &old).with_context(|| format!("keeping the former {}", path.display()))?;
    std::fs::rename(&new, path).with_context(|| format!("replacing {}", path.display()))?;
    let mode = former.mode() & PERMISSION_BITS;
    let lost = LostAccess { path: path.to_owned(), owner: former.uid(), group: former.gid(), mode };
    Ok((!is_kept).then_some(lost))
}

/// Gives a file the owner, group and mode of another one. False: that is not permitted, and the file is as it was.
fn keep_access(file: &File, former: &Metadata) -> std::io::Result<bool> {
    let present = file.metadata()?;
    if (present.uid(), present.gid()) != (former.uid(), former.gid()) {
        match fchown(file, Some(former.uid()), Some(former.gid())) {
            // The mode alone would open the file to another group.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(false),
            changed => changed?,
        }
    }
    file.set_permissions(Permissions::from_mode(former.mode() & PERMISSION_BITS))?;
    Ok(true)
}
