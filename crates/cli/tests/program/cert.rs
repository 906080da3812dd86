//! `rookery cert`, and the commands over HTTPS with the certificates that it makes.

use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Program, outcome, rookery, text};

/// Certificates in a folder, and what the command said of them.
pub struct Certificates {
    _folder: tempfile::TempDir,
    pub path: PathBuf,
    said: String,
}

impl Certificates {
    pub fn create(arguments: &[&str]) -> Certificates {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("certificates");
        let (is_content, said, err) = outcome(cert(&path, "create", arguments));
        assert!(is_content, "{err}");
        Certificates { _folder: folder, path, said }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A server with the settings that `create` wrote.
    pub fn serve(&self) -> Program {
        let settings = self.file("settings.json");
        let arguments = ["serve", "--config-path", text(&settings), "--url", "https://127.0.0.1:0", "--in-memory"];
        Program::start_with(&arguments, Stdio::null())
    }

    /// A command that speaks to a server as the owner of a certificate.
    pub fn call(&self, program: &Program, command: &[&str], certificate: &str) -> Command {
        let mut called = self.call_as_nobody(program, command);
        called.args(["--certificate", text(&self.file(certificate))]);
        called
    }

    /// A command that speaks to a server, without a certificate.
    pub fn call_as_nobody(&self, program: &Program, command: &[&str]) -> Command {
        let mut called = rookery(command);
        called.args(["--url", &program.url, "--ca", text(&self.file("ca.crt"))]);
        called
    }
}

pub fn cert(folder: &Path, command: &str, arguments: &[&str]) -> Command {
    let mut called = rookery(&["cert", command]);
    called.args(arguments).args(["--folder", text(folder)]);
    called
}

fn show(file: &Path) -> String {
    let (is_content, out, err) = outcome(rookery(&["cert", "show", text(file)]));
    assert!(is_content, "{err}");
    out
}

/// Who may read, write and execute a file.
fn mode(file: &Path) -> u32 {
    std::fs::metadata(file).unwrap().permissions().mode() & 0o777
}

fn line<'a>(shown: &'a str, name: &str) -> &'a str {
    shown.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim()
}

#[test]
fn two_commands_make_a_server_with_https() {
    let made = Certificates::create(&["db.example", "10.1.2.3"]);
    assert!(
        made.said.contains("--config-path") && made.said.contains("--url https://db.example:8443"),
        "{}",
        made.said
    );
    for name in ["ca.key", "server.pfx", "admin.pfx", "admin.pem", "settings.json"] {
        assert_eq!(mode(&made.file(name)), 0o600, "{name}");
    }
    let thumbprint = line(&show(&made.file("admin.pem")), "Thumbprint:").to_owned();
    assert!(made.said.contains(&format!("Security.WellKnownCertificates.Admin, is {thumbprint}.")), "{}", made.said);
    let shown = show(&made.file("server.pfx"));
    assert_eq!(line(&shown, "Hosts:"), "db.example, 10.1.2.3, localhost, 127.0.0.1, ::1");
    assert_eq!(shown, show(&made.file("server.crt")));

    let program = made.serve();
    for certificate in ["admin.pem", "admin.pfx", "server.pfx"] {
        let (is_content, out, err) = outcome(made.call(&program, &["status"], certificate));
        assert!(is_content && out.starts_with("Rookery/"), "{certificate}: {out}{err}");
    }
    let people = "{\"Name\":\"Ada\"}\n{\"Name\":\"Grace\"}\n";
    let file = made.file("people.jsonl");
    std::fs::write(&file, people).unwrap();
    let import = ["import", "-d", "People", text(&file)];
    let (is_content, out, err) = outcome(made.call(&program, &import, "admin.pem"));
    assert!(is_content && out.starts_with("2 documents"), "{out}{err}");
    let query = ["query", "-d", "People", "-f", "csv", "--wait", "from people order by Name select Name"];
    let (is_content, out, err) = outcome(made.call(&program, &query, "admin.pem"));
    assert!(is_content && out.contains(",Ada\r\n"), "{out}{err}");
}

