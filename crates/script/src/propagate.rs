//! Null spreads: `o.Company.Name` is null where `o.Company` is not there, as users of the reference are used to.
//!
//! JavaScript throws there. So a script is rewritten before it is compiled, token by token:
//!
//! | as written | as compiled |
//! | --- | --- |
//! | `a.b` | `(a ?? __n).b` |
//! | `a[0].b` | `((a ?? __n)[0] ?? __n).b` |
//! | `a.map(f)` | `(a ?? __c).map(f)` |
//! | `f(x)` | `(f ?? __c.call)(x)` |
//! | `a.b.c = 1` | `(a ?? __n).b.c = 1`, which throws where `a.b` is not there |
//!
//! `__n` is an object whose members are all null, `__c` one whose members are functions that give null (`prelude.js`). Where a parenthesis
//! is put at the begin of a line, the line before may have ended without a semicolon, and is given one: it would be a call else. No line is
//! added, so that the lines of errors are those of the script. A text that is not understood stays as it is: the engine says what is wrong.

use crate::token::{Malformed, Scanner, Token, TokenKind as Kind};

/// Objects of the language, which are always there.
const ALWAYS_THERE: [&str; 10] =
    ["this", "Math", "JSON", "Object", "Array", "Date", "String", "Number", "Symbol", "spatial"];

/// The text to compile.
pub(crate) fn propagate(text: &str) -> String {
    let mut rewriting = Rewriting {
        text,
        scanner: Scanner::new(text),
        edits: Vec::new(),
        chain: None,
        open: Vec::new(),
        statement_at: None,
    };
    match rewriting.run() {
        Err(Malformed) => text.to_owned(),
        Ok(()) => rewriting.finish(),
    }
}

/// A value and what follows it: members, elements, calls.
#[derive(Clone, Copy, Debug)]
struct Chain {
    start: usize,
    /// Where the last member or element begins, which is rewritten when it is known what follows.
    last: Option<usize>,
    /// It is not rewritten: `super`, a tagged template, what follows a brace.
    is_raw: bool,
    /// Up to the arguments of `new` nothing is rewritten.
    is_of_new: bool,
    /// A name and nothing behind it yet.
    is_name: bool,
    /// The object of the first member is always there.
    is_there: bool,
    /// It has an optional part, which cannot be assigned to.
    is_optional: bool,
    /// The line before it ended with a value: with a parenthesis at its begin it would be a call of that.
    begins_line: bool,
}

/// What an open bracket is.
#[derive(Clone, Copy, Debug)]
enum Open {
    /// It begins a value.
    Value(usize),
    /// It goes on with a chain. For a call of a name: where the parenthesis stands.
    Suffix(Chain, Option<usize>),
    /// A block, or the literal of an object.
    Brace,
}

struct Rewriting<'s> {
    text: &'s str,
    scanner: Scanner<'s>,
    /// What is put in, and where.
    edits: Vec<(usize, &'static str)>,
    chain: Option<Chain>,
    open: Vec<Open>,
    /// Where the last token is that stands on a new line behind a value, or behind a brace, which may end one.
    statement_at: Option<usize>,
}

