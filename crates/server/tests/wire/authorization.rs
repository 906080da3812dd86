//! The matrix of rights: every route as every kind of client, by certificate, by API key and by the cookie of the studio, for a database
//! that the client was granted and for another one.
//!
//! The rows come from the table of routes itself, so that a route that is added is tested without a change here. What is asserted is
//! whether a request is let in, by the level that its route requires; what it answers then is another test's.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use rookery_server::{Access, ROUTES, Route};
use rustls::client::ClientConfig;
use rustls::version::TLS13;
use rustls::{ClientConnection, StreamOwned};
use testing::wait;

use super::secured::{Pair, Secured, params, self_signed};
use super::support::{Answer, read_answer};

/// A client, and the highest access that it has.
struct Client {
    name: &'static str,
    pair: Option<Pair>,
    key: Option<String>,
    /// The lines of the head of who has signed in to the studio.
    cookie: Option<String>,
    /// To the server, to database `a`, to database `b`.
    access: [Access; 3],
}

/// The names of the databases, which no request and no other answer has.
const DATABASES: [&str; 2] = ["kiwi", "mango"];

/// A connection that is opened again after an answer that ends it.
struct Caller<'a> {
    secured: &'a Secured,
    config: Arc<ClientConfig>,
    /// A line of the head.
    authorization: String,
    stream: Option<BufReader<StreamOwned<ClientConnection, TcpStream>>>,
}

impl Caller<'_> {
    fn call(&mut self, line: &str, body: &str) -> Answer {
        let size = body.len();
        let authorization = &self.authorization;
        let request =
            format!("{line} HTTP/1.1\r\nHost: db.example\r\n{authorization}Content-Length: {size}\r\n\r\n{body}");
        for _ in 0..2 {
            let stream = self.stream.get_or_insert_with(|| BufReader::new(self.secured.connect(&self.config)));
            let answer = match stream.get_mut().write_all(request.as_bytes()) {
                Ok(()) => read_answer(stream, line.starts_with("HEAD ")),
                Err(_) => None,
            };
            match answer {
                Some(answer) => {
                    if answer.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
                        self.stream = None;
                    }
                    return answer;
                }
                None => self.stream = None,
            }
        }
        panic!("no answer to {line}");
    }
}

