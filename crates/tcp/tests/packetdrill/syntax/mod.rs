//! The language of packetdrill scripts, as far as TCP over IPv4 needs it.

mod call;
mod packet;

use winnow::Result;
use winnow::ascii::{digit1, multispace1, till_line_ending};
use winnow::combinator::{alt, delimited, opt, preceded, repeat, separated_pair};
use winnow::prelude::*;
use winnow::token::{take_until, take_while};

use crate::script::{Action, Event, Script, Time, TimeEnd};

/// Parses a script; the error says which line is not understood.
pub(crate) fn parse(text: &str) -> std::result::Result<Script, String> {
    let mut script = Script::default();
    let mut rest = text;
    loop {
        blank(&mut rest).map_err(|_| "a comment does not end".to_owned())?;
        if rest.is_empty() {
            return Ok(script);
        }
        let before = rest;
        let line = text[..text.len() - rest.len()].matches('\n').count() + 1;
        if let Ok(option) = option_line(&mut rest) {
            script.options.push(option);
            continue;
        }
        rest = before;
        let Ok((time, action)) = event(&mut rest) else {
            let what = before.lines().next().unwrap_or_default();
            return Err(format!("line {line}: `{what}` is not understood"));
        };
        script.events.push(Event { line, time, action });
    }
}

/// White space and comments.
fn blank(input: &mut &str) -> Result<()> {
    let line_comment = ("//", till_line_ending).void();
    let block_comment = ("/*", take_until(0.., "*/"), "*/").void();
    repeat(0.., alt((multispace1.void(), line_comment, block_comment))).parse_next(input)
}

/// A parser with white space and comments before it.
fn token<'i, T>(
    parser: impl Parser<&'i str, T, ContextErr>,
) -> impl Parser<&'i str, T, ContextErr> {
    preceded(blank, parser)
}

type ContextErr = winnow::error::ContextError;

/// An option line, `--name=value`.
fn option_line(input: &mut &str) -> Result<(String, String)> {
    let name = take_while(1.., |c: char| c.is_alphanumeric() || c == '_');
    let value = opt(preceded('=', take_while(0.., |c: char| !c.is_whitespace())));
    (preceded("--", name), value)
        .map(|(name, value): (&str, Option<&str>)| {
            (name.to_owned(), value.unwrap_or_default().to_owned())
        })
        .parse_next(input)
}

fn event(input: &mut &str) -> Result<(Time, Action)> {
    let time = opt(time).parse_next(input)?.unwrap_or(Time::NOW);
    let code = delimited("%{", take_until(0.., "}%"), "}%");
    let shell = delimited('`', take_until(0.., '`'), '`');
    let action = token(alt((
        code.map(|code: &str| Action::Asserts(code.to_owned())),
        shell.map(|lines: &str| Action::Shell(lines.to_owned())),
        preceded('<', packet::packet).map(Action::Receives),
        preceded('>', packet::packet).map(Action::Sends),
        call::call.map(Action::Calls),
    )))
    .parse_next(input)?;
    Ok((time, action))
}

fn time(input: &mut &str) -> Result<Time> {
    let any = Time {
        end: TimeEnd::Any,
        ..Time::NOW
    };
    let until = preceded((blank, '~', blank, opt('+')), seconds_us).map(TimeEnd::Until);
    let returns = preceded((blank, "...", blank, opt('+')), seconds_us).map(TimeEnd::Returns);
    let timed =
        (opt('+'), seconds_us, opt(alt((until, returns)))).map(|(plus, start_us, end)| Time {
            is_relative: plus.is_some(),
            start_us,
            end: end.unwrap_or(TimeEnd::Same),
        });
    alt((('*').value(any), timed)).parse_next(input)
}

/// Decimal seconds, in whole µs.
fn seconds_us(input: &mut &str) -> Result<u64> {
    let fraction = preceded('.', digit1);
    alt((
        (digit1, opt(fraction)).map(|(whole, fraction): (&str, Option<&str>)| (whole, fraction)),
        preceded('.', digit1).map(|fraction: &str| ("0", Some(fraction))),
    ))
    .verify_map(|(whole, fraction)| {
        let micros = format!("{:0<6}", fraction.unwrap_or_default());
        Some(whole.parse::<u64>().ok()? * 1_000_000 + micros.get(..6)?.parse::<u64>().ok()?)
    })
    .parse_next(input)
}

/// A decimal or hexadecimal number, perhaps negative.
fn number(input: &mut &str) -> Result<i64> {
    let hex = preceded("0x", take_while(1.., |c: char| c.is_ascii_hexdigit()))
        .verify_map(|digits| i64::from_str_radix(digits, 16).ok());
    let decimal = digit1.verify_map(|digits: &str| digits.parse().ok());
    (opt('-'), alt((hex, decimal)))
        .map(|(minus, size): (_, i64)| if minus.is_some() { -size } else { size })
        .parse_next(input)
}

/// A decimal number of 32 bits.
fn number_u32(input: &mut &str) -> Result<u32> {
    digit1
        .verify_map(|digits: &str| digits.parse().ok())
        .parse_next(input)
}

/// A name, as C has it.
fn name<'i>(input: &mut &'i str) -> Result<&'i str> {
    let first = take_while(1, |c: char| c.is_ascii_alphabetic() || c == '_');
    let others = take_while(0.., |c: char| c.is_ascii_alphanumeric() || c == '_');
    (first, others).take().parse_next(input)
}

/// Byte numbers `start:end`, the end excluded.
fn range(input: &mut &str) -> Result<(u32, u32)> {
    separated_pair(number_u32, ':', number_u32).parse_next(input)
}
