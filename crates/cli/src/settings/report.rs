//! The report of the settings: each one that has an effect, with its default and text from docs/settings.md, and where it was set.

use server::{GivenSetting, Limits, Setting};

use super::Given;
use super::names::{Name, canonical, plain};

/// The page that has a row for each: the studio shows the same text.
const DOCUMENTATION: &str = include_str!("../../../../docs/settings.md");

/// All settings that mean something here, as the page lists them, then what else was given.
pub(super) fn settings(given: &[Given]) -> Vec<Setting> {
    let mut settings: Vec<Setting> = DOCUMENTATION.lines().filter_map(of_row).collect();
    for Given { name, value, source } in given {
        let known = canonical(name);
        // What changes nothing here may be somebody's licence or password.
        let is_shown = known.is_some() && !Name::find(name).is_some_and(|name| name.is_secret());
        let given = GivenSetting { value: is_shown.then(|| value.clone()), source: source.clone() };
        let name = known.unwrap_or(name);
        match settings.iter_mut().find(|setting| plain(&setting.name) == plain(name)) {
            Some(setting) => setting.given = Some(given),
            None => settings.push(Setting {
                name: name.to_owned(),
                description: "Has no effect in Rookery.".to_owned(),
                default: String::new(),
                given: Some(given),
            }),
        }
    }
    settings
}

/// A row of the page's tables of settings: name, flag of ours or default, default or range, meaning.
fn of_row(line: &str) -> Option<Setting> {
    let row = line.strip_prefix("| `")?.strip_suffix('|')?;
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let [names, _, _, meaning] = cells[..] else { return None };
    let name = canonical(names.split('`').next()?)?;
    let is_limit = Limits::SETTINGS.iter().any(|limit| limit.name == name);
    let (default, description) = if is_limit {
        (cells[1], format!("{}; over it: {meaning}.", cells[2]))
    } else {
        (cells[2], meaning.to_owned())
    };
    let (description, default) = (plain_text(&description), plain_text(default));
    Some(Setting { name: name.to_owned(), description, default, given: None })
}

/// Markdown without its signs: code without backticks, links by their text alone.
fn plain_text(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, behind)) = rest.split_once('[') {
        text.push_str(before);
        let link = behind.split_once(']').and_then(|(label, target)| {
            let (_, after) = target.strip_prefix('(')?.split_once(')')?;
            Some((label, after))
        });
        let (label, after) = link.unwrap_or(("[", behind));
        text.push_str(label);
        rest = after;
    }
    text.push_str(rest);
    text.replace('`', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(name: &str, value: &str) -> Given {
        Given { name: name.to_owned(), value: value.to_owned(), source: "the flag".to_owned() }
    }

    #[test]
    fn every_limit_and_every_name_that_means_something_is_shown() {
        let settings = settings(&[]);
        let find =
            |name: &str| settings.iter().find(|setting| setting.name == name).unwrap_or_else(|| panic!("{name}"));
        for limit in Limits::SETTINGS {
            assert!(find(limit.name).default.starts_with(|first: char| first.is_ascii_digit()), "{}", limit.name);
        }
        for name in ["PublicServerUrl", "RunInMemory", "Security.AllowedHosts", "Log.Format", "Setup.Mode"] {
            assert!(!find(name).description.is_empty(), "{name}");
        }
        assert_eq!(
            (find("ServerUrl").default.as_str(), find("DataDir").default.as_str()),
            ("http://127.0.0.1:8080", "data")
        );
        assert!(settings.iter().all(|setting| setting.given.is_none()));
    }

    #[test]
    fn descriptions_have_no_signs_of_markdown() {
        assert_eq!(plain_text("`a` to [b](c.md#d), [e] ([`f`](g))"), "a to b, [e] (f)");
        for setting in settings(&[]) {
            assert!(!setting.description.contains("](") && !setting.description.contains('`'), "{setting:?}");
        }
    }

    #[test]
    fn the_last_value_counts_and_what_may_be_a_secret_is_not_told() {
        let settings = settings(&[
            given("server.url", "http://127.0.0.1:1"),
            given("ServerUrl", "http://127.0.0.1:2"),
            given("Http.MaxRequestLineSizeInKb", "16"),
            given("License", "{secret}"),
            given("security_certificate_password", "{secret}"),
        ]);
        let value = |name: &str| settings.iter().find(|setting| setting.name == name)?.given.clone();
        let flag =
            |value: Option<&str>| Some(GivenSetting { value: value.map(str::to_owned), source: "the flag".to_owned() });
        assert_eq!(value("ServerUrl"), flag(Some("http://127.0.0.1:2")));
        assert_eq!(value("Limits.RequestLineInKb"), flag(Some("16")));
        assert_eq!(value("License"), flag(None));
        assert_eq!(value("Security.Certificate.Password"), flag(None));
        assert!(!format!("{settings:?}").contains("secret}"));
    }
}
