//! `now()` and `today()`: the time of the query, as a value that is compared.

use documents::Date;

use super::{Clause, Function, Use};
use crate::plan::Scalar;
use crate::rql::Call;

pub(crate) static NOW: Function = Function {
    name: "now",
    aliases: &[],
    arguments: &[],
    about: "The time of the query (UTC), as documents have dates. It is read once, when the query begins.",
    example: "from Orders where RequireAt < now()",
    uses: &[Use::Known(Clause::Value)],
    missing: &[],
};

pub(crate) static TODAY: Function = Function {
    name: "today",
    aliases: &[],
    arguments: &[],
    about: "The beginning of the day of the query (UTC).",
    example: "from Orders where OrderedAt >= today()",
    uses: &[Use::Known(Clause::Value)],
    missing: &[],
};

/// The value of a call of one of them; `None`: it is neither, or has arguments.
pub(super) fn value_of(call: &Call<'_>, now: Date) -> Option<Scalar> {
    if !call.arguments.is_empty() || call.member.is_some() {
        return None;
    }
    let text = now.to_string();
    if NOW.is(&call.name) {
        return Some(Scalar::Text(text));
    }
    let day = text.get(..10)?;
    TODAY.is(&call.name).then(|| Scalar::Text(format!("{day}T00:00:00.0000000Z")))
}

/// Whether a query may read the time: its text has one of the names as a word before a parenthesis.
pub fn may_read_time(query: &str) -> bool {
    let text = query.as_bytes();
    let mut parentheses = text.iter().enumerate().filter(|(_, byte)| **byte == b'(');
    parentheses.any(|(at, _)| {
        let word = text.get(..at).unwrap_or_default().trim_ascii_end();
        [NOW.name, TODAY.name].iter().any(|name| {
            let Some((front, end)) = word.len().checked_sub(name.len()).map(|at| word.split_at(at)) else {
                return false;
            };
            let is_word = front.last().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
            is_word && end.eq_ignore_ascii_case(name.as_bytes())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::may_read_time;

    #[test]
    fn names_count_as_words_before_a_parenthesis() {
        for query in ["from U where A < now()", "from U where A > TODAY ( )", "from U where A in (1) and B<Now()"] {
            assert!(may_read_time(query), "{query}");
        }
        for query in ["from Known where search(A, 'x')", "from U where known(A)", "from U where Now = 1", "now", ""] {
            assert!(!may_read_time(query), "{query}");
        }
    }
}
