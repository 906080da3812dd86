//! The storage environments below a folder: that of one database, or all of a server's data.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Levels of folders that are looked through.
const DEPTH_MAX: usize = 6;

/// The environments in `folder` and below it, by path.
///
/// # Errors
///
/// If the folder cannot be read, or has none.
pub fn environments(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, 0, &mut found)?;
    if found.is_empty() {
        bail!("there is no database in '{}'", folder.display());
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    if folder.join("data").is_file() {
        found.push(folder.to_path_buf());
    }
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read '{}'", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() && depth < DEPTH_MAX {
            collect(&path, depth + 1, found)?;
        }
    }
    Ok(())
}