fn clients(secured: &Secured) -> Vec<Client> {
    use Access::{Admin, Anyone, ClusterAdmin, Operator, Read, ReadWrite, ValidUser};
    let register = |pair: &Pair, clearance: &str, permissions: &str| {
        let certificate = BASE64.encode(&pair.der);
        let body = format!(
            r#"{{"Name":"x","Certificate":"{certificate}","SecurityClearance":"{clearance}","Permissions":{permissions}}}"#
        );
        assert_eq!(secured.call(Some(&secured.admin), "PUT /admin/certificates", &body).status, 201);
    };
    let registered = |name, clearance, permissions: &str, access| {
        let pair = self_signed(&params(name));
        register(&pair, clearance, permissions);
        Client { name, pair: Some(pair), key: None, cookie: None, access }
    };
    let nobody = |name, pair| Client { name, pair, key: None, cookie: None, access: [Anyone; 3] };
    let keyed = |name, clearance: &str, permissions: &str, access| {
        let key = secured.key(name, &format!(r#""SecurityClearance":"{clearance}","Permissions":{permissions}"#));
        Client { name, pair: None, key: Some(key), cookie: None, access }
    };
    let signed_in = |name, clearance: &str, permissions: &str, access| {
        let key = secured.key(name, &format!(r#""SecurityClearance":"{clearance}","Permissions":{permissions}"#));
        let cookie = Some(format!("Cookie: {}\r\nSec-Fetch-Site: same-origin\r\n", secured.sign_in(&key)));
        Client { name, pair: None, key: None, cookie, access }
    };
    let bad_session = |name, cookie| Client { name, pair: None, key: None, cookie: Some(cookie), access: [Anyone; 3] };
    let of_cluster_admin = r#""SecurityClearance":"ClusterAdmin""#;
    let cookie = secured.sign_in(&secured.key("deleted key of a session", of_cluster_admin));
    let of_deleted = format!("Cookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n");
    secured.administer("DELETE /admin/api-keys?name=deleted%20key%20of%20a%20session", "", 204);
    let cookie = secured.sign_in(&secured.key("key of a session", of_cluster_admin));
    let of_no_page = format!("Cookie: {cookie}\r\n");
    let bad_key = |name, key: String| Client { name, pair: None, key: Some(key), cookie: None, access: [Anyone; 3] };
    let deleted = secured.key("deleted key", r#""SecurityClearance":"ClusterAdmin""#);
    assert_eq!(secured.call(Some(&secured.admin), "DELETE /admin/api-keys?name=deleted%20key", "").status, 204);
    // Valid for a moment: the requests come after it.
    let moment = expiring_key(secured);
    let (expired, future) = (self_signed(&period(2019, 2021)), self_signed(&period(2110, 2120)));
    register(&expired, "ClusterAdmin", "{}");
    register(&future, "ClusterAdmin", "{}");
    let revoked = self_signed(&params("revoked"));
    register(&revoked, "ClusterAdmin", "{}");
    let thumbprint = rookery_server::Thumbprint::of(&revoked.der);
    let delete = format!("DELETE /admin/certificates?thumbprint={thumbprint}");
    assert_eq!(secured.call(Some(&secured.admin), &delete, "").status, 204);
    vec![
        nobody("without a certificate", None),
        nobody("unknown", Some(self_signed(&params("unknown")))),
        nobody("twin of the admin", Some(self_signed(&params("admin")))),
        nobody("expired", Some(expired)),
        nobody("not yet valid", Some(future)),
        nobody("revoked", Some(revoked)),
        registered("user of nothing", "ValidUser", "{}", [ValidUser; 3]),
        registered("reader of a", "ValidUser", r#"{"KIWI":"Read"}"#, [ValidUser, Read, ValidUser]),
        registered("writer of a", "ValidUser", r#"{"kiwi":"ReadWrite"}"#, [ValidUser, ReadWrite, ValidUser]),
        registered("admin of a", "ValidUser", r#"{"kiwi":"Admin"}"#, [ValidUser, Admin, ValidUser]),
        registered("operator", "Operator", r#"{"kiwi":"Read"}"#, [Operator; 3]),
        registered("cluster admin", "ClusterAdmin", "{}", [ClusterAdmin; 3]),
        bad_key("key that nobody made", format!("rookery_{}", "A".repeat(43))),
        bad_key("deleted key", deleted),
        bad_key("expired key", moment),
        keyed("key of a user of nothing", "ValidUser", "{}", [ValidUser; 3]),
        keyed("key of a reader of a", "ValidUser", r#"{"KIWI":"Read"}"#, [ValidUser, Read, ValidUser]),
        keyed("key of a writer of a", "ValidUser", r#"{"kiwi":"ReadWrite"}"#, [ValidUser, ReadWrite, ValidUser]),
        keyed("key of an admin of a", "ValidUser", r#"{"kiwi":"Admin"}"#, [ValidUser, Admin, ValidUser]),
        keyed("key of an operator", "Operator", r#"{"kiwi":"Read"}"#, [Operator; 3]),
        keyed("key of a cluster admin", "ClusterAdmin", "{}", [ClusterAdmin; 3]),
        signed_in("session of a reader of a", "ValidUser", r#"{"KIWI":"Read"}"#, [ValidUser, Read, ValidUser]),
        signed_in(
            "session of a writer of a",
            "ValidUser",
            r#"{"kiwi":"ReadWrite"}"#,
            [ValidUser, ReadWrite, ValidUser],
        ),
        signed_in("session of an operator", "Operator", r#"{"kiwi":"Read"}"#, [Operator; 3]),
        signed_in("session of a cluster admin", "ClusterAdmin", "{}", [ClusterAdmin; 3]),
        bad_session("session of a deleted key", of_deleted),
        bad_session("session of a cluster admin, from no page of this server", of_no_page),
        // The key takes the place of the certificate, also where it has less.
        Client {
            pair: Some(self_signed_admin(secured)),
            ..keyed("admin with the key of a reader", "ValidUser", r#"{"kiwi":"Read"}"#, [ValidUser, Read, ValidUser])
        },
    ]
}

/// A certificate of a cluster admin.
fn self_signed_admin(secured: &Secured) -> Pair {
    let pair = self_signed(&params("second admin"));
    let certificate = BASE64.encode(&pair.der);
    let body = format!(r#"{{"Name":"x","Certificate":"{certificate}","SecurityClearance":"ClusterAdmin"}}"#);
    assert_eq!(secured.call(Some(&secured.admin), "PUT /admin/certificates", &body).status, 201);
    pair
}

/// A key of a cluster admin that has expired when this returns.
fn expiring_key(secured: &Secured) -> String {
    let made = wait::until(|| {
        let end = database::documents::Date::from(SystemTime::now() + Duration::from_secs(2));
        let body = format!(r#"{{"Name":"expiring","SecurityClearance":"ClusterAdmin","Expires":"{end}"}}"#);
        let answer = secured.call(Some(&secured.admin), "POST /admin/api-keys", &body);
        // Refused if it arrives after the moment when the key expires.
        if answer.status == 201 { Ok(answer.json()) } else { Err(answer.text()) }
    });
    let key = made.get("Key").and_then(json::Value::as_str).unwrap().to_owned();
    wait::until_true("the key expires", || secured.call_with_key(&key, "GET /databases", "").status != 200);
    key
}

fn period(begin: i32, end: i32) -> rcgen::CertificateParams {
    let mut params = params("dated");
    (params.not_before, params.not_after) = (rcgen::date_time_ymd(begin, 1, 1), rcgen::date_time_ymd(end, 1, 1));
    params
}

/// Whether a request may be repeated by all clients: it neither takes long, nor ends what the next ones need, nor depends on more than who
/// sends it (`signing_in.rs`).
fn is_harmless(route: &Route) -> bool {
    !matches!(route.path, "/admin/test/delay" | "/studio/sign-in" | "/studio/sign-out")
}

#[test]
fn every_route_lets_in_who_was_granted_its_access_and_no_one_else() {
    // One address sends them all.
    let secured = Secured::start_with(|options| options.limits.failed_attempt_count = 1_000_000);
    for name in DATABASES {
        let line = format!("PUT /admin/databases?name={name}");
        assert_eq!(secured.call(Some(&secured.admin), &line, "{}").status, 201);
    }
    let mut counts = [0, 0];
    for client in clients(&secured) {
        let config = Arc::new(secured.config(client.pair.as_ref(), &[&TLS13]));
        let authorization = client.key.as_ref().map(|key| format!("Authorization: Bearer {key}\r\n"));
        let authorization = authorization.or_else(|| client.cookie.clone()).unwrap_or_default();
        let mut caller = Caller { secured: &secured, config, authorization, stream: None };
        for route in ROUTES.iter().filter(|route| is_harmless(route)) {
            let databases = if route.path.starts_with("/databases/*") { 1..3 } else { 0..1 };
            for place in databases {
                let path = match place {
                    0 => route.path.to_owned(),
                    _ => route.path.replacen('*', DATABASES[place - 1], 1),
                };
                let line = format!("{} {path}", route.method);
                let answer = caller.call(&line, "");
                let is_let_in = client.access[place] >= route.access;
                let what =
                    format!("{}: {line}: {} {}", client.name, answer.status, String::from_utf8_lossy(&answer.body));
                let refusal = if client.key.is_some() && client.access[0] == Access::Anyone { 401 } else { 403 };
                assert_eq!(answer.status != refusal, is_let_in, "{what}");
                counts[usize::from(is_let_in)] += 1;
                // Neither a refusal nor what a client sees of its own names another database.
                let other = DATABASES.iter().zip(&client.access[1..]).filter(|(_, access)| **access < Access::Read);
                for (name, _) in other.filter(|(name, _)| !path.contains(*name)) {
                    assert!(!String::from_utf8_lossy(&answer.body).contains(name), "{what} names {name}");
                }
            }
        }
    }
    println!("{} refused, {} let in", counts[0], counts[1]);
    assert!(counts.iter().all(|count| *count > 500), "{counts:?}");
}

#[test]
fn what_leads_to_another_database_is_refused_inside_of_what_is_let_in() {
    let secured = Secured::start_with(|options| options.limits.failed_attempt_count = 1_000_000);
    for name in DATABASES {
        let line = format!("PUT /admin/databases?name={name}");
        assert_eq!(secured.call(Some(&secured.admin), &line, "{}").status, 201);
        let put = format!("PUT /databases/{name}/docs?id=secret");
        assert_eq!(secured.call(Some(&secured.admin), &put, &format!("{{\"Text\":\"of {name}\"}}")).status, 201);
    }
    let clients = clients(&secured);
    let client = |name| clients.iter().find(|client| client.name == name).unwrap();
    let (pair, key) = (client("admin of a").pair.as_ref(), client("key of an admin of a").key.as_ref().unwrap());
    check_leads(|line, body| secured.call(pair, line, body));
    check_leads(|line, body| secured.call_with_key(key, line, body));
}

#[track_caller]
fn check_leads(call: impl Fn(&str, &str) -> Answer) {
    let inner = r#"{"Requests":[{"Url":"/databases/kiwi/docs","Query":"?id=secret"},{"Url":"/databases/mango/docs","Query":"?id=secret"}]}"#;
    let answer = call("POST /databases/kiwi/multi_get", inner).text();
    assert!(
        answer.contains("of kiwi") && !answer.contains("of mango") && answer.contains("\"StatusCode\":403"),
        "{answer}"
    );
    for (line, body) in [
        ("GET /databases", ""),
        ("GET /topology?name=mango", ""),
        ("GET /topology?name=none", ""),
        ("GET /operations/state?id=1", ""),
        (
            "POST /mcp",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_databases","arguments":{}}}"#,
        ),
        (
            "POST /mcp",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_document","arguments":{"database":"mango","id":"secret"}}}"#,
        ),
    ] {
        let text = call(line, body).text();
        // A client may read back the name that it asked with.
        let asked = line.contains("mango") || body.contains("mango");
        assert!(!text.contains("of mango") && (asked || !text.contains("mango")), "{line} {body}: {text}");
    }
    // The answer is the same whether there is such a database or not.
    let masked = |name: &str| call(&format!("GET /databases/{name}/stats"), "").text().replace(name, "*");
    assert_eq!(masked("mango"), masked("nothing"));
    let topology = |name: &str| call(&format!("GET /topology?name={name}"), "");
    let masked = |name: &str| topology(name).text().replace(name, "*");
    assert_eq!(masked("mango"), masked("nothing"));
    // Clients have an exception for 403, and take 503 for a database that does not exist.
    assert_eq!([topology("kiwi").status, topology("mango").status, topology("nothing").status], [200, 403, 403]);
}
