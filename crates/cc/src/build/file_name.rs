//! How a user names a file and the table in it: `./mine.bpf.c`, `./two.bpf.c#second`.

use std::path::Path;

/// A file, and the requested ops table if it has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileName<'name> {
    pub(crate) path: &'name Path,
    pub(crate) table: Option<&'name str>,
}

impl<'name> FileName<'name> {
    /// Parses a name that contains `/` or ends in `.c`; other names do not name files.
    pub(crate) fn parse(name: &'name str) -> Option<Self> {
        let (path, table) = match name.rsplit_once('#') {
            Some((path, table)) if is_identifier(table) => (path, Some(table)),
            _ => (name, None),
        };
        (path.contains('/') || path.ends_with(".c")).then_some(Self {
            path: Path::new(path),
            table,
        })
    }
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_named_behind_the_file() {
        let parse =
            |name| FileName::parse(name).map(|file| (file.path.to_str().unwrap(), file.table));
        assert_eq!(parse("reno"), None);
        assert_eq!(parse("./a.bpf.c"), Some(("./a.bpf.c", None)));
        assert_eq!(parse("a.c#second"), Some(("a.c", Some("second"))));
        assert_eq!(parse("./lib#1/a.c"), Some(("./lib#1/a.c", None)));
        assert_eq!(parse("./a.c#"), Some(("./a.c#", None)));
    }
}