impl Rewriting<'_> {
    fn run(&mut self) -> Result<(), Malformed> {
        let mut new_at: Option<usize> = None;
        let mut before: Option<Kind> = None;
        loop {
            let may_end = self.scanner.after_value || before == Some(Kind::Sign(b'}'));
            let line_ended = self.scanner.skip_space()?;
            let Some(token) = self.scanner.next()? else { break };
            let start = token.start;
            if may_end && line_ended {
                self.statement_at = Some(start);
            }
            match (token.kind, self.chain) {
                (Kind::Sign(b'.'), Some(chain)) => {
                    self.chain = Some(self.member(chain, start, "__n"));
                    before = Some(token.kind);
                    continue;
                }
                (Kind::Optional, Some(chain)) => {
                    let chain = self.settled(chain, "__n");
                    self.chain = Some(Chain { is_optional: true, is_name: false, ..chain });
                    before = Some(token.kind);
                    continue;
                }
                (Kind::Word, Some(_)) if matches!(before, Some(Kind::Sign(b'.') | Kind::Optional)) => {}
                (Kind::Word, _) if before == Some(Kind::Sign(b'.')) => self.chain = Some(Chain::raw(start)),
                (Kind::Sign(b'['), Some(chain)) => {
                    let chain = if before == Some(Kind::Optional) { chain } else { self.member(chain, start, "__n") };
                    self.chain = None;
                    self.open.push(Open::Suffix(chain, None));
                }
                (Kind::Sign(b'('), Some(chain)) => {
                    let is_plain = before != Some(Kind::Optional) && chain.is_name && !chain.is_raw && !chain.is_of_new;
                    let called = self.settled(chain, "__c");
                    let called = Chain { is_of_new: false, is_name: false, is_there: false, ..called };
                    self.chain = None;
                    self.open.push(Open::Suffix(called, is_plain.then_some(start)));
                }
                // A tagged template.
                (Kind::Literal | Kind::TemplateOpen, Some(chain)) if self.text.as_bytes()[start] == b'`' => {
                    let chain = Chain { is_raw: true, ..self.settled(chain, "__n") };
                    self.chain = Some(chain);
                    if token.kind == Kind::TemplateOpen {
                        self.chain = None;
                        self.open.push(Open::Suffix(chain, None));
                    }
                }
                _ => self.other(token, before, &mut new_at)?,
            }
            before = Some(token.kind);
        }
        self.end_chain(false);
        if self.open.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    /// A token that goes on with no chain.
    fn other(&mut self, token: Token, before: Option<Kind>, new_at: &mut Option<usize>) -> Result<(), Malformed> {
        let start = token.start;
        let is_target = match token.kind {
            Kind::Assign => true,
            Kind::Step => self.chain.is_some(),
            _ => false,
        };
        self.end_chain(is_target);
        let text = &self.text[start..self.scanner.at];
        let begin = |new_at: &mut Option<usize>| new_at.take().map_or((start, false), |at| (at, true));
        match token.kind {
            Kind::Word if text == "new" => {
                new_at.get_or_insert(start);
            }
            Kind::Word if self.scanner.after_value => {
                let (start, is_of_new) = begin(new_at);
                let is_stepped = before == Some(Kind::Step) && self.statement_at != Some(start);
                let is_raw = text == "super" || text == "import" || is_stepped;
                let is_there = ALWAYS_THERE.contains(&text);
                self.chain = Some(Chain { is_raw, is_of_new, is_name: true, is_there, ..self.begun(start) });
            }
            Kind::Word => *new_at = None,
            Kind::Literal => self.chain = Some(self.begun(begin(new_at).0)),
            Kind::TemplateOpen => self.template(start),
            Kind::TemplateClose => self.close()?,
            Kind::Sign(b'(' | b'[') => self.open.push(Open::Value(begin(new_at).0)),
            Kind::Sign(b'{') => self.open.push(Open::Brace),
            Kind::Sign(b')' | b']' | b'}') => self.close()?,
            _ => *new_at = None,
        }
        Ok(())
    }

    /// The beginning of a template, or the text between two of its expressions.
    fn template(&mut self, start: usize) {
        // Between two expressions the template that is open goes on.
        if self.text.as_bytes()[start] == b'`' {
            self.open.push(Open::Value(start));
        }
    }

    fn close(&mut self) -> Result<(), Malformed> {
        self.chain = match self.open.pop().ok_or(Malformed)? {
            Open::Value(start) => self.scanner.after_value.then(|| Chain::new(start)),
            Open::Brace => None,
            Open::Suffix(chain, None) => Some(chain),
            Open::Suffix(chain, Some(call_at)) => {
                let place = self.scanner.at;
                self.scanner.skip_space()?;
                let rest = &self.text.as_bytes()[self.scanner.at..];
                let is_definition = rest.starts_with(b"{") || rest.starts_with(b"=>");
                self.scanner.at = place;
                if is_definition {
                    Some(chain)
                } else {
                    // An undeclared function gives null: `undefined` would remove the property that it is assigned to.
                    self.parenthesis(chain);
                    self.edits.push((call_at, " ?? __c.call)"));
                    Some(Chain { begins_line: false, ..chain })
                }
            }
        };
        Ok(())
    }

    /// A chain that begins with a word or a literal.
    fn begun(&self, start: usize) -> Chain {
        Chain { begins_line: self.statement_at == Some(start), ..Chain::new(start) }
    }

    /// A parenthesis at the begin of a chain.
    fn parenthesis(&mut self, chain: Chain) {
        if chain.begins_line {
            self.edits.push((chain.start, ";"));
        }
        self.edits.push((chain.start, "("));
    }

    /// A member or element follows, which begins at `at`.
    fn member(&mut self, chain: Chain, at: usize, object: &'static str) -> Chain {
        let chain = self.settled(chain, object);
        if chain.is_raw || chain.is_of_new || chain.is_there {
            return Chain { is_name: false, is_there: false, ..chain };
        }
        Chain { last: Some(at), is_name: false, ..chain }
    }

    /// Rewrites the last member, if there is one that waits.
    fn settled(&mut self, chain: Chain, object: &'static str) -> Chain {
        let Some(at) = chain.last else { return chain };
        self.parenthesis(chain);
        self.edits.push((at, if object == "__c" { " ?? __c)" } else { " ?? __n)" }));
        Chain { last: None, is_optional: false, begins_line: false, ..chain }
    }

    fn end_chain(&mut self, is_target: bool) {
        let Some(chain) = self.chain.take() else { return };
        match chain.last {
            Some(_) if !is_target => _ = self.settled(chain, "__n"),
            // What is assigned to has no optional part, unless that is in parentheses.
            Some(at) if chain.is_optional => {
                self.parenthesis(chain);
                self.edits.push((at, ")"));
            }
            _ => {}
        }
    }

    fn finish(mut self) -> String {
        // Parentheses of one chain begin at one place, and the order of those does not matter.
        self.edits.sort_by_key(|(at, _)| *at);
        let mut out = String::with_capacity(self.text.len() + 8 * self.edits.len());
        let mut done = 0;
        for (at, text) in self.edits {
            out.push_str(&self.text[done..at]);
            out.push_str(text);
            done = at;
        }
        out.push_str(&self.text[done..]);
        out
    }
}

