//! The user's files that a compiler can read: the source, and the sources and headers in its
//! directory and below.

use std::collections::VecDeque;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Extensions of what is compiled and included.
const EXTENSIONS: [&str; 8] = ["S", "c", "def", "h", "i", "inc", "tbl", "x"];
/// How many files are readable, and how many directory entries are looked at.
const MAX_FILES: usize = 4096;
const MAX_ENTRIES: usize = 16_384;
/// Size of a source, or of a file that it includes.
const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// The source itself, under any name, and the sources near it: regular files, nearest
/// directories first. Hidden directories, links and other file systems are left out.
pub(crate) fn near(source: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::canonicalize(source).into_iter().collect();
    let directory = match source.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let Ok(system) = fs::metadata(directory).map(|metadata| metadata.dev()) else {
        return files;
    };
    let mut directories = VecDeque::from([directory.to_owned()]);
    let mut entries = 0;
    while let Some(directory) = directories.pop_front() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            entries += 1;
            if entries > MAX_ENTRIES || files.len() >= MAX_FILES {
                return files;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else {
                continue;
            };
            if kind.is_file() && is_source(&path) {
                files.push(path);
            } else if kind.is_dir()
                && !entry.file_name().as_encoded_bytes().starts_with(b".")
                && fs::metadata(&path).is_ok_and(|metadata| metadata.dev() == system)
            {
                directories.push_back(path);
            }
        }
    }
    files
}

fn is_source(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension == *known)
}

/// Reads a user's file; a device or a pipe, which might never end, is an error.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut options = fs::OpenOptions::new();
    // A pipe without a writer would block.
    let options = options.read(true).custom_flags(libc::O_NONBLOCK);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut content = Vec::new();
    file.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MAX_SOURCE_BYTES {
        return Err(std::io::Error::other(format!(
            "it is larger than {} MB",
            MAX_SOURCE_BYTES >> 20
        )));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sources_near_the_source_are_readable() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        for name in ["below", ".hidden"] {
            fs::create_dir(dir.join(name)).unwrap();
        }
        for name in ["mine", "own.h", "secret", "below/a.inc", ".hidden/b.h"] {
            fs::write(dir.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", dir.join("link.h")).unwrap();
        let mut found = near(&dir.join("mine"));
        found.sort();
        let expected = ["below/a.inc", "mine", "own.h"].map(|name| dir.join(name));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_device_is_no_source() {
        for path in ["/dev/zero", "/dev/null", "/tmp"] {
            assert!(read(Path::new(path)).is_err(), "{path}");
        }
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(read(&own).is_ok_and(|text| !text.is_empty()));
    }
}