#[test]
fn who_is_not_known_reads_why() {
    let made = Certificates::create(&[]);
    let program = made.serve();
    let (is_content, said, err) = outcome(cert(&made.path, "client", &["app"]));
    assert!(is_content, "{err}");
    let thumbprint = line(&show(&made.file("app.pem")), "Thumbprint:").to_owned();
    assert!(said.contains(&format!("Security.WellKnownCertificates.Admin={thumbprint}")), "{said}");
    let failed = |command: Command| {
        let (is_content, out, err) = outcome(command);
        assert!(!is_content && out.is_empty(), "{out}{err}");
        err
    };
    let err = failed(made.call(&program, &["status"], "app.pem"));
    assert!(
        err.contains("'CN=app'") && err.contains(&thumbprint) && err.contains("is not known to this server"),
        "{err}"
    );
    let with = |arguments: &[&str]| failed(rookery(&[&["status", "--url", &program.url], arguments].concat()));
    let authority = made.file("ca.crt");
    assert!(with(&["--ca", text(&authority)]).contains("the client sent none"));
    assert!(with(&[]).contains("name the authority's file with --ca"));
    assert!(with(&["--ca", text(&made.file("none"))]).contains("reading the authority in "));
    assert!(with(&["--ca", text(&made.file("ca.key"))]).contains("there is no certificate in PEM form"));
    assert!(with(&["--certificate", text(&authority)]).contains("has no private key"));
    let other_host = program.url.replace("127.0.0.1", "127.0.0.2");
    let err = failed(rookery(&["status", "--url", &other_host, "--ca", text(&authority)]));
    assert!(err.contains("Connection refused") || err.contains("is not for '127.0.0.2'"), "{err}");
    let plain = program.url.replace("https", "http");
    assert!(failed(rookery(&["status", "--url", &plain])).contains("This port speaks HTTPS"));
    let err = failed(rookery(&["status", "--url", &plain, "--ca", text(&authority)]));
    assert!(err.contains("does not begin with https://"), "{err}");
    let unsecured = Program::in_memory();
    let err = failed(rookery(&["status", "--url", &unsecured.url.replace("http", "https"), "--ca", text(&authority)]));
    assert!(err.contains("the server does not speak HTTPS"), "{err}");
}

#[test]
fn a_password_protects_the_pfx_files() {
    let made = Certificates::create(&["--password", "Zwölf 12"]);
    let (is_content, _, err) = outcome(rookery(&["cert", "show", text(&made.file("admin.pfx"))]));
    assert!(!is_content && err.contains("is wrong or missing"), "{err}");
    let program = made.serve();
    let mut status = made.call(&program, &["status"], "admin.pfx");
    status.env("ROOKERY_CERT_PASSWORD", "Zwölf 12");
    let (is_content, _, err) = outcome(status);
    assert!(is_content, "{err}");
}

#[test]
fn a_renewed_certificate_has_the_same_hosts_and_authority() {
    let made = Certificates::create(&["db.example"]);
    let before = show(&made.file("server.crt"));
    let (is_content, _, err) = outcome(cert(&made.path, "renew", &["--days", "10"]));
    assert!(is_content, "{err}");
    let after = show(&made.file("server.pfx"));
    assert_eq!(line(&after, "Hosts:"), line(&before, "Hosts:"));
    assert_ne!(line(&after, "Thumbprint:"), line(&before, "Thumbprint:"));
    assert_eq!(show(&made.file("server.crt.old")), before);
    let program = made.serve();
    let (is_content, _, err) = outcome(made.call(&program, &["status"], "admin.pem"));
    assert!(is_content, "{err}");
}

