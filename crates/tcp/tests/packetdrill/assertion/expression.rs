//! Integer expressions in Python's syntax.

use winnow::Result;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, preceded, repeat};
use winnow::error::ContextError;
use winnow::prelude::*;
use winnow::token::take_while;

/// An expression; truth is 1 and 0.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Number(i64),
    Name(String),
    Not(Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
    /// The first operand, then comparisons that must all hold.
    Chain(Box<Self>, Vec<(&'static str, Self)>),
}

impl Expression {
    /// The expression at the start of `text`, and the rest of it.
    pub(super) fn parse(text: &str) -> std::result::Result<(Self, &str), String> {
        let mut rest = text;
        let expression =
            any_of(&mut rest).map_err(|_| format!("`{}` is not understood", text.trim()))?;
        Ok((expression, rest.trim_start()))
    }

    /// Its value, with the values of names from `lookup`.
    pub(super) fn value(
        &self,
        lookup: &dyn Fn(&str) -> Option<i64>,
    ) -> std::result::Result<i64, String> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Name(name) => lookup(name).ok_or_else(|| format!("`{name}` has no value"))?,
            Self::Not(operand) => i64::from(operand.value(lookup)? == 0),
            Self::Binary(operator, left, right) => {
                let left = left.value(lookup)?;
                match (*operator, left != 0) {
                    ("and", false) | ("or", true) => left,
                    ("and" | "or", _) => right.value(lookup)?,
                    _ => calculate(operator, left, right.value(lookup)?)?,
                }
            }
            Self::Chain(first, comparisons) => {
                let mut left = first.value(lookup)?;
                for (operator, right) in comparisons {
                    let right = right.value(lookup)?;
                    if !compare(operator, left, right) {
                        return Ok(0);
                    }
                    left = right;
                }
                1
            }
        })
    }

    /// The names in it with their values, for a message.
    pub(super) fn names_shown(&self, lookup: &dyn Fn(&str) -> Option<i64>) -> String {
        match self {
            Self::Number(_) => String::new(),
            Self::Name(name) => {
                lookup(name).map_or_else(String::new, |value| format!(", {name} = {value}"))
            }
            Self::Not(operand) => operand.names_shown(lookup),
            Self::Binary(_, left, right) => left.names_shown(lookup) + &right.names_shown(lookup),
            Self::Chain(first, comparisons) => comparisons
                .iter()
                .fold(first.names_shown(lookup), |shown, (_, right)| {
                    shown + &right.names_shown(lookup)
                }),
        }
    }
}

fn calculate(operator: &str, left: i64, right: i64) -> std::result::Result<i64, String> {
    let result = match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "//" => left.checked_div_euclid(right),
        _ => left.checked_rem_euclid(right),
    };
    result.ok_or_else(|| format!("{left} {operator} {right} has no value"))
}

fn compare(operator: &str, left: i64, right: i64) -> bool {
    match operator {
        "==" => left == right,
        "!=" => left != right,
        "<=" => left <= right,
        ">=" => left >= right,
        "<" => left < right,
        _ => left > right,
    }
}

fn word<'i>(text: &'static str) -> impl Parser<&'i str, &'static str, ContextError> {
    delimited(multispace0, text, multispace0).value(text)
}

/// Operands of one precedence, from left to right.
fn series(
    operand: fn(&mut &str) -> Result<Expression>,
    operator: impl Fn(&mut &str) -> Result<&'static str>,
    input: &mut &str,
) -> Result<Expression> {
    let first = operand(input)?;
    let others: Vec<(&'static str, Expression)> =
        repeat(0.., (&operator, operand)).parse_next(input)?;
    Ok(others.into_iter().fold(first, |left, (operator, right)| {
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }))
}

fn any_of(input: &mut &str) -> Result<Expression> {
    series(all_of, |input| word("or").parse_next(input), input)
}

fn all_of(input: &mut &str) -> Result<Expression> {
    series(negation, |input| word("and").parse_next(input), input)
}

fn negation(input: &mut &str) -> Result<Expression> {
    let not = preceded(word("not"), negation).map(|operand| Expression::Not(Box::new(operand)));
    alt((not, comparison)).parse_next(input)
}

fn comparison(input: &mut &str) -> Result<Expression> {
    let operator = alt((
        word("=="),
        word("!="),
        word("<="),
        word(">="),
        word("<"),
        word(">"),
    ));
    let first = sum(input)?;
    let comparisons: Vec<_> = repeat(0.., (operator, sum)).parse_next(input)?;
    Ok(if comparisons.is_empty() {
        first
    } else {
        Expression::Chain(Box::new(first), comparisons)
    })
}

fn sum(input: &mut &str) -> Result<Expression> {
    series(
        product,
        |input| alt((word("+"), word("-"))).parse_next(input),
        input,
    )
}

fn product(input: &mut &str) -> Result<Expression> {
    let operator = |input: &mut &str| alt((word("*"), word("//"), word("%"))).parse_next(input);
    series(operand, operator, input)
}

fn operand(input: &mut &str) -> Result<Expression> {
    let negative = preceded(word("-"), operand)
        .map(|operand| Expression::Binary("-", Box::new(Expression::Number(0)), Box::new(operand)));
    let hex = preceded("0x", take_while(1.., |c: char| c.is_ascii_hexdigit()))
        .verify_map(|digits| i64::from_str_radix(digits, 16).ok());
    let decimal = digit1.verify_map(|digits: &str| digits.parse().ok());
    let name = take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_');
    preceded(
        multispace0,
        alt((
            delimited(word("("), any_of, word(")")),
            negative,
            alt((hex, decimal)).map(Expression::Number),
            name.map(|name: &str| Expression::Name(name.to_owned())),
        )),
    )
    .parse_next(input)
}
