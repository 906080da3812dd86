//! Who may call the server, with what each may do: registered certificates of clients, and API keys.
//!
//! The node keeps them beside its databases. Whether a client has the private key of a certificate, and whether a certificate or key is
//! valid now, is checked where requests arrive; here each is an entry under its id.

use std::fmt::Debug;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use json::Value;

use crate::limits::{API_KEYS_MAX, CERTIFICATES_MAX, PRINCIPAL_NAME_SIZE_MAX, PRINCIPAL_PERMISSIONS_MAX};
use crate::{Error, Result, name};

/// A kind of entry that the node keeps for principals.
pub trait Principal: Clone + PartialEq + Debug {
    /// What an answer calls one of them.
    const KIND: &'static str;
    #[doc(hidden)]
    const TREE: &'static [u8];
    /// How many there may be, and the name of that limit.
    #[doc(hidden)]
    const COUNT_MAX: (u64, &'static str);

    /// What it may do.
    fn rights(&self) -> &Rights;

    #[doc(hidden)]
    fn to_json(&self) -> Value;

    #[doc(hidden)]
    fn from_json(value: &Value) -> Option<Self>;
}

/// What a principal may do with the server. Each includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clearance {
    /// What [`Rights::permissions`] grant, and nothing else.
    ValidUser,
    /// Everything with databases and the server, but not with those of the level above.
    Operator,
    /// Everything.
    ClusterAdmin,
}

impl Clearance {
    const ALL: [Clearance; 3] = [Clearance::ValidUser, Clearance::Operator, Clearance::ClusterAdmin];

    /// Its name in JSON.
    pub fn wire_name(self) -> &'static str {
        match self {
            Clearance::ValidUser => "ValidUser",
            Clearance::Operator => "Operator",
            Clearance::ClusterAdmin => "ClusterAdmin",
        }
    }

    /// The clearance of this name, in any ASCII case.
    pub fn from_wire(name: &str) -> Option<Clearance> {
        Clearance::ALL.into_iter().find(|clearance| clearance.wire_name().eq_ignore_ascii_case(name))
    }
}

/// What a principal may do with one database. Each includes the ones before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Reading documents, queries, changes.
    Read,
    /// Writing documents, too, and indexes that need no code.
    ReadWrite,
    /// Settings and all indexes, too.
    Admin,
}

impl Permission {
    const ALL: [Permission; 3] = [Permission::Read, Permission::ReadWrite, Permission::Admin];

    /// Its name in JSON.
    pub fn wire_name(self) -> &'static str {
        match self {
            Permission::Read => "Read",
            Permission::ReadWrite => "ReadWrite",
            Permission::Admin => "Admin",
        }
    }

    /// The permission of this name, in any ASCII case.
    pub fn from_wire(name: &str) -> Option<Permission> {
        Permission::ALL.into_iter().find(|permission| permission.wire_name().eq_ignore_ascii_case(name))
    }
}

/// What a principal may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// With the server and all databases.
    pub clearance: Clearance,
    /// With single databases: by their names, which databases that do not exist yet may have. Names differ in more than ASCII case.
    pub permissions: Vec<(String, Permission)>,
}

impl Rights {
    /// * `value`: `{"SecurityClearance":"ValidUser","Permissions":{"Shop":"ReadWrite"}}`, and whatever else.
    ///
    /// # Errors
    ///
    /// [`Error::BadPrincipal`]
    pub fn from_json(value: &Value) -> Result<Rights> {
        let clearance = match value.get("SecurityClearance") {
            Some(Value::String(name)) => Clearance::from_wire(name),
            _ => None,
        };
        let clearance = clearance
            .ok_or_else(|| bad("'SecurityClearance' must be ValidUser, Operator or ClusterAdmin".to_owned()))?;
        let granted = match value.get("Permissions") {
            None | Some(Value::Null) => &[][..],
            Some(granted @ Value::Object(_)) => granted.members(),
            Some(_) => {
                return Err(bad("'Permissions' must be an object from names of databases to permissions".to_owned()));
            }
        };
        if granted.len() > PRINCIPAL_PERMISSIONS_MAX {
            return Err(bad(format!(
                "'Permissions' has {} databases, over the limit PRINCIPAL_PERMISSIONS_MAX of {PRINCIPAL_PERMISSIONS_MAX}",
                granted.len()
            )));
        }
        let mut permissions: Vec<(String, Permission)> = Vec::with_capacity(granted.len());
        for (database, permission) in granted {
            name::check(database)?;
            let permission = permission.as_str().and_then(Permission::from_wire).ok_or_else(|| {
                bad(format!("The permission for the database '{database}' must be Read, ReadWrite or Admin"))
            })?;
            if permissions.iter().any(|(other, _)| other.eq_ignore_ascii_case(database)) {
                return Err(bad(format!("'Permissions' names the database '{database}' twice")));
            }
            permissions.push((database.to_owned(), permission));
        }
        Ok(Rights { clearance, permissions })
    }

