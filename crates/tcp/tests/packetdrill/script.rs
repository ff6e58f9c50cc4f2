//! A script as it is parsed: what happens, and when.

/// A whole script.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// Names and values of the lines `--name=value`.
    pub(crate) options: Vec<(String, String)>,
    pub(crate) events: Vec<Event>,
}

/// One thing that is done or expected.
#[derive(Debug)]
pub(crate) struct Event {
    /// Line of the script, from 1.
    pub(crate) line: usize,
    pub(crate) time: Time,
    pub(crate) action: Action,
}

/// When an event begins, and how it may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    /// Counted from the event before (`+`), not from the script's start.
    pub(crate) is_relative: bool,
    pub(crate) start_us: u64,
    pub(crate) end: TimeEnd,
}

/// What follows the start of an event's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeEnd {
    /// Nothing: it happens then.
    Same,
    /// `~`: it happens at some time until then, µs.
    Until(u64),
    /// `...`: a call blocks until then, µs.
    Returns(u64),
    /// `*`: it happens at any time.
    Any,
}

impl Time {
    /// Immediately after the event before.
    pub(crate) const NOW: Self = Self {
        is_relative: true,
        start_us: 0,
        end: TimeEnd::Same,
    };
}

/// What an event does.
#[derive(Debug)]
pub(crate) enum Action {
    /// `<`: the host receives it.
    Receives(PacketSpec),
    /// `>`: the host must send it.
    Sends(PacketSpec),
    /// The application calls the socket layer.
    Calls(Call),
    /// `%{ }%`: assertions.
    Asserts(String),
    /// Lines between backquotes, for a shell.
    Shell(String),
}

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    pub(crate) ack: bool,
    pub(crate) ece: bool,
    pub(crate) cwr: bool,
    /// Accurate ECN's third flag.
    pub(crate) ae: bool,
}

impl Flags {
    /// AE, CWR and ECE as one field (RFC 9768 §3.2.2).
    pub(crate) fn ace(self) -> u8 {
        u8::from(self.ae) << 2 | u8::from(self.cwr) << 1 | u8::from(self.ece)
    }

    /// These, with that field.
    pub(crate) fn with_ace(self, ace: u8) -> Self {
        Self {
            ae: ace & 4 != 0,
            cwr: ace & 2 != 0,
            ece: ace & 1 != 0,
            ..self
        }
    }
}

/// A TCP packet; sequence numbers are relative to the connection's.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketSpec {
    /// Name of the IP header's ECN field.
    pub(crate) ecn: Option<String>,
    pub(crate) flags: Flags,
    /// Number of its first byte.
    pub(crate) seq: u32,
    /// Bytes of payload; 0 where it has none.
    pub(crate) payload_bytes: u32,
    pub(crate) ack: Option<u32>,
    /// The header's window field.
    pub(crate) window: Option<u32>,
    /// `None`: any options (`<...>`).
    pub(crate) options: Option<Vec<TcpOption>>,
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TcpOption {
    Mss(u32),
    WindowScale(u32),
    SackPermitted,
    Timestamps {
        val: u32,
        ecr: u32,
    },
    Sack(Vec<(u32, u32)>),
    AccEcn(AccEcnFields),
    Padding,
    /// One that the host does not have.
    Other(String),
}

/// Counters of an AccECN option; those at the end may be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AccEcnFields {
    pub(crate) ect0_bytes: Option<u32>,
    pub(crate) ce_bytes: Option<u32>,
    pub(crate) ect1_bytes: Option<u32>,
}

/// A call with what it must return.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) args: Vec<Value>,
    /// `None`: anything (`...`).
    pub(crate) result: Option<i64>,
    pub(crate) errno: Option<String>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Three dots: any value fits.
    Any,
    Number(i64),
    /// Names joined by `|`.
    Symbols(Vec<String>),
    Text(String),
    List(Vec<Value>),
    /// Members; those without a name have an empty one.
    Struct(Vec<(String, Value)>),
}

impl PacketSpec {
    /// The sequence number after it.
    pub(crate) fn seq_end(&self) -> u32 {
        self.seq + self.payload_bytes + u32::from(self.flags.syn) + u32::from(self.flags.fin)
    }

    /// The options there are.
    pub(crate) fn options(&self) -> &[TcpOption] {
        self.options.as_deref().unwrap_or_default()
    }

    /// TSval and TSecr.
    pub(crate) fn timestamps(&self) -> Option<(u32, u32)> {
        self.options().iter().find_map(|option| match option {
            TcpOption::Timestamps { val, ecr } => Some((*val, *ecr)),
            _ => None,
        })
    }

    /// SACK blocks, bytes.
    pub(crate) fn sack(&self) -> &[(u32, u32)] {
        let blocks = self.options().iter().find_map(|option| match option {
            TcpOption::Sack(blocks) => Some(blocks.as_slice()),
            _ => None,
        });
        blocks.unwrap_or_default()
    }

    /// The AccECN option.
    pub(crate) fn accecn(&self) -> Option<AccEcnFields> {
        self.options().iter().find_map(|option| match option {
            TcpOption::AccEcn(fields) => Some(*fields),
            _ => None,
        })
    }

    pub(crate) fn mss_bytes(&self) -> Option<u32> {
        self.options().iter().find_map(|option| match option {
            TcpOption::Mss(bytes) => Some(*bytes),
            _ => None,
        })
    }

    pub(crate) fn window_scale(&self) -> Option<u32> {
        self.options().iter().find_map(|option| match option {
            TcpOption::WindowScale(shift) => Some(*shift),
            _ => None,
        })
    }

    pub(crate) fn permits_sack(&self) -> bool {
        self.options().contains(&TcpOption::SackPermitted)
    }
}

impl Value {
    pub(crate) fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::List(values) if values.len() == 1 => values[0].number(),
            _ => None,
        }
    }

    /// Whether it is this name, or one of the names it joins.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self, Self::Symbols(names) if names.iter().any(|own| own == name))
    }
}
