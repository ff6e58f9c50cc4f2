//! Assertions between `%{` and `}%`: the little Python that scripts use to check `TCP_INFO`.
//!
//! Statements are `assert condition[, message]`, `print(…)`, which is ignored, and assignments;
//! expressions have integers, names, arithmetic, comparisons (chained too), `and`, `or` and `not`.

mod expression;

use std::collections::BTreeMap;

use expression::Expression;

/// What the code of one script remembers.
#[derive(Debug, Default)]
pub(crate) struct Assertions {
    variables: BTreeMap<String, i64>,
}

impl Assertions {
    /// Runs `code`; `known` gives the values of the connection's names. The error says what does
    /// not hold, or is not understood.
    pub(crate) fn run(
        &mut self,
        code: &str,
        known: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<(), String> {
        let code = code.replace("\\\n", " ");
        for line in code.lines() {
            let line = line.split('#').next().unwrap_or_default();
            for statement in line.split(';').map(str::trim) {
                if !statement.is_empty() && !statement.starts_with("print(") {
                    self.run_statement(statement, known)?;
                }
            }
        }
        Ok(())
    }

    fn run_statement(
        &mut self,
        statement: &str,
        known: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<(), String> {
        let variables = &self.variables;
        let lookup = |name: &str| variables.get(name).copied().or_else(|| known(name));
        if let Some(condition) = statement.strip_prefix("assert ") {
            // A message may follow; the values say more.
            let (expression, rest) = Expression::parse(condition)?;
            if !rest.is_empty() && !rest.starts_with(',') {
                return Err(format!("`{rest}` is not understood"));
            }
            if expression.value(&lookup)? == 0 {
                let text = &condition[..condition.len() - rest.len()];
                return Err(format!(
                    "`{text}` does not hold{}",
                    expression.names_shown(&lookup)
                ));
            }
            return Ok(());
        }
        let Some((target, expression)) = statement.split_once('=') else {
            return Err(format!("`{statement}` is not understood"));
        };
        let name = target.trim_end_matches('+').trim();
        let (expression, rest) = Expression::parse(expression)?;
        if !rest.is_empty() {
            return Err(format!("`{rest}` is not understood"));
        }
        let mut value = expression.value(&lookup)?;
        if target.ends_with('+') {
            value += lookup(name).ok_or_else(|| format!("`{name}` has no value"))?;
        }
        self.variables.insert(name.to_owned(), value);
        Ok(())
    }
}