    /// The inverse of [`from_json`](Self::from_json): sets both properties.
    fn set_in(&self, value: &mut Value) {
        value.set("SecurityClearance", self.clearance.wire_name().into());
        let mut permissions = Value::object();
        for (database, permission) in &self.permissions {
            permissions.set(database, permission.wire_name().into());
        }
        value.set("Permissions", permissions);
    }
}

/// A certificate whose holders the server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredCertificate {
    /// What people call it.
    pub name: String,
    /// What its holders may do.
    pub rights: Rights,
    /// The certificate itself: its DER in base64.
    pub certificate: String,
}

impl Principal for RegisteredCertificate {
    const KIND: &'static str = "certificate";
    const TREE: &'static [u8] = b"system/certificates";
    const COUNT_MAX: (u64, &'static str) = (CERTIFICATES_MAX, "CERTIFICATES_MAX");

    fn rights(&self) -> &Rights {
        &self.rights
    }

    fn to_json(&self) -> Value {
        let mut value = Value::object();
        value.set("Name", self.name.as_str().into());
        self.rights.set_in(&mut value);
        value.set("Certificate", self.certificate.as_str().into());
        value
    }

    fn from_json(value: &Value) -> Option<RegisteredCertificate> {
        let rights = Rights::from_json(value).ok()?;
        Some(RegisteredCertificate { name: text(value, "Name")?, rights, certificate: text(value, "Certificate")? })
    }
}

/// A key that a client sends with each request. The node keeps its hash, from which the key cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// What people call it. No other key has the same name in any ASCII case.
    pub name: String,
    /// What its holders may do.
    pub rights: Rights,
    /// SHA-256 of the key's text, in hexadecimal. A key has 256 random bits, so that a slow hash would protect nothing more.
    pub hash: String,
    /// To the second.
    pub created: SystemTime,
    /// The first moment at which it is no longer valid, to the second; `None` if it is valid until it is deleted.
    pub expires: Option<SystemTime>,
    /// When a request came with it last, to the second, as far as that was noted.
    pub last_used: Option<SystemTime>,
}

impl ApiKey {
    /// What it is kept under.
    pub fn id(name: &str) -> String {
        name.to_ascii_lowercase()
    }
}

impl Principal for ApiKey {
    const KIND: &'static str = "API key";
    const TREE: &'static [u8] = b"system/api-keys";
    const COUNT_MAX: (u64, &'static str) = (API_KEYS_MAX, "API_KEYS_MAX");

    fn rights(&self) -> &Rights {
        &self.rights
    }

    fn to_json(&self) -> Value {
        let mut value = Value::object();
        value.set("Name", self.name.as_str().into());
        self.rights.set_in(&mut value);
        value.set("Hash", self.hash.as_str().into());
        value.set("Created", seconds(self.created));
        for (name, moment) in [("Expires", self.expires), ("LastUsed", self.last_used)] {
            if let Some(moment) = moment {
                value.set(name, seconds(moment));
            }
        }
        value
    }

    fn from_json(value: &Value) -> Option<ApiKey> {
        let rights = Rights::from_json(value).ok()?;
        let (name, hash) = (text(value, "Name")?, text(value, "Hash")?);
        // The outer `None` is for what is there and cannot be read.
        let moment = |name: &str| match value.get(name) {
            Some(value) => time(value).map(Some),
            None => Some(None),
        };
        let (created, expires, last_used) = (moment("Created")??, moment("Expires")?, moment("LastUsed")?);
        Some(ApiKey { name, rights, hash, created, expires, last_used })
    }
}

/// Checks the name of a principal.
///
/// # Errors
///
/// [`Error::BadPrincipal`]
pub fn check_principal_name<P: Principal>(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(bad(format!("Name is a required field in the {} definition", P::KIND)));
    }
    if name.len() > PRINCIPAL_NAME_SIZE_MAX || name.chars().any(char::is_control) {
        return Err(bad(format!(
            "The name of a {} has at most {PRINCIPAL_NAME_SIZE_MAX} bytes (PRINCIPAL_NAME_SIZE_MAX) and no control characters",
            P::KIND
        )));
    }
    Ok(())
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// Whole seconds since 1970, as they are stored.
fn seconds(time: SystemTime) -> Value {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Value::Number(since.as_secs().to_string())
}

/// The inverse.
fn time(value: &Value) -> Option<SystemTime> {
    let Value::Number(seconds) = value else { return None };
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds.parse().ok()?))
}

