//! What the process leaves: files in the directory of the request, which `crates/emu/src/uml` reads.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use dumbbell_emu::guest::files;
use dumbbell_results::Output;

/// Where the result is written.
pub(crate) struct Answer {
    directory: PathBuf,
    /// How far the run has come. It stays open: a file that is replaced at each sample costs a millisecond.
    progress: Option<File>,
}

impl Answer {
    pub(crate) fn of(directory: PathBuf) -> Self {
        let progress = File::create(directory.join(files::PROGRESS)).ok();
        Self {
            directory,
            progress,
        }
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

    /// The signal that was sent to clients since this was last asked; 0: none.
    pub(crate) fn take_signal(&self) -> u32 {
        let path = self.directory.join(files::SIGNAL);
        let Ok(text) = fs::read_to_string(&path) else {
            return 0;
        };
        // If it stays, clients get the signal again.
        let _ = fs::remove_file(path);
        text.parse().unwrap_or(0)
    }

    /// Writes how far the run has come, ns.
    pub(crate) fn note_progress(&self, instant_ns: u64) {
        let progress = self.progress.as_ref();
        // Without it the run goes on, and is thought to stand still.
        let _ = progress.map(|file| file.write_all_at(&instant_ns.to_le_bytes(), 0));
    }
}
