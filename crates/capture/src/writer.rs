//! Writes captures: pcapng (draft-ietf-opsawg-pcapng), nanoseconds, an interface per capture point.
//!
//! The format is not written by a library. CPU time of a simulated packet is 110 to 500 ns, and a capture
//! records it at up to four points. A block of headers only costs 27 ns here, 65 ns with pcap-file 2.0.0 and
//! 145 ns with 3.0.0-rc.3, which needs a newer Rust than ours; both allocate per packet and encode twice.
//! pcap-parser serializes only blocks that own a `Vec` each. Tests read the files back with pcap-parser.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::point::{CapturePoint, CapturePoints};

/// What a run captures, and the file it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureConfig {
    /// The file; replaced if it exists.
    pub path: PathBuf,
    /// Largest number of bytes kept of each packet; `None`: its headers, `u32::MAX`: all.
    pub snap_bytes: Option<u32>,
    /// The hosts of the senders.
    pub senders: bool,
    /// The hosts of the receivers.
    pub receivers: bool,
    /// Before and after every link.
    pub links: bool,
}

impl CaptureConfig {
    /// The points to capture at.
    pub fn points(&self) -> CapturePoints {
        CapturePoints {
            senders: self.senders,
            receivers: self.receivers,
            links: self.links,
        }
    }

    /// Bytes to keep of a frame of `frame_bytes`, of which `header_bytes` are headers.
    #[inline]
    pub fn kept_bytes(&self, header_bytes: usize, frame_bytes: usize) -> usize {
        match self.snap_bytes {
            None => header_bytes.min(frame_bytes),
            Some(snap_bytes) => frame_bytes.min(snap_bytes as usize),
        }
    }

    /// The error for the user when the file could not be written.
    pub fn unwritable(&self, source: io::Error) -> WriteError {
        WriteError {
            path: self.path.clone(),
            source,
        }
    }

    /// The snap length that the file declares; 0: no limit.
    fn declared_snap_bytes(&self) -> u32 {
        match self.snap_bytes {
            None => MAX_HEADER_BYTES,
            Some(u32::MAX) => 0,
            Some(snap_bytes) => snap_bytes,
        }
    }
}

/// What helps against that error.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::IsADirectory => "use the name of a file, such as `capture.pcapng`, in it",
        io::ErrorKind::NotFound => "make its directory, or choose another path",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose another path"
        }
        _ => "free some space, or choose another path",
    }
}

/// The file could not be written; a line for the user.
#[derive(Debug, thiserror::Error)]
#[error("the capture `{}` cannot be written: {source}; {}", path.display(), remedy(source))]
pub struct WriteError {
    path: PathBuf,
    source: io::Error,
}

/// What the comment of a dropped packet begins with.
pub(crate) const DROPPED: &str = "dropped by ";

/// [`dropped_comment`] of a dumbbell whose queue was full.
pub const DROPPED_COMMENT: &str = "dropped by the bottleneck";

/// Comment of a packet that a link dropped, at [`CapturePoint::LinkIn`]; `reason` is empty when the
/// queue was full.
pub fn dropped_comment(link: &str, reason: &str) -> String {
    let the = if link == "bottleneck" { "the " } else { "" };
    let colon = if reason.is_empty() { "" } else { ": " };
    format!("{DROPPED}{the}{link}{colon}{reason}")
}

/// Bytes buffered before the file is written.
const BUFFER_BYTES: usize = 1 << 20;

/// Ethernet, IPv4 and TCP headers with all options they can have.
const MAX_HEADER_BYTES: u32 = 14 + 60 + 60;

const SECTION_HEADER_BLOCK: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION_BLOCK: u32 = 1;
const ENHANCED_PACKET_BLOCK: u32 = 6;

const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;

