//! Reduces in JavaScript as programs: the key always, what is made of a group where it is a key or a sum.

use super::super::expression::{Conversion, Expression, Fold, Member, Program, Sequence, SequenceStep, Slot, Type};
use super::super::property::Property;
use super::definition::SourceFunction;
use super::reduction::Key;
use super::syntax::{Lambda, parts, path, properties};

/// The mapped value, and behind it the group.
const INPUT: Slot = 0;

/// The value of the group that is summed.
const ELEMENT: Slot = 1;

/// From a mapped value to the values of its key, and itself.
pub(super) fn before(key: &Key<'_>) -> Program {
    let (mut names, mut values): (Vec<Box<str>>, Vec<Expression>) = match key {
        Key::Value(path) => (vec![path.last().copied().unwrap_or_default().into()], vec![members(INPUT, path)]),
        Key::Object(parts) => parts.iter().map(|(name, path)| (Box::from(*name), members(INPUT, path))).unzip(),
    };
    names.push("".into());
    values.push(Expression::Variable(INPUT));
    Program { names, values, slot_count: ELEMENT + 1, ..Program::default() }
}

/// From a group to its output, if that is an object of what is `g.key`, `g.key.a` and `g.values.reduce((sum, v) => sum + v.a, 0)`.
pub(super) fn after(function: &SourceFunction<'_>, key: &Key<'_>) -> Option<Program> {
    let words: Vec<&str> = function.tokens.iter().map(|token| &function.whole[token.start..token.end]).collect();
    let lambda = Lambda::of(&words)?;
    let [group] = lambda.parameters.as_slice() else { return None };
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (name, value) in properties(lambda.body)? {
        names.push(Box::from(name));
        values.push(of_key(value, group, key).or_else(|| sum(value, group))?);
    }
    (!names.is_empty()).then(|| Program { names, values, slot_count: ELEMENT + 1, ..Program::default() })
}

fn of_key(words: &[&str], group: &str, key: &Key<'_>) -> Option<Expression> {
    match (path(words, group)?.as_slice(), key) {
        (["key"], _) => Some(group_key()),
        (["key", part], Key::Object(_)) => Some(member(group_key(), part)),
        _ => None,
    }
}

fn group_key() -> Expression {
    let member = Member { object: Expression::Variable(INPUT), name: "Key".into(), property: Property::of("Key") };
    Expression::Member(Box::new(member))
}

/// Sums doubles, as JavaScript does; null counts as 0 in both. What is missing does here, and makes NaN there.
fn sum(words: &[&str], group: &str) -> Option<Expression> {
    let [of, ".", "values", ".", "reduce", "(", arguments @ .., ")"] = words else { return None };
    let arguments: Vec<&[&str]> = parts(arguments).collect();
    let [function, ["0"]] = arguments.as_slice() else { return None };
    let lambda = Lambda::of(function)?;
    let [sum, value] = lambda.parameters.as_slice() else { return None };
    let field = match lambda.body {
        [from, ".", field, "+", to] | [to, "+", from, ".", field] if from == value && to == sum && sum != value => {
            field
        }
        _ => return None,
    };
    let steps = vec![SequenceStep::Each { slot: ELEMENT, source: Expression::Variable(INPUT) }];
    let to_double = Conversion { to: Type::Double, is_nullable: true, parses: false };
    let output = Expression::Convert(to_double, Box::new(members(ELEMENT, &[field])));
    let sequence = Box::new(Sequence { steps, output });
    (*of == group).then_some(Expression::Fold(Fold::Sum { is_typed: true }, sequence))
}

fn members(of: Slot, path: &[&str]) -> Expression {
    path.iter().fold(Expression::Variable(of), |object, name| member(object, name))
}

fn member(object: Expression, name: &str) -> Expression {
    Expression::Member(Box::new(Member { object, name: name.into(), property: None }))
}
