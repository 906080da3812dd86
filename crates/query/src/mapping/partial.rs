//! Whether a reduce gives the same from parts' results as from all values at once.
//!
//! It does if each field of its outputs is of one of these kinds, and nothing else of the group is asked:
//!
//! * the key, or the part of it of the same name, which values have under that name;
//! * the sum, the least, the greatest, the first or the last of that field over the group;
//! * what is computed from the key, from constants and from fields of the second kind.
//!
//! Where that cannot be told, a group is reduced whole each time: slower for large groups, and never wrong.

use super::expression::{Expression, Fold, Program, SequenceStep, Slot};

/// The group, and in what stands before it the mapped value.
const INPUT: Slot = 0;

/// Whether results of a reduce can be reduced again with others.
///
/// * `before`: from a mapped value to the values of the key and the element.
/// * `after`: from a group to its outputs.
pub(super) fn is_partial(before: &Program, after: &Program, has_object_key: bool) -> bool {
    let Some((element, keys)) = before.values.split_last() else { return false };
    let names = before.names.iter().take(keys.len());
    let keeps_keys = keys.iter().zip(names).all(|(key, name)| {
        let Some(field) = field_of_value(before, key) else { return false };
        let is_kept = |(output, value): (&str, &Expression)| {
            *output == *field && is_key(value, has_object_key.then_some(&**name))
        };
        after.names.iter().map(|name| &**name).zip(&after.values).any(is_kept)
    });
    let is_row = before.steps.is_empty() && matches!(element, Expression::Variable(INPUT));
    if !keeps_keys || !is_row || after.boost.is_some() {
        return false;
    }
    let kept: Vec<(Aggregate, &str)> = after
        .names
        .iter()
        .zip(&after.values)
        .filter_map(|(name, value)| aggregate(variable(after, value)).filter(|(_, field)| *field == &**name))
        .collect();
    let mut known = Vec::new();
    for step in &after.steps {
        match step {
            SequenceStep::Let { slot, value } if is_made_of(value, &kept, &known) => known.push(*slot),
            _ => return false,
        }
    }
    after.values.iter().all(|value| is_made_of(value, &kept, &known))
}

/// What a variable stands for; anything else is itself.
fn variable<'p>(after: &'p Program, value: &'p Expression) -> &'p Expression {
    let Expression::Variable(wanted) = value else { return value };
    let found = after.steps.iter().find_map(|step| match step {
        SequenceStep::Let { slot, value } if slot == wanted => Some(value),
        _ => None,
    });
    found.unwrap_or(value)
}

/// What is made of a field over the group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aggregate {
    Sum,
    Min,
    Max,
    First,
    Last,
}

/// The property of the mapped value that an expression is.
fn field_of_value<'p>(before: &'p Program, key: &'p Expression) -> Option<&'p str> {
    match key {
        Expression::DocumentField(place) => before.fields.get(*place).map(|name| &**name),
        Expression::Member(member) if matches!(member.object, Expression::Variable(INPUT)) => Some(&member.name),
        _ => None,
    }
}

/// Whether an expression is the key.
///
/// * `part`: its part of this name.
fn is_key(value: &Expression, part: Option<&str>) -> bool {
    let Expression::Member(member) = value else { return false };
    match part {
        Some(part) => &*member.name == part && is_key(&member.object, None),
        None => &*member.name == "Key" && matches!(member.object, Expression::Variable(INPUT)),
    }
}

