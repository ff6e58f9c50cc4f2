//! The calls that scripts make.

use super::{Descriptor, Host, Stop};
use crate::connection::Connection;
use crate::script::{Call, Value};

/// The number of the first file descriptor.
const FIRST_DESCRIPTOR: i64 = 3;

/// What a call returns: a number, or the name of an error.
type Returned = Result<i64, &'static str>;

impl Host {
    /// Makes a call and compares what it returns.
    pub(crate) fn call(&mut self, call: &Call) -> Result<(), Stop> {
        let returned = self.make(call)?;
        let (number, errno) = match returned {
            Ok(number) => (number, None),
            Err(errno) => (-1, Some(errno)),
        };
        let is_same = call.result.is_none_or(|wanted| wanted == number)
            && (call.errno.is_none() || call.errno.as_deref() == errno);
        if is_same {
            return Ok(());
        }
        let errno = errno.map_or_else(String::new, |errno| format!(" {errno}"));
        let name = &call.name;
        Err(Stop::Differs(format!("`{name}` returns {number}{errno}")))
    }

    fn make(&mut self, call: &Call) -> Result<Returned, Stop> {
        let arg = |index: usize| call.args.get(index).unwrap_or(&Value::Any);
        Ok(match call.name.as_str() {
            "socket" => {
                if !arg(1).has("SOCK_STREAM") {
                    return unsupported("a socket that is not TCP's");
                }
                self.is_nonblocking = arg(1).has("SOCK_NONBLOCK");
                // A script may begin at another number than the first free one.
                let wanted = call.result.unwrap_or(FIRST_DESCRIPTOR) - FIRST_DESCRIPTOR;
                while (self.descriptors.len() as i64) < wanted {
                    self.descriptors.push(Descriptor::Closed);
                }
                Ok(self.new_descriptor(Descriptor::Socket))
            }
            "open" => Ok(self.new_descriptor(Descriptor::File)),
            "bind" => Ok(0),
            "listen" => {
                self.is_listening = true;
                self.set_descriptor(arg(0), Descriptor::Listener)
            }
            "accept" if self.is_connected() => Ok(self.new_descriptor(Descriptor::Connection)),
            "accept" => return unsupported("a blocking `accept`"),
            "connect" => self.connect(arg(0))?,
            "fcntl" if arg(1).has("F_SETFL") => {
                self.is_nonblocking = arg(2).has("O_NONBLOCK");
                Ok(0)
            }
            "fcntl" => Ok(call.result.unwrap_or(0)),
            "setsockopt" => self.set_option(arg(2), arg(3))?,
            "getsockopt" => return self.option(arg(2), arg(3)).map(|()| Ok(0)),
            "write" | "send" | "sendto" => {
                let bytes = arg(2).number().unwrap_or(0);
                self.write(bytes, arg(3))?
            }
            "sendfile" => self.write(arg(3).number().unwrap_or(0), &Value::Any)?,
            "sendmsg" => self.write(vector_bytes(arg(1)), arg(2))?,
            "writev" => self.write(vector_bytes(arg(1)), &Value::Any)?,
            "read" | "recv" if self.descriptor(arg(0)) == Some(&mut Descriptor::Listener) => {
                Err("ENOTCONN")
            }
            "read" | "recv" => self.read(arg(2).number().unwrap_or(0))?,
            "recvmsg" => self.receive_message(arg(1))?,
            "ioctl" if arg(1).has("SIOCINQ") => self.queued(arg(2)),
            "close" => self.close(arg(0))?,
            "shutdown" => self.shut_down(arg(1))?,
            name => return unsupported(&format!("the call `{name}`")),
        })
    }

    fn new_descriptor(&mut self, descriptor: Descriptor) -> i64 {
        self.descriptors.push(descriptor);
        self.descriptors.len() as i64 - 1 + FIRST_DESCRIPTOR
    }

    fn descriptor(&mut self, number: &Value) -> Option<&mut Descriptor> {
        let index = number.number()? - FIRST_DESCRIPTOR;
        self.descriptors.get_mut(usize::try_from(index).ok()?)
    }

    fn set_descriptor(&mut self, number: &Value, descriptor: Descriptor) -> Returned {
        let own = self.descriptor(number).ok_or("EBADF")?;
        *own = descriptor;
        Ok(0)
    }

    fn connect(&mut self, number: &Value) -> Result<Returned, Stop> {
        if self.is_connected() {
            return Ok(Ok(0));
        }
        if let Err(errno) = self.set_descriptor(number, Descriptor::Connection) {
            return Ok(Err(errno));
        }
        self.open(true, None)?;
        Ok(if self.is_nonblocking {
            Err("EINPROGRESS")
        } else {
            Ok(0) // the runner waits for it
        })
    }

    fn write(&mut self, bytes: i64, flags: &Value) -> Result<Returned, Stop> {
        for flag in ["MSG_ZEROCOPY", "MSG_FASTOPEN", "MSG_OOB", "MSG_EOR"] {
            if flags.has(flag) {
                return unsupported(&format!("`{flag}`"));
            }
        }
        let Ok(bytes) = u32::try_from(bytes) else {
            return Ok(Err("EINVAL"));
        };
        if self.is_write_shut {
            return Ok(Err("EPIPE"));
        }
        if !self.is_connected() {
            return unsupported("a write before the connection is established");
        }
        let (now_ns, more) = (self.now_ns, flags.has("MSG_MORE"));
        self.with_connection(|own| own.write(now_ns, bytes, more));
        Ok(Ok(i64::from(bytes)))
    }

