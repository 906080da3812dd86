//! Which fields a function gives, as far as its text says.

use super::definition::SourceFunction;
use super::made;
use script::TokenKind;
use std::collections::HashSet;

/// The name of what has no name of its own in the outputs: fields whose names are known only when the function runs.
pub(crate) const OTHERS: &str = "_";

impl SourceFunction<'_> {
    /// The names of the fields of its objects as they are written, [`OTHERS`] last, and whether there may be others.
    ///
    /// Objects are those that are given or passed on: their brace stands behind `(`, `[`, `,` or `return`. One behind a colon is a value
    /// inside of another.
    pub fn fields(&self) -> (Vec<Box<str>>, bool) {
        let mut known = HashSet::new();
        let mut names: Vec<Box<str>> = Vec::new();
        let mut is_open = false;
        // For each open bracket, whether it is such an object.
        let mut open: Vec<bool> = Vec::new();
        // How many are open where a field is made: what is in there is the options of it.
        let mut made_at: Option<usize> = None;
        for (place, token) in self.tokens.iter().enumerate() {
            let before = place.checked_sub(1).and_then(|before| self.word(before));
            match token.kind {
                TokenKind::Sign(b'{') => {
                    open.push(made_at.is_none() && matches!(before, Some("(" | "[" | "," | "return")));
                }
                TokenKind::Sign(b'(' | b'[') => {
                    if before == Some(made::FUNCTION) {
                        made_at.get_or_insert(open.len());
                    }
                    let is_computed = open.last() == Some(&true) && matches!(before, Some("{" | ","));
                    is_open |= is_computed;
                    open.push(false);
                }
                TokenKind::TemplateOpen if self.whole.as_bytes().get(token.start) == Some(&b'`') => open.push(false),
                TokenKind::Sign(b')' | b']' | b'}') | TokenKind::TemplateClose => {
                    open.pop();
                    made_at = made_at.filter(|at| *at < open.len());
                }
                TokenKind::Spread => is_open |= open.last() == Some(&true),
                TokenKind::Word | TokenKind::Literal
                    if open.last() == Some(&true) && matches!(before, Some("{" | ",")) =>
                {
                    let text = self.word(place).unwrap_or_default();
                    let name = text.trim_matches(['"', '\'']);
                    match self.word(place + 1) {
                        Some(":" | "," | "}") if name != OTHERS => {
                            if known.insert(name) {
                                names.push(name.into());
                            }
                        }
                        _ => is_open = true,
                    }
                }
                TokenKind::Word if before == Some("return") => is_open = true,
                _ => {}
            }
        }
        is_open |= names.is_empty();
        names.push(OTHERS.into());
        (names, is_open)
    }
}