/// The aggregate of a field that an expression is: `g.Sum(x => x.F)`, `g.First().F`.
fn aggregate(value: &Expression) -> Option<(Aggregate, &str)> {
    let kind = |fold: &Fold| {
        Some(match fold {
            Fold::Sum { .. } => Aggregate::Sum,
            Fold::Min => Aggregate::Min,
            Fold::Max => Aggregate::Max,
            Fold::First | Fold::FirstOrDefault => Aggregate::First,
            Fold::Last | Fold::LastOrDefault => Aggregate::Last,
            _ => return None,
        })
    };
    match value {
        Expression::Fold(fold, sequence) => {
            let [SequenceStep::Each { slot, source: Expression::Variable(INPUT) }] = sequence.steps.as_slice() else {
                return None;
            };
            let output = match &sequence.output {
                Expression::Convert(_, output) => output,
                output => output,
            };
            match output {
                Expression::Member(member) if matches!(member.object, Expression::Variable(of) if of == *slot) => {
                    Some((kind(fold)?, &member.name))
                }
                _ => None,
            }
        }
        Expression::Member(member) => match &member.object {
            Expression::Fold(fold, sequence) => match (sequence.steps.as_slice(), &sequence.output) {
                ([SequenceStep::Each { slot, source: Expression::Variable(INPUT) }], Expression::Variable(of))
                    if of == slot =>
                {
                    kind(fold)
                        .filter(|kind| matches!(kind, Aggregate::First | Aggregate::Last))
                        .map(|kind| (kind, &*member.name))
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Whether an expression asks nothing but the key, what is kept of the group, and variables that are made of these.
fn is_made_of(value: &Expression, kept: &[(Aggregate, &str)], known: &[Slot]) -> bool {
    let all = |values: &[Expression]| values.iter().all(|value| is_made_of(value, kept, known));
    if let Some(found) = aggregate(value) {
        return kept.contains(&found);
    }
    if is_key(value, None) {
        return true;
    }
    match value {
        Expression::Constant(_) => true,
        Expression::Variable(slot) => known.contains(slot),
        Expression::Member(member) => is_made_of(&member.object, kept, known),
        Expression::Negate(value)
        | Expression::Not(value)
        | Expression::Convert(_, value)
        | Expression::TryConvert(_, value) => is_made_of(value, kept, known),
        Expression::Binary(_, pair) | Expression::And(pair) | Expression::Or(pair) | Expression::Coalesce(pair) => {
            all(pair.as_slice())
        }
        Expression::Conditional(three) => all(three.as_slice()),
        Expression::Call(_, arguments) => all(arguments),
        Expression::Object(object) => all(&object.values),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::mapping::Reduce;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(Reduce::compile(text).unwrap().is_partial(), expected, "{text}");
    }

    #[test]
    fn sums_of_the_same_field_are_partial() {
        check("from r in results group r by r.A into g select new { A = g.Key, N = g.Sum(x => x.N) }", true);
        check(
            "results.GroupBy(r => new { r.A, B = r.B }).Select(g => new { A = g.Key.A, B = g.Key.B, N = Enumerable.Sum(g, r => ((double) r.N)), M = g.Max(x => x.M) })",
            true,
        );
        check(
            "from r in results group r by r.A into g let n = g.Sum(x => x.N) let c = g.Sum(x => x.C) select new { A = g.Key, N = n, C = c, Average = n / c }",
            true,
        );
        check(
            "from r in results group r by r.A into g select new { A = g.Key, N = g.Sum(x => x.N), C = g.Sum(x => x.C), Average = g.Sum(x => x.N) / g.Sum(x => x.C) }",
            true,
        );
        check(
            "from r in results group r by r.A into g select new { A = g.Key, Name = g.First().Name, L = g.Select(x => x.L).LastOrDefault() }",
            true,
        );
    }

    #[test]
    fn what_looks_at_single_values_is_not() {
        for text in [
            "from r in results group r by r.A into g select new { A = g.Key, N = g.Count() }",
            "from r in results group r by r.A into g select new { A = g.Key, N = g.Average(x => x.N) }",
            "from r in results group r by r.A into g select new { A = g.Key, N = g.Sum(x => x.M), M = 0 }",
            "from r in results group r by r.A into g select new { A = g.Key, N = g.Sum(x => x.N), M = g.Max(x => x.N) }",
            "from r in results group r by r.A into g where g.Sum(x => x.N) > 1 select new { A = g.Key, N = g.Sum(x => x.N) }",
            "from r in results group r by r.A into g select new { B = g.Key, N = g.Sum(x => x.N) }",
            "from r in results group r by r.A.ToLower() into g select new { A = g.Key, N = g.Sum(x => x.N) }",
            "from r in results where r.N > 1 group r by r.A into g select new { A = g.Key, N = g.Sum(x => x.N) }",
            "results.GroupBy(r => r.A, r => r.N).Select(g => new { A = g.Key, N = g.Sum() })",
            "from r in results group r by r.A into g select new { A = g.Key, N = g.Where(x => x.N > 1).Sum(x => x.N) }",
        ] {
            check(text, false);
        }
    }
}