const LINKTYPE_ETHERNET: u16 = 1;
/// Times are 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// Bytes of a block in addition to its body: type and twice the length.
const FRAME_BYTES: usize = 12;
/// Fixed fields of an enhanced packet block's body.
const PACKET_FIELDS_BYTES: usize = 20;

/// Writes a pcapng file, packet by packet. `output` should be buffered.
#[derive(Debug)]
pub struct CaptureWriter<W: Write> {
    output: W,
    groups: u32,
    points: CapturePoints,
}

impl CaptureWriter<BufWriter<File>> {
    /// Creates the file of `config`.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn create(
        config: &CaptureConfig,
        groups: u32,
        links: &[impl AsRef<str>],
        description: &str,
    ) -> Result<Self, WriteError> {
        File::create(&config.path)
            .map(|file| BufWriter::with_capacity(BUFFER_BYTES, file))
            .and_then(|output| Self::new(output, groups, links, description, config))
            .map_err(|source| config.unwritable(source))
    }

    /// Creates the file of `config`, with one interface of this name, which is the sender of group 0.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn create_for_interface(config: &CaptureConfig, name: &str) -> Result<Self, WriteError> {
        let begun = || {
            let mut output = BufWriter::with_capacity(BUFFER_BYTES, File::create(&config.path)?);
            write_section_header(&mut output, name)?;
            write_interface(&mut output, name, config.declared_snap_bytes())?;
            Ok(Self {
                output,
                groups: 1,
                points: config.points(),
            })
        };
        begun().map_err(|source| config.unwritable(source))
    }
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a capture of a run with `groups` groups and links of these names; `description` is
    /// the section's comment.
    ///
    /// # Errors
    ///
    /// `output` cannot be written, here and in the other functions.
    pub fn new(
        mut output: W,
        groups: u32,
        links: &[impl AsRef<str>],
        description: &str,
        config: &CaptureConfig,
    ) -> io::Result<Self> {
        let points = config.points();
        write_section_header(&mut output, description)?;
        for point in points.of_run(groups, links.len() as u32) {
            write_interface(
                &mut output,
                &point.name(links),
                config.declared_snap_bytes(),
            )?;
        }
        Ok(Self {
            output,
            groups,
            points,
        })
    }

    /// Whether packets are recorded at `point`.
    #[inline]
    pub fn wants(&self, point: CapturePoint) -> bool {
        match point {
            CapturePoint::Sender(_) => self.points.senders,
            CapturePoint::Receiver(_) => self.points.receivers,
            CapturePoint::LinkIn(_) | CapturePoint::LinkOut(_) => self.points.links,
        }
    }

    /// Records a packet, if its point is captured. `captured`: the frame from its Ethernet header
    /// on, possibly cut; `original_bytes`: its length on the wire; `time_ns`: since the Unix epoch.
    #[inline]
    pub fn record(
        &mut self,
        point: CapturePoint,
        time_ns: u64,
        captured: &[u8],
        original_bytes: u32,
        comment: Option<&str>,
    ) -> io::Result<()> {
        if !self.wants(point) {
            return Ok(());
        }
        let options_bytes = comment.map_or(0, |comment| option_bytes(comment.len()) + END_BYTES);
        let block_bytes =
            FRAME_BYTES + PACKET_FIELDS_BYTES + padded(captured.len()) + options_bytes;
        let fields = [
            ENHANCED_PACKET_BLOCK,
            block_bytes as u32,
            self.interface_of(point),
            (time_ns >> 32) as u32,
            time_ns as u32,
            captured.len() as u32,
            original_bytes,
        ];
        self.output.write_all(&to_bytes::<7, 28>(fields))?;
        self.output.write_all(captured)?;
        self.output.write_all(padding(captured.len()))?;
        if let Some(comment) = comment {
            write_option(&mut self.output, OPT_COMMENT, comment.as_bytes())?;
            write_end_of_options(&mut self.output)?;
        }
        self.output.write_all(&(block_bytes as u32).to_le_bytes())
    }

    /// Writes what is buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Ends the capture: flushes and returns the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }

    /// Position of the point among those that [`CapturePoints::of_run`] lists.
    #[inline]
    fn interface_of(&self, point: CapturePoint) -> u32 {
        let (senders, receivers) = (
            u32::from(self.points.senders),
            u32::from(self.points.receivers),
        );
        let per_group = senders + receivers;
        match point {
            CapturePoint::Sender(group) => group * per_group,
            CapturePoint::Receiver(group) => group * per_group + senders,
            CapturePoint::LinkIn(link) => self.groups * per_group + 2 * link,
            CapturePoint::LinkOut(link) => self.groups * per_group + 2 * link + 1,
        }
    }
}

