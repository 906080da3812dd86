//! Text that must not be in an error or a log: keys, tokens, credentials.

use std::fmt;

/// The secrets of one destination.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    texts: Vec<String>,
    /// Whether the words of the store stay here as well: who chose its address may see none that it was not meant for.
    hides_answers: bool,
}

/// Shorter ones would take ordinary words out of messages; no store has such keys.
const SIZE_MIN: usize = 6;

impl Secrets {
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Secrets {
        let mut all = Secrets::default();
        secrets.into_iter().for_each(|secret| all.add(secret));
        all
    }

    pub fn add(&mut self, secret: &str) {
        if secret.len() >= SIZE_MIN {
            self.texts.push(secret.to_owned());
        }
    }

    /// Leaves the answers of the store out of errors, if `is_restricted`.
    pub fn hiding_answers(self, is_restricted: bool) -> Secrets {
        Secrets { hides_answers: is_restricted, ..self }
    }

    pub fn hides_answers(&self) -> bool {
        self.hides_answers
    }

    /// The text with dots in place of each secret.
    pub fn redact(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "..."))
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.texts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_of_a_message() {
        let secrets = Secrets::new(["wJalrXUtnFEMI", "", "a"]);
        assert_eq!(secrets.redact("the key wJalrXUtnFEMI is unknown"), "the key ... is unknown");
        assert!(!format!("{secrets:?}").contains("wJalr"));
    }
}
