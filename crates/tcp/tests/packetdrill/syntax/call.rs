//! `setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0`

use winnow::Result;
use winnow::combinator::{alt, delimited, opt, preceded, separated, terminated};
use winnow::prelude::*;
use winnow::token::{take_till, take_while};

use super::{name, number, token};
use crate::script::{Call, Value};

pub(super) fn call(input: &mut &str) -> Result<Call> {
    let name = name.parse_next(input)?;
    let args = delimited(token('('), list, token(')')).parse_next(input)?;
    let _ = token('=').parse_next(input)?;
    let result = token(alt(("...".value(None), number.map(Some)))).parse_next(input)?;
    let errno = opt(token(errno)).parse_next(input)?;
    // What the number means, in brackets.
    let _ = opt(token(delimited('(', take_till(0.., ')'), ')'))).parse_next(input)?;
    Ok(Call {
        name: name.to_owned(),
        args,
        result,
        errno: errno.map(str::to_owned),
    })
}

fn errno<'i>(input: &mut &'i str) -> Result<&'i str> {
    let letters = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
    ('E', take_while(1.., letters)).take().parse_next(input)
}

fn list(input: &mut &str) -> Result<Vec<Value>> {
    separated(0.., value, token(',')).parse_next(input)
}

fn value(input: &mut &str) -> Result<Value> {
    let text = delimited('"', take_till(0.., '"'), '"').map(|text: &str| Value::Text(text.into()));
    let symbols = separated(1.., token(name), token('|'))
        .map(|names: Vec<&str>| Value::Symbols(names.into_iter().map(str::to_owned).collect()));
    let members = separated(0.., member, token(','));
    token(alt((
        "...".value(Value::Any),
        number.map(Value::Number),
        text,
        delimited('[', list, token(']')).map(Value::List),
        delimited('{', members, token('}')).map(Value::Struct),
        symbols,
    )))
    .parse_next(input)
}

/// `name=value`, `name(how many)=value`, or a value.
fn member(input: &mut &str) -> Result<(String, Value)> {
    let how_many = opt(delimited(token('('), value, token(')')));
    let named = terminated(token(name), (how_many, token('=')));
    alt((
        (named, value).map(|(name, value): (&str, Value)| (name.to_owned(), value)),
        preceded("", value).map(|value| (String::new(), value)),
    ))
    .parse_next(input)
}