fn write_section_header(output: &mut impl Write, description: &str) -> io::Result<()> {
    const APPLICATION: &str = concat!("dumbbell ", env!("CARGO_PKG_VERSION"));
    let mut body = Vec::new();
    body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
    body.extend([1, 0, 0, 0]); // version 1.0
    body.extend(u64::MAX.to_le_bytes()); // length of the section: unspecified
    write_option(&mut body, OPT_COMMENT, description.as_bytes())?;
    write_option(&mut body, SHB_USERAPPL, APPLICATION.as_bytes())?;
    write_end_of_options(&mut body)?;
    write_block(output, SECTION_HEADER_BLOCK, &body)
}

fn write_interface(output: &mut impl Write, name: &str, snap_bytes: u32) -> io::Result<()> {
    let mut body = Vec::new();
    body.extend(LINKTYPE_ETHERNET.to_le_bytes());
    body.extend([0, 0]);
    body.extend(snap_bytes.to_le_bytes());
    write_option(&mut body, IF_NAME, name.as_bytes())?;
    write_option(&mut body, IF_TSRESOL, &[NANOSECONDS])?;
    write_end_of_options(&mut body)?;
    write_block(output, INTERFACE_DESCRIPTION_BLOCK, &body)
}

fn write_block(output: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let block_bytes = ((FRAME_BYTES + body.len()) as u32).to_le_bytes();
    output.write_all(&kind.to_le_bytes())?;
    output.write_all(&block_bytes)?;
    output.write_all(body)?;
    output.write_all(&block_bytes)
}

/// Bytes of the option that ends a list of options.
const END_BYTES: usize = 4;

fn write_option(output: &mut impl Write, code: u16, value: &[u8]) -> io::Result<()> {
    // What exceeds a length of 16 bits is cut off; only a scenario of thousands of groups is that
    // long.
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    output.write_all(&code.to_le_bytes())?;
    output.write_all(&(value.len() as u16).to_le_bytes())?;
    output.write_all(value)?;
    output.write_all(padding(value.len()))
}

fn write_end_of_options(output: &mut impl Write) -> io::Result<()> {
    output.write_all(&[0; END_BYTES])
}

fn option_bytes(value_bytes: usize) -> usize {
    4 + padded(value_bytes.min(usize::from(u16::MAX)))
}

/// Blocks and options are aligned to 32 bits.
fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}

fn padding(bytes: usize) -> &'static [u8] {
    &[0; 3][..padded(bytes) - bytes]
}

/// The words in the file's byte order.
fn to_bytes<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (word, place) in words.iter().zip(bytes.chunks_exact_mut(4)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::WriteError;

    #[test]
    fn the_error_of_a_file_names_what_helps_against_it() {
        for (kind, remedy) in [
            (ErrorKind::IsADirectory, "use the name of a file"),
            (ErrorKind::NotFound, "make its directory"),
            (ErrorKind::StorageFull, "free some space"),
        ] {
            let (path, source) = ("place".into(), Error::from(kind));
            let said = WriteError { path, source }.to_string();
            assert!(said.starts_with("the capture `place` cannot be written: "));
            assert!(said.contains(remedy), "{said}");
        }
    }
}
