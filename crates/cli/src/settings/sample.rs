//! A sample of `settings.json`, or of variables of the environment: every setting with its meaning and default, commented out.

use server::{Limits, Setting};

use super::report;

/// The forms that a sample may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A `settings.json`. Its last setting is not commented out, so that a line can be uncommented as it is.
    Json,
    /// Variables of the environment, as systemd's `EnvironmentFile=` and containers read them.
    Env,
}

/// Longer lines of comments are wrapped, in characters.
const LINE_LENGTH_MAX: usize = 100;

/// The setting that ends a JSON object, which takes no comma behind its last member.
const LAST: &str = "Log.Level";

/// All settings.
pub fn sample(form: Form) -> String {
    let mut settings = report::settings(&[]);
    // A stable order but for the last.
    settings.sort_by_key(|setting| setting.name == LAST);
    let mut text = String::new();
    let mark = if form == Form::Json { "//" } else { "#" };
    let version = env!("CARGO_PKG_VERSION");
    let intro = format!(
        "Settings of Rookery {version}, each with its default. Remove the {mark} before a setting to change it. docs/settings.md says more."
    );
    comment(&mut text, "", mark, &intro);
    if form == Form::Json {
        text.push_str("{\n");
    }
    for setting in &settings {
        text.push_str(if form == Form::Json && text.ends_with("{\n") { "" } else { "\n" });
        let Setting { name, description, default, .. } = setting;
        let default = if default.is_empty() { String::new() } else { format!(" Default: {default}.") };
        let indent = if form == Form::Json { "  " } else { "" };
        comment(&mut text, indent, mark, &format!("{description}{default}"));
        let value = example(setting);
        let is_limit = Limits::SETTINGS.iter().any(|limit| limit.name == name);
        text.push_str(&match form {
            Form::Json if name == LAST => format!("  \"{name}\": \"{value}\"\n}}\n"),
            Form::Json if is_limit || matches!(value.as_str(), "true" | "false") => {
                format!("  // \"{name}\": {value},\n")
            }
            Form::Json => format!("  // \"{name}\": \"{value}\",\n"),
            Form::Env => format!("#ROOKERY_{}={value}\n", name.replace('.', "_")),
        });
    }
    text
}

/// The default of a setting as a value that the setting takes, or an example where the default is not a value.
fn example(Setting { name, default, .. }: &Setting) -> String {
    let example = match name.as_str() {
        "PublicServerUrl" => "https://db.example.com",
        "ServerUrl.Tcp" => "tcp://127.0.0.1:38888",
        "PublicServerUrl.Tcp" => "tcp://db.example.com:38888",
        "Security.AllowedHosts" => "db.example.com",
        "Security.AllowedOrigins" => "http://localhost:5173",
        "Security.Certificate.Path" => "certificates/server.pfx",
        "Security.Certificate.PemPath" => "certificates/server.crt",
        "Security.Certificate.KeyPath" => "certificates/server.key",
        "Security.WellKnownCertificates.Admin" => "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709",
        "Security.AuditLog.FolderPath" => "/var/log/rookery",
        "Backup.LocalRootPath" => "/var/backups/rookery",
        "Backup.AllowedDestinations" => "Local;AmazonS3",
        "Testing.ParentProcessId" => "1234",
        "Logs.Mode" => "Operations",
        "Traces.Endpoint" => "http://127.0.0.1:4318",
        name if Limits::SETTINGS.iter().any(|limit| limit.name == name) => {
            default.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default()
        }
        _ => default,
    };
    example.to_owned()
}

/// Appends a text as lines of comments.
fn comment(text: &mut String, indent: &str, mark: &str, words: &str) {
    let mut line = format!("{indent}{mark}");
    for word in words.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > LINE_LENGTH_MAX {
            text.push_str(&line);
            text.push('\n');
            line = format!("{indent}{mark}");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::{from_environment, from_file, names, resolve};
    use super::*;

    /// The settings of a sample whose settings are all uncommented.
    fn given(form: Form) -> Vec<super::super::Given> {
        let is_setting = |line: &str| match form {
            Form::Json => line.trim_start().starts_with("// \""),
            Form::Env => line.starts_with("#ROOKERY_"),
        };
        let uncomment = |line: &str| match is_setting(line) {
            true => line.replacen("// ", "", 1).trim_start_matches('#').to_owned(),
            false => line.to_owned(),
        };
        let text: Vec<String> = sample(form).lines().map(uncomment).collect();
        match form {
            Form::Json => {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("settings.json");
                std::fs::write(&path, text.join("\n")).unwrap();
                from_file(&path).unwrap()
            }
            Form::Env => {
                let variables = text.iter().filter(|line| line.starts_with("ROOKERY_"));
                from_environment(variables.map(|line| {
                    let (name, value) = line.split_once('=').unwrap();
                    (name.into(), value.into())
                }))
                .unwrap()
            }
        }
    }

    #[test]
    fn a_sample_has_every_setting_and_each_is_valid() {
        for form in [Form::Json, Form::Env] {
            let given = given(form);
            let has = |name: &str| given.iter().any(|given| names::plain(&given.name) == names::plain(name));
            for limit in Limits::SETTINGS {
                assert!(has(limit.name), "{form:?}: {}", limit.name);
            }
            for name in names::meaningful() {
                assert!(has(name), "{form:?}: {name}");
            }
            let settings = resolve(given).unwrap();
            assert_eq!(settings.warnings, [""; 0], "{form:?}");
        }
    }

    #[test]
    fn a_sample_changes_nothing_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        std::fs::write(&path, sample(Form::Json)).unwrap();
        let given = from_file(&path).unwrap();
        assert_eq!(given.iter().map(|given| given.name.as_str()).collect::<Vec<_>>(), ["Log.Level"]);
        assert!(sample(Form::Env).lines().all(|line| line.is_empty() || line.starts_with('#')));
        assert!(sample(Form::Json).lines().all(|line| line.chars().count() <= LINE_LENGTH_MAX));
    }
}
