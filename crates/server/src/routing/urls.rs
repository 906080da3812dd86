//! Requests as logs and errors name them: without API keys in an address.

use hyper::Uri;

/// How every key begins, so that a program that looks for secrets in files finds it.
pub(crate) const KEY_PREFIX: &str = "rookery_";

/// What logs and errors say as `Url`: path and query. An over-long one is cut, and API keys in it are left out: keys are sent in a header.
pub(crate) fn url_of(uri: &Uri) -> String {
    let text = uri.path_and_query().map_or_else(|| uri.to_string(), |path| path.as_str().to_owned());
    let text = if text.contains(KEY_PREFIX) { without_keys(&text) } else { text };
    match text.char_indices().nth(2000) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

/// A text with `rookery_...` in place of each API key, and of what is long enough to be a part of one.
fn without_keys(text: &str) -> String {
    let mut parts = text.split(KEY_PREFIX);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_key = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let end = part.find(|c| !is_of_key(c)).unwrap_or(part.len());
        let rest = if end >= KEY_PART_LENGTH { &part[end..] } else { part };
        masked.push_str(KEY_PREFIX);
        masked.push_str(if end >= KEY_PART_LENGTH { "..." } else { "" });
        masked.push_str(rest);
    }
    masked
}

/// Characters of an API key that say enough about it to be left out.
const KEY_PART_LENGTH: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_in_logs_has_no_api_key() {
        let check = |url: &str, expected: &str| assert_eq!(url_of(&url.parse().unwrap()), expected);
        let key = "rookery_5Y4yFzv0-_kL5Y4yFzv0AkL5Y4yFzv0AkL5Y4yFzv0A";
        check(&format!("/databases?api_key={key}&x={key}"), "/databases?api_key=rookery_...&x=rookery_...");
        check(&format!("/{key}/a"), "/rookery_.../a");
        check("/databases/rookery_db/docs?id=rookery_", "/databases/rookery_db/docs?id=rookery_");
    }
}