fn bad(rule: String) -> Error {
    Error::BadPrincipal { rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(text: &str) -> std::result::Result<Rights, String> {
        Rights::from_json(&Value::parse(text.as_bytes()).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn rights_are_read_in_any_case_and_written_back() {
        let read =
            rights(r#"{"SecurityClearance":"validuser","Permissions":{"Shop":"readwrite","Log":"Read"}}"#).unwrap();
        let permissions = vec![("Shop".to_owned(), Permission::ReadWrite), ("Log".to_owned(), Permission::Read)];
        assert_eq!(read, Rights { clearance: Clearance::ValidUser, permissions });
        let registered = RegisteredCertificate { name: "app".to_owned(), rights: read, certificate: "MIIB".to_owned() };
        assert_eq!(RegisteredCertificate::from_json(&registered.to_json()), Some(registered));
        for empty in [r#"{"SecurityClearance":"Operator"}"#, r#"{"SecurityClearance":"Operator","Permissions":null}"#] {
            assert_eq!(rights(empty), Ok(Rights { clearance: Clearance::Operator, permissions: Vec::new() }));
        }
    }

    #[test]
    fn rights_that_cannot_be_granted_say_why() {
        let check = |text: &str, expected: &str| {
            let error = rights(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        };
        for text in ["{}", r#"{"SecurityClearance":"ClusterNode"}"#, r#"{"SecurityClearance":1}"#] {
            check(text, "'SecurityClearance' must be ValidUser, Operator or ClusterAdmin");
        }
        let permissions = |text: &str| format!(r#"{{"SecurityClearance":"ValidUser","Permissions":{text}}}"#);
        check(&permissions("[]"), "must be an object");
        check(&permissions(r#"{"Shop":"Write"}"#), "for the database 'Shop' must be Read, ReadWrite or Admin");
        check(&permissions(r#"{"Shop":null}"#), "for the database 'Shop' must be");
        check(&permissions(r#"{"Shop":"Read","SHOP":"Admin"}"#), "names the database 'SHOP' twice");
        check(&permissions(r#"{"a/b":"Read"}"#), "The name 'a/b' is not permitted");
        let many: Vec<String> = (0..=PRINCIPAL_PERMISSIONS_MAX).map(|n| format!(r#""d{n}":"Read""#)).collect();
        check(&permissions(&format!("{{{}}}", many.join(","))), "PRINCIPAL_PERMISSIONS_MAX");
    }

    #[test]
    fn a_key_is_stored_to_the_second() {
        let rights = Rights { clearance: Clearance::Operator, permissions: Vec::new() };
        let created = UNIX_EPOCH + Duration::from_secs(1_790_000_000);
        let key =
            ApiKey { name: "ci".to_owned(), rights, hash: "ab".repeat(32), created, expires: None, last_used: None };
        for moment in [None, Some(created + Duration::from_secs(60))] {
            let key = ApiKey { expires: moment, last_used: moment, ..key.clone() };
            assert_eq!(ApiKey::from_json(&key.to_json()), Some(key));
        }
        for broken in [r#"{}"#, r#"{"Name":"a","Hash":"b","SecurityClearance":"Operator","Created":1,"Expires":"x"}"#] {
            assert_eq!(ApiKey::from_json(&Value::parse(broken.as_bytes()).unwrap()), None);
        }
    }

    #[test]
    fn a_name_is_a_line_of_bounded_length() {
        for name in ["app", "Ünï app", &"x".repeat(PRINCIPAL_NAME_SIZE_MAX)] {
            check_principal_name::<RegisteredCertificate>(name).unwrap();
        }
        for name in ["", " ", "a\nb", &"x".repeat(PRINCIPAL_NAME_SIZE_MAX + 1)] {
            check_principal_name::<ApiKey>(name).unwrap_err();
        }
    }
}