/// The service runs as a user of its own, who reads the file by its group.
#[test]
fn a_renewed_certificate_keeps_owner_group_and_mode() {
    let made = Certificates::create(&[]);
    let (pfx, certificate) = (made.file("server.pfx"), made.file("server.crt"));
    std::fs::set_permissions(&pfx, Permissions::from_mode(0o640)).unwrap();
    let owner = |file: &Path| std::fs::metadata(file).map(|file| (file.uid(), file.gid())).unwrap();
    let is_root = owner(&pfx).0 == 0;
    if is_root {
        chown(&pfx, Some(0), Some(54_321)).unwrap();
        chown(&certificate, Some(54_320), Some(54_321)).unwrap();
    }
    let before = (owner(&pfx), owner(&certificate));
    // A renewal that was cut off left this one.
    std::fs::write(made.file("server.pfx.new"), "half").unwrap();
    let (is_content, _, err) = outcome(cert(&made.path, "renew", &[]));
    assert!(is_content && err.is_empty(), "{err}");
    assert_eq!((mode(&pfx), mode(&certificate)), (0o640, 0o644));
    assert_eq!((owner(&pfx), owner(&certificate)), before);
    assert_eq!(mode(&made.file("server.pfx.old")), 0o640);
    assert!(!made.file("server.pfx.new").exists());
    if is_root {
        // A user who cannot give files away.
        let user = 54_322;
        for entry in [&made.path, &made.file("ca.key"), &certificate] {
            chown(entry, Some(user), Some(user)).unwrap();
        }
        let program = made.path.join("rookery");
        std::fs::copy(env!("CARGO_BIN_EXE_rookery"), &program).unwrap();
        std::fs::set_permissions(made.path.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
        let mut renew = Command::new(&program);
        renew.args(["cert", "renew", "--folder", text(&made.path)]).current_dir("/").uid(user).gid(user);
        let (is_content, _, err) = outcome(renew);
        let advice = format!("chown 0:54321 {path} && chmod 640 {path}\n", path = pfx.display());
        assert!(is_content && err.ends_with(&advice) && err.lines().count() == 1, "{err}");
        // Its own group must not read the key in place of the former one.
        assert_eq!(mode(&pfx), 0o600);
    }
}

#[test]
fn nothing_is_overwritten_and_names_are_checked() {
    let made = Certificates::create(&[]);
    let refused = |command: &str, arguments: &[&str], expected: &str| {
        let (is_content, out, err) = outcome(cert(&made.path, command, arguments));
        assert!(!is_content && out.is_empty() && err.contains(expected), "{out}{err}");
    };
    refused("create", &[], "'rookery cert renew' replaces it");
    refused("client", &["admin"], "admin.pem exists");
    refused("client", &["../x"], "cannot be the name of a file");
    refused("client", &["ca"], "is the name of other files");
    refused("client", &["x", "--days", "0"], "0 is not in 1..");
    let folder = tempfile::tempdir().unwrap();
    let (is_content, _, err) = outcome(cert(folder.path(), "create", &["bad host"]));
    assert!(!is_content && err.contains("'bad host' is neither a host name nor an IP address"), "{err}");
    let (is_content, _, err) = outcome(cert(folder.path(), "renew", &[]));
    assert!(!is_content && err.contains("cannot read ") && err.contains("server.crt"), "{err}");
    std::fs::write(folder.path().join("x"), "no certificate").unwrap();
    let (is_content, _, err) = outcome(rookery(&["cert", "show", text(&folder.path().join("x"))]));
    assert!(!is_content && err.contains("is not a PFX file"), "{err}");
}

/// As an operator edits it: the lines of HTTPS without their marks, and the thumbprint that `cert create` prints.
#[test]
fn the_settings_of_the_package_can_be_uncommented() {
    let made = Certificates::create(&[]);
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/settings.json");
    let text_of = |path: &str| text(&made.file(path)).to_owned();
    let sample = std::fs::read_to_string(settings).unwrap();
    let sample = sample.replace("/etc/rookery/certificates/server.pfx", &text_of("server.pfx"));
    let sample = sample.replace("/var/lib/rookery/data", &text_of("data")).replace("/var/log/rookery", &text_of("log"));
    let mine = made.file("mine.json");
    let check = |content: &str| {
        std::fs::write(&mine, content).unwrap();
        outcome(rookery(&["serve", "--check-config", "--config-path", text(&mine)]))
    };
    let (is_content, out, err) = check(&sample);
    assert!(is_content && out == "the settings are valid\n", "{out}{err}");
    let edited = sample.replace("  // \"", "  \"");
    let (is_content, _, err) = check(&edited);
    assert!(
        !is_content && err.contains("Security.WellKnownCertificates.Admin") && err.contains("is no thumbprint"),
        "{err}"
    );
    let thumbprint = line(&show(&made.file("admin.pem")), "Thumbprint:").to_owned();
    let edited = edited.replace("the thumbprint that 'rookery cert create' prints", &thumbprint);
    let (is_content, out, err) = check(&edited);
    assert!(is_content && out == "the settings are valid\n", "{out}{err}");
    assert!(!made.file("data").exists() && !made.file("log").exists());
    // No client could get in.
    let (is_content, out, err) = check(&edited.replace(&thumbprint, ""));
    assert!(
        is_content && out.contains("warning: unless the data folder has one, no administrator has a certificate"),
        "{out}{err}"
    );
}

#[test]
fn a_server_that_no_administrator_can_use_says_so_until_there_is_one() {
    let made = Certificates::create(&[]);
    let (pfx, data) = (made.file("server.pfx"), made.file("data"));
    let log_of_start = |act: &dyn Fn(&Program)| {
        let certificate = format!("--Security.Certificate.Path={}", text(&pfx));
        let arguments = ["serve", "--url", "https://127.0.0.1:0", "--data", text(&data), &certificate];
        let mut program = Program::start_with(&arguments, Stdio::piped());
        act(&program);
        assert!(program.terminate().1);
        let mut log = String::new();
        program.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    };
    let grant = ["access", "grant", "ann", "--clearance", "operator"];
    let first = log_of_start(&|program| assert!(outcome(made.call(program, &grant, "server.pfx")).0));
    assert!(first.contains("no administrator has a certificate or API key"), "{first}");
    let second = log_of_start(&|_| {});
    assert!(!second.contains("no administrator"), "{second}");
}
