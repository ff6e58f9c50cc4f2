//! What the process leaves: files in the directory of the request, which `crates/emu/src/uml` reads.

use std::fs;
use std::path::PathBuf;

use dumbbell_emu::guest::files;
use dumbbell_results::Output;

/// Where the result is written.
pub(crate) struct Answer {
    directory: PathBuf,
}

impl Answer {
    pub(crate) fn of(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// Writes the result.
    pub(crate) fn succeed(&self, output: &Output) {
        let summary = match serde_json::to_string(&output.summary) {
            Ok(summary) => summary,
            Err(error) => return self.fail(&error.to_string()),
        };
        let mut tables = Vec::new();
        for table in &output.tables {
            files::put_table(&mut tables, table);
        }
        // The summary last: where it is, the result is whole.
        let written = fs::write(self.directory.join(files::TABLES), tables)
            .and_then(|()| fs::write(self.directory.join(files::SUMMARY), summary));
        if let Err(error) = written {
            self.fail(&format!("the result could not be written: {error}"));
        }
    }

    /// Writes why there is none; the first reason stays.
    pub(crate) fn fail(&self, message: &str) {
        let path = self.directory.join(files::ERROR);
        if !path.exists() {
            // Without it the process's own output is all that the user gets.
            let _ = fs::write(path, message);
        }
    }

    /// Writes how far the run has come, ns.
    pub(crate) fn note_progress(&self, instant_ns: u64) {
        let _ = fs::write(
            self.directory.join(files::PROGRESS),
            instant_ns.to_le_bytes(),
        );
    }
}
