//! Handles Handles Ctrl-C while a file or a pipe is read.

use std::io::{self, ErrorKind, Read};
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;

/// The exception raised by Python during a read: `KeyboardInterrupt`.
pub(crate) type Interrupt = Arc<OnceLock<PyErr>>;

/// A source of bytes that lets Python raise before each read.
pub(crate) struct Interruptible<R> {
    source: R,
    interrupt: Interrupt,
}

impl<R> Interruptible<R> {
    pub(crate) fn new(source: R, interrupt: Interrupt) -> Self {
        Self { source, interrupt }
    }
}

impl<R: Read> Read for Interruptible<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                // A second one has no effect.
                let _ = self.interrupt.set(error);
                return Err(io::Error::other("interrupted"));
            }
            match self.source.read(buffer) {
                // A signal, possibly of Ctrl-C.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}