    fn queued_bytes(&self) -> i64 {
        let received_bytes = self
            .connection
            .as_ref()
            .map_or(0, Connection::received_bytes);
        (received_bytes - self.read_bytes) as i64
    }

    fn read(&mut self, most_bytes: i64) -> Result<Returned, Stop> {
        let bytes = self.queued_bytes().min(most_bytes);
        let has_ended = self
            .connection
            .as_ref()
            .is_some_and(Connection::has_peer_fin)
            || self.is_read_shut;
        if bytes == 0 && most_bytes > 0 && !has_ended {
            if self.is_nonblocking {
                return Ok(Err("EAGAIN"));
            }
            return unsupported("a blocking `read`");
        }
        self.read_bytes += bytes as u64;
        Ok(Ok(bytes))
    }

    /// `recvmsg`, with what is left to be read (`TCP_CM_INQ`) if it is asked for.
    fn receive_message(&mut self, message: &Value) -> Result<Returned, Stop> {
        let returned = self.read(vector_bytes(message))?;
        let has_ended = self
            .connection
            .as_ref()
            .is_some_and(Connection::has_peer_fin);
        let left_bytes = match self.queued_bytes() {
            0 => i64::from(has_ended), // the end counts as a byte
            bytes => bytes,
        };
        if let Some(wanted) = member(message, "msg_control")
            && let Value::List(controls) = wanted
            && let Some(wanted) = controls.first().and_then(|own| member(own, "cmsg_data"))
            && wanted.number() != Some(left_bytes)
        {
            return Err(Stop::Differs(format!(
                "{left_bytes} bytes are left to read"
            )));
        }
        Ok(returned)
    }

    fn queued(&self, wanted: &Value) -> Returned {
        if wanted.number() == Some(self.queued_bytes()) {
            Ok(0)
        } else {
            Err("other bytes queued")
        }
    }

    fn close(&mut self, number: &Value) -> Result<Returned, Stop> {
        if !self.is_connected() && self.connection.is_some() {
            self.is_abandoned = true;
        }
        let is_connection = self
            .descriptor(number)
            .is_some_and(|own| *own == Descriptor::Connection);
        if is_connection && self.is_connected() {
            if self.queued_bytes() > 0 {
                return unsupported("closing with unread data, which resets the connection");
            }
            self.finish();
            self.with_connection(Connection::abandon);
        }
        Ok(self.set_descriptor(number, Descriptor::Closed))
    }

    fn shut_down(&mut self, how: &Value) -> Result<Returned, Stop> {
        if !self.is_connected() {
            return unsupported("shutting down what is not connected");
        }
        self.is_read_shut |= how.has("SHUT_RD") || how.has("SHUT_RDWR");
        if how.has("SHUT_WR") || how.has("SHUT_RDWR") {
            self.finish();
        }
        Ok(Ok(0))
    }

    /// Nothing more is written.
    fn finish(&mut self) {
        if !self.is_write_shut {
            self.is_write_shut = true;
            let now_ns = self.now_ns;
            self.with_connection(|connection| connection.close(now_ns));
        }
    }

    fn set_option(&mut self, name: &Value, value: &Value) -> Result<Returned, Stop> {
        let number = value.number().unwrap_or(0);
        let is_set = number != 0;
        let now_ns = self.now_ns;
        let Value::Symbols(names) = name else {
            return unsupported("an option without a name");
        };
        match names[0].as_str() {
            "TCP_NODELAY" => {
                self.nagle = !is_set;
                self.with_connection(|own| own.set_nagle(now_ns, !is_set));
            }
            "TCP_CORK" => {
                self.with_connection(|own| own.set_cork(now_ns, is_set));
            }
            "TCP_MAXSEG" => self.max_segment_bytes = number as u32,
            // What is written is never too much: calls that would block are not played.
            "SO_SNDBUF" | "SO_REUSEADDR" | "TCP_INQ" | "IP_TOS" | "IP_MTU_DISCOVER" => {}
            name => return unsupported(&format!("the socket option `{name}`")),
        }
        Ok(Ok(0))
    }

    fn option(&self, name: &Value, wanted: &Value) -> Result<(), Stop> {
        let value = if name.has("TCP_MAXSEG") {
            let own = self.connection.as_ref();
            own.map_or(self.max_segment_bytes, Connection::mss_bytes)
        } else if name.has("SO_ERROR") || name.has("TCP_NOTSENT_LOWAT") {
            0
        } else {
            return unsupported(&format!("`getsockopt` of {name:?}"));
        };
        if wanted.number() == Some(i64::from(value)) {
            return Ok(());
        }
        Err(Stop::Differs(format!("`getsockopt` returns {value}")))
    }
}

fn unsupported<T>(what: &str) -> Result<T, Stop> {
    Err(Stop::Unsupported(what.to_owned()))
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Struct(members) => members.iter().find(|own| own.0 == name).map(|own| &own.1),
        _ => None,
    }
}

/// The bytes of `msg_iov`, or of a list of buffers with their lengths.
fn vector_bytes(value: &Value) -> i64 {
    let buffers = member(value, "msg_iov").unwrap_or(value);
    let Value::List(buffers) = buffers else {
        return 0;
    };
    let len = |buffer: &Value| match buffer {
        Value::Struct(members) => members.last().and_then(|own| own.1.number()),
        _ => None,
    };
    buffers.iter().filter_map(len).sum()
}
