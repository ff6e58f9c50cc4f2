//! Reads TCP packets from any capture file, streaming: pcap and pcapng, compressed or not.
//!
//! The formats are not read by a library. pcap-parser 0.17, the streaming one, is as fast, but
//! mistakes a captured length that exceeds its block for a need of more data: it reads to the end
//! of the file, into memory, and returns no further packet. It supports neither obsolete packet
//! blocks nor time stamps in powers of two, and holds whole blocks. pcap-file 3.0 is a release
//! candidate for a newer Rust than ours.
//!
//! A capture is read through a window: half a megabyte of the file is in memory (`input`), whichever lengths the file
//! claims, and only the beginning of a longer record is read. A record that contradicts itself is counted and skipped.
//! If the next one cannot be found, reading ends and reports the byte.

mod byte_order;
mod clock;
mod compression;
mod counts;
mod input;
mod interface;
mod interface_names;
mod options;
mod pcap;
mod pcapng;
mod rare;
mod record;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

pub use counts::{Damage, ReadCounts};
pub use interface::Interface;

use crate::dissect::dissect_plain;
use crate::error::Error;
use crate::fragments::Fragments;
use crate::packet::TcpPacket;
use compression::Compression;
use input::Input;
use pcap::Pcap;
use pcapng::Pcapng;
use rare::Rare;
pub(crate) use record::Record;
use record::{Step, Stop};

/// Reads the TCP packets of a capture, one after the other.
pub struct Reader {
    /// Name of the input in messages.
    name: String,
    input: Input,
    compression: Option<Compression>,
    format: Format,
    interfaces: Vec<Interface>,
    counts: ReadCounts,
    checks_checksums: bool,
    fragments: Fragments,
    is_done: bool,
}

enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl Reader {
    /// Opens a capture file; `-` is the standard input.
    pub fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Self::with_name("the standard input".to_owned(), Box::new(io::stdin()));
        }
        let name = format!("`{}`", path.display());
        match File::open(path) {
            Ok(file) => Self::with_name(name, Box::new(file)),
            Err(source) => Err(Error::Open { name, source }),
        }
    }

    /// Reads a capture from any source of bytes.
    pub fn new(input: Box<dyn Read + Send>) -> Result<Self, Error> {
        Self::with_name("the input".to_owned(), input)
    }

    /// Reads a capture from any source of bytes, named `name` in messages.
    pub fn with_name(name: String, source: Box<dyn Read + Send>) -> Result<Self, Error> {
        let read_error = |source| Error::Read {
            name: name.clone(),
            source,
        };
        let mut input = Input::new(source);
        let magic = input.peek(4).map_err(read_error)?;
        let compression = Compression::recognise(magic);
        if let Some(compression) = compression {
            let source = compression.decompress(input.into_source());
            input = Input::new(source.map_err(read_error)?);
        }
        let magic = input.peek(4).map_err(read_error)?;
        let Some(format) = recognise(magic) else {
            return Err(not_a_capture(name, compression, magic));
        };
        let mut reader = Self {
            name,
            input,
            compression,
            format,
            interfaces: Vec::new(),
            counts: ReadCounts::default(),
            checks_checksums: false,
            fragments: Fragments::default(),
            is_done: false,
        };
        if let Format::Pcap(pcap) = &reader.format {
            match pcap.start(&mut reader.input) {
                Ok(interface) => reader.interfaces.push(interface),
                Err(stop) => reader.stop(stop)?,
            }
        }
        Ok(reader)
    }

    /// Whether to check TCP checksums, where packets are captured whole. They are not by default.
    pub fn check_checksums(&mut self, yes: bool) {
        self.checks_checksums = yes;
    }

    /// The next TCP packet; `None` at the end. Everything else is counted in
    /// [`counts`](Self::counts). A damaged capture ends where the damage begins, which the counts
    /// report.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results would need one `transpose` more at each use"
    )]
    pub fn next(&mut self) -> Result<Option<TcpPacket>, Error> {
        while !self.is_done {
            let step = match &mut self.format {
                Format::Pcap(pcap) => pcap.step(&mut self.input),
                Format::Pcapng(pcapng) => pcapng.step(&mut self.input, &mut self.interfaces),
            };
            match step {
                Ok(Step::Packet(record)) => {
                    self.counts.packets += 1;
                    let link_type = self.interfaces[record.interface as usize].link_type;
                    let plain = dissect_plain(
                        link_type,
                        record.frame,
                        record.wire_bytes,
                        self.checks_checksums,
                    );
                    match plain {
                        Ok(mut packet) => {
                            packet.interface = record.interface;
                            packet.time_ns = record.time_ns;
                            packet.is_marked_dropped = record.drop_comment.is_some();
                            self.counts.tcp_pkts += 1;
                            return Ok(Some(packet));
                        }
                        Err(reason) => {
                            let rare = Rare {
                                link_type,
                                checks_checksum: self.checks_checksums,
                                fragments: &mut self.fragments,
                                counts: &mut self.counts,
                            };
                            if let Some(packet) = rare.packet(&record, reason) {
                                return Ok(Some(packet));
                            }
                        }
                    }
                }
                Ok(Step::BadPacket) => {
                    self.counts.packets += 1;
                    self.counts.bad_lengths += 1;
                }
                Ok(Step::Other) => {}
                Ok(Step::End) => self.is_done = true,
                Err(stop) => self.stop(stop)?,
            }
        }
        Ok(None)
    }

    /// Gives every packet of the capture, of any protocol, to `each`, with its interface.
    pub(crate) fn for_each_record(
        &mut self,
        mut each: impl FnMut(&Interface, &Record<'_>),
    ) -> Result<(), Error> {
        while !self.is_done {
            let step = match &mut self.format {
                Format::Pcap(pcap) => pcap.step(&mut self.input),
                Format::Pcapng(pcapng) => pcapng.step(&mut self.input, &mut self.interfaces),
            };
            match step {
                Ok(Step::Packet(record)) => {
                    self.counts.packets += 1;
                    each(&self.interfaces[record.interface as usize], &record);
                }
                Ok(Step::BadPacket) => {
                    self.counts.packets += 1;
                    self.counts.bad_lengths += 1;
                }
                Ok(Step::Other) => {}
                Ok(Step::End) => self.is_done = true,
                Err(stop) => self.stop(stop)?,
            }
        }
        Ok(())
    }

    /// The interfaces described so far. A packet's `interface` is an index into it.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Counts of what was read so far, and of what could not be read.
    pub fn counts(&self) -> &ReadCounts {
        &self.counts
    }

    /// Ends reading: with a note if the capture is damaged, with an error if it cannot be read. An
    /// error of a decompressor is damage.
    #[cold]
    fn stop(&mut self, stop: Stop) -> Result<(), Error> {
        self.is_done = true;
        self.counts.damage = Some(match (stop, self.compression) {
            (Stop::Damage { offset, what }, _) => Damage { offset, what },
            (Stop::Io(error), Some(compression)) => Damage {
                offset: self.input.offset(),
                what: format!("the {} data: {error}", compression.name()),
            },
            (Stop::Io(source), None) => {
                return Err(Error::Read {
                    name: self.name.clone(),
                    source,
                });
            }
        });
        Ok(())
    }
}

fn recognise(magic: &[u8]) -> Option<Format> {
    let magic = *magic.first_chunk::<4>()?;
    if magic == pcapng::SECTION_HEADER.to_be_bytes() {
        return Some(Format::Pcapng(Pcapng::new()));
    }
    Pcap::recognise(magic).map(Format::Pcap)
}

fn not_a_capture(name: String, compression: Option<Compression>, magic: &[u8]) -> Error {
    if magic.is_empty() {
        return Error::Empty { name };
    }
    let hex: Vec<_> = magic.iter().map(|byte| format!("{byte:02x}")).collect();
    Error::NotACapture {
        name,
        uncompressed: compression.map_or("", |_| "uncompressed, "),
        first_bytes: hex.join(" "),
    }
}
