//! Shapes of JavaScript that are recognised in its words: functions of one expression, objects, members.
//!
//! Words are the texts of tokens. A string has its quotes, so that none of its contents is taken for a bracket.

/// A function that gives one expression.
#[derive(Debug)]
pub(super) struct Lambda<'w, 't> {
    pub parameters: Vec<&'t str>,
    /// Without parentheses around all of it.
    pub body: &'w [&'t str],
}

impl<'w, 't> Lambda<'w, 't> {
    /// Of `x => e`, `(x, y) => e`, `x => { return e; }`, `function (x) { return e; }`.
    pub fn of(words: &'w [&'t str]) -> Option<Lambda<'w, 't>> {
        let (parameters, body) = match words {
            ["function", "(", rest @ ..] => head(rest)?,
            ["function", _, "(", rest @ ..] => head(rest)?,
            ["(", rest @ ..] => {
                let (parameters, rest) = head(rest)?;
                (parameters, rest.strip_prefix(&["=>"])?)
            }
            [parameter, "=>", rest @ ..] if script::is_name(parameter) => (vec![*parameter], rest),
            _ => return None,
        };
        let body = match body {
            ["{", "return", inside @ .., "}"] => inside.strip_suffix(&[";"]).unwrap_or(inside),
            // Other statements; an object would be in parentheses.
            ["{", ..] => return None,
            body => body,
        };
        let is_one = at_depth_zero(body).all(|word| word != ";");
        is_one.then(|| Lambda { parameters, body: without_parentheses(body) })
    }
}

/// The parameters up to the parenthesis that closes them, and what is behind it.
fn head<'w, 't>(words: &'w [&'t str]) -> Option<(Vec<&'t str>, &'w [&'t str])> {
    let end = words.iter().position(|word| *word == ")")?;
    let (inside, rest) = (words.get(..end)?, words.get(end + 1..)?);
    let parameters = parts(inside).map(|part| match part {
        [name] if script::is_name(name) => Some(*name),
        _ => None,
    });
    Some((parameters.collect::<Option<Vec<_>>>()?, rest))
}

/// Where the bracket is that closes the one at `open`.
pub(super) fn closing(words: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, word) in words.iter().enumerate().skip(open) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
    }
    None
}

fn without_parentheses<'w, 't>(mut words: &'w [&'t str]) -> &'w [&'t str] {
    while words.first() == Some(&"(") && closing(words, 0) == words.len().checked_sub(1) {
        words = words.get(1..words.len() - 1).unwrap_or_default();
    }
    words
}

/// The words that stand in no bracket.
fn at_depth_zero<'w, 't>(words: &'w [&'t str]) -> impl Iterator<Item = &'t str> + 'w {
    let mut is_outside = outside();
    words.iter().copied().filter(move |word| is_outside(word))
}

/// What commas separate that stand in no bracket; nothing behind the last one is no part.
pub(super) fn parts<'w, 't>(words: &'w [&'t str]) -> impl Iterator<Item = &'w [&'t str]> {
    let mut is_outside = outside();
    let mut parts: Vec<_> = words.split(move |word| is_outside(word) && *word == ",").collect();
    parts.pop_if(|last| last.is_empty());
    parts.into_iter()
}

/// Tells of one word after the other whether it stands in no bracket.
fn outside() -> impl FnMut(&str) -> bool {
    let mut depth = 0_usize;
    move |word| {
        match word {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    }
}

/// The properties of `{ a: e, 'b': e }`, if all are of this form and none comes twice.
pub(super) fn properties<'w, 't>(words: &'w [&'t str]) -> Option<Vec<(&'t str, &'w [&'t str])>> {
    let ["{", inside @ .., "}"] = words else { return None };
    if closing(words, 0)? != words.len() - 1 {
        return None;
    }
    let property = |part: &'w [&'t str]| match part {
        [name, ":", value @ ..] if !value.is_empty() => {
            let quoted = name.strip_prefix(['\'', '"']).and_then(|name| name.strip_suffix(['\'', '"']));
            let name = quoted.filter(|name| !name.contains('\\')).or_else(|| is_word(name).then_some(*name))?;
            // It would be the prototype of the object.
            (name != "__proto__").then(|| (name, without_parentheses(value)))
        }
        _ => None,
    };
    let properties = parts(inside).map(property).collect::<Option<Vec<_>>>()?;
    let mut names: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    let is_each_once = names.windows(2).all(|pair| matches!(pair, [one, other] if one != other));
    is_each_once.then_some(properties)
}

/// The names of `x.a.b` for the parameter `x`, at least one.
pub(super) fn path<'t>(words: &[&'t str], parameter: &str) -> Option<Vec<&'t str>> {
    let (first, rest) = words.split_first()?;
    if *first != parameter || rest.is_empty() {
        return None;
    }
    let name = |pair: &[&'t str]| match pair {
        ["." | "?.", name] if is_word(name) => Some(*name),
        _ => None,
    };
    rest.chunks(2).map(name).collect()
}

fn is_word(text: &str) -> bool {
    text.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_' || first == '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        script::tokens(text).unwrap().iter().map(|token| &text[token.start..token.end]).collect()
    }

    #[test]
    fn functions_of_one_expression_are_found() {
        for (text, parameters, body) in [
            ("x => x.a", "x", "x . a"),
            ("(x) => (x.a)", "x", "x . a"),
            ("(x, y) => ({ a: (y) })", "x y", "{ a : ( y ) }"),
            ("x => { return { a: 1 }; }", "x", "{ a : 1 }"),
            ("function f(x) { return x.a }", "x", "x . a"),
            ("x => { return f(y => { return y; }); }", "x", "f ( y => { return y ; } )"),
            ("function (x) { return (x.a) + (x.b); }", "x", "( x . a ) + ( x . b )"),
        ] {
            let words = words(text);
            let lambda = Lambda::of(&words).unwrap();
            assert_eq!(
                (lambda.parameters.join(" "), lambda.body.join(" ")),
                (parameters.into(), body.into()),
                "{text}"
            );
        }
        for text in ["x", "x => { var a = 1; return a }", "function (x) { return x; f() }", "({ a }) => a", "f(x)"] {
            assert!(Lambda::of(&words(text)).is_none(), "{text}");
        }
    }

    #[test]
    fn objects_of_plain_properties_are_found() {
        let found = |text: &str| {
            let words = words(text);
            properties(&words).map(|found| found.iter().map(|(n, v)| format!("{n}={}", v.join(""))).collect::<Vec<_>>())
        };
        assert_eq!(found("{ a: x.y, 'b c': f(1, [2, 3]), }").unwrap(), ["a=x.y", "b c=f(1,[2,3])"]);
        assert_eq!(found("{}").unwrap(), [""; 0]);
        for text in ["{ a, b: 1 }", "{ ...a }", "{ [a]: 1 }", "{ a: 1, a: 2 }", "{ a: 1 }.b", "{ get a() { } }"] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn members_of_a_parameter_are_found() {
        assert_eq!(path(&words("x.a?.default"), "x").unwrap(), ["a", "default"]);
        for text in ["x", "y.a", "x.a()", "x['a']", "x.a + x.b"] {
            assert_eq!(path(&words(text), "x"), None, "{text}");
        }
    }
}