impl Chain {
    fn new(start: usize) -> Chain {
        Chain {
            start,
            last: None,
            is_raw: false,
            is_of_new: false,
            is_name: false,
            is_there: false,
            is_optional: false,
            begins_line: false,
        }
    }

    fn raw(start: usize) -> Chain {
        Chain { is_raw: true, ..Chain::new(start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(propagate(text), expected, "{text}");
    }

    #[test]
    fn members_elements_and_calls_spread_null() {
        check("a.b", "(a ?? __n).b");
        check("a.b.c", "((a ?? __n).b ?? __n).c");
        check("a[0].b", "((a ?? __n)[0] ?? __n).b");
        check("a[b.c]", "(a ?? __n)[(b ?? __n).c]");
        check("a.map(x => x.y).length", "((a ?? __c).map(x => (x ?? __n).y) ?? __n).length");
        check("f(x).y", "((f ?? __c.call)(x) ?? __n).y");
        check("this.a.b", "(this.a ?? __n).b");
        check("(a || b).c", "((a || b) ?? __n).c");
        check("`${a.b}`.length", "(`${(a ?? __n).b}` ?? __n).length");
        check("'x'.y", "('x' ?? __n).y");
        check("a?.b.c", "(a?.b ?? __n).c");
        check("typeof a.b", "typeof (a ?? __n).b");
        check("return a.b", "return (a ?? __n).b");
    }

    #[test]
    fn what_is_assigned_to_has_to_be_there() {
        check("this.a = 1", "this.a = 1");
        check("this.a.b = c.d", "this.a.b = (c ?? __n).d");
        check("a.b.c += 1", "(a ?? __n).b.c += 1");
        check("a.b++", "a.b++");
        check("f(x).y = 1", "(f ?? __c.call)(x).y = 1");
        check("a.b == 1", "(a ?? __n).b == 1");
        check("delete this.a.b", "delete (this.a ?? __n).b");
    }

    #[test]
    fn what_only_looks_so_is_left_alone() {
        check("function f(x) { g(x) }", "function f(x) { (g ?? __c.call)(x) }");
        check("async (x) => 1", "async (x) => 1");
        check("if (a) [1].x", "if (a) ([1] ?? __n).x");
        check("new Date(a).getTime()", "(new Date(a) ?? __c).getTime()");
        check("new a.B(c.d)", "new a.B((c ?? __n).d)");
        check("Math.max(1, 2)", "Math.max(1, 2)");
        check("x = { a() { return 1 }, b: c }", "x = { a() { return 1 }, b: c }");
        check("1.5.toFixed(1)", "1.5.toFixed(1)");
        check("a ? .5 : 1", "a ? .5 : 1");
        check("/a.b/.test(c)", "(/a.b/ ?? __c).test(c)");
        check("'a.b' // c.d\n", "'a.b' // c.d\n");
        check("[...a.b]", "[...(a ?? __n).b]");
        check("try { } catch (e) { }", "try { } catch (e) { }");
        check("function(){}.x.y", "function(){}.x.y");
    }

    #[test]
    fn a_line_without_a_semicolon_is_not_called() {
        check("a.b()\nc.d()", "(a ?? __c).b()\n;(c ?? __c).d()");
        check("this.a.b(1)\rthis.c.d(2)", "(this.a ?? __c).b(1)\r;(this.c ?? __c).d(2)");
        check("let a\nb.c.d = 1", "let a\n;(b ?? __n).c.d = 1");
        check("a++\nf(x).y = 1", "a++\n;(f ?? __c.call)(x).y = 1");
        check("a()\nf(x)", "(a ?? __c.call)()\n;(f ?? __c.call)(x)");
        check("x = {}\n/* z */ y.z.z", "x = {}\n/* z */ ;((y ?? __n).z ?? __n).z");
        check("x = 1\nnew A().b", "x = 1\n;(new A() ?? __n).b");
        check("x\n'y'.z", "x\n;('y' ?? __n).z");
        check("if (a)\nb.c", "if (a)\n(b ?? __n).c");
        check("return a\n  .b", "return (a\n   ?? __n).b");
        check("x =\na.b", "x =\n(a ?? __n).b");
        check("a.b() // c\nd.e", "(a ?? __c).b() // c\n;(d ?? __n).e");
    }

    #[test]
    fn what_is_not_understood_stays() {
        for text in ["a.b(", "a.b)", "'a.b", "`${a.b", "/* a.b"] {
            check(text, text);
        }
    }
}
