//! `[ect0] FP. 1:1001(1000) ack 1 win 257 <sack 2001:3001,nop,nop>`

use winnow::Result;
use winnow::combinator::{alt, delimited, opt, preceded, repeat, separated};
use winnow::prelude::*;
use winnow::token::take_while;

use super::{blank, number_u32, range, token};
use crate::script::{AccEcnFields, Flags, PacketSpec, TcpOption};

pub(super) fn packet(input: &mut &str) -> Result<PacketSpec> {
    let ecn = delimited(
        '[',
        take_while(1.., |c: char| c.is_ascii_alphanumeric()),
        ']',
    );
    let ecn = opt(token(ecn)).parse_next(input)?;
    let flags = token(flags).parse_next(input)?;
    let (seq, _) = token(range).parse_next(input)?;
    let payload_bytes = delimited('(', number_u32, ')').parse_next(input)?;
    let ack = opt(preceded((blank, "ack", blank), number_u32)).parse_next(input)?;
    let window = opt(preceded((blank, "win", blank), number_u32)).parse_next(input)?;
    let _ = opt(preceded((blank, "urg", blank), number_u32)).parse_next(input)?;
    let options = opt(token(options)).parse_next(input)?;
    Ok(PacketSpec {
        ecn: ecn.map(str::to_owned),
        flags,
        seq,
        payload_bytes,
        ack,
        window,
        options: options.unwrap_or(Some(Vec::new())),
    })
}

/// Letters of flags, a dot for ACK, a digit for the three of Accurate ECN; a lone dash for none. PSH is
/// not kept: it says nothing about when and what a TCP sends.
fn flags(input: &mut &str) -> Result<Flags> {
    let none = '-'.value("");
    let some = take_while(1.., |c: char| "SFRPUEWA.01234567".contains(c));
    alt((none, some))
        .map(|letters: &str| {
            let flags = Flags {
                syn: letters.contains('S'),
                fin: letters.contains('F'),
                rst: letters.contains('R'),
                ack: letters.contains('.'),
                ece: letters.contains('E'),
                cwr: letters.contains('W'),
                ae: letters.contains('A'),
            };
            match letters.chars().find_map(|letter| letter.to_digit(8)) {
                Some(ace) => flags.with_ace(ace as u8),
                None => flags,
            }
        })
        .parse_next(input)
}

/// Options in `<>`; `None`: any may be there.
fn options(input: &mut &str) -> Result<Option<Vec<TcpOption>>> {
    let any = "...".value(None);
    let listed = separated(0.., token(option), token(',')).map(Some);
    delimited('<', token(alt((any, listed))), token('>')).parse_next(input)
}

fn option(input: &mut &str) -> Result<TcpOption> {
    let timestamps = (
        preceded(("TS", blank, "val", blank), number_u32),
        preceded((blank, "ecr", blank), number_u32),
    );
    let blocks = repeat(1.., token(range));
    alt((
        preceded(("mss", blank), number_u32).map(TcpOption::Mss),
        preceded(("wscale", blank), number_u32).map(TcpOption::WindowScale),
        "sackOK".value(TcpOption::SackPermitted),
        timestamps.map(|(val, ecr)| TcpOption::Timestamps { val, ecr }),
        preceded("sack", blocks).map(TcpOption::Sack),
        preceded("ECN", accecn).map(TcpOption::AccEcn),
        alt(("nop", "eol")).value(TcpOption::Padding),
        other.map(TcpOption::Other),
    ))
    .parse_next(input)
}

/// `e0b 1 ceb 0 e1b 1`, in either order.
fn accecn(input: &mut &str) -> Result<AccEcnFields> {
    let field = || (token(alt(("e0b", "ceb", "e1b"))), token(number_u32));
    repeat(1..=3, field())
        .fold(AccEcnFields::default, |mut fields, (name, bytes)| {
            match name {
                "e0b" => fields.ect0_bytes = Some(bytes),
                "ceb" => fields.ce_bytes = Some(bytes),
                _ => fields.ect1_bytes = Some(bytes),
            }
            fields
        })
        .parse_next(input)
}

/// An option that this host does not have: its name; a value follows or does not.
fn other(input: &mut &str) -> Result<String> {
    let word = || take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_');
    let name: &str = word().parse_next(input)?;
    let _ = opt(preceded(blank, word())).parse_next(input)?;
    Ok(name.to_owned())
}
