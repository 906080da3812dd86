//! Certificates of clients that are registered, with what each may do.
//!
//! The node keeps them beside its databases. Whether a client has the private key, and whether its certificate is valid now, is checked
//! where connections are made; here a certificate is what it is registered under: its thumbprint.

use json::Value;

use crate::limits::{CERTIFICATE_NAME_SIZE_MAX, CERTIFICATE_PERMISSIONS_MAX};
use crate::{Error, Result, name};

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
    /// [`Error::BadCertificate`]
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
        if granted.len() > CERTIFICATE_PERMISSIONS_MAX {
            return Err(bad(format!(
                "'Permissions' has {} databases, over the limit CERTIFICATE_PERMISSIONS_MAX of {CERTIFICATE_PERMISSIONS_MAX}",
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

impl RegisteredCertificate {
    /// Checks a name.
    ///
    /// # Errors
    ///
    /// [`Error::BadCertificate`]
    pub fn check_name(name: &str) -> Result<()> {
        if name.trim().is_empty() {
            return Err(bad("Name is a required field in the certificate definition".to_owned()));
        }
        if name.len() > CERTIFICATE_NAME_SIZE_MAX || name.chars().any(char::is_control) {
            return Err(bad(format!(
                "The name of a certificate has at most {CERTIFICATE_NAME_SIZE_MAX} bytes (CERTIFICATE_NAME_SIZE_MAX) and no control \
                 characters"
            )));
        }
        Ok(())
    }

    /// As it is stored.
    pub(crate) fn to_json(&self) -> Value {
        let mut value = Value::object();
        value.set("Name", self.name.as_str().into());
        self.rights.set_in(&mut value);
        value.set("Certificate", self.certificate.as_str().into());
        value
    }

    pub(crate) fn from_json(value: &Value) -> Option<RegisteredCertificate> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let rights = Rights::from_json(value).ok()?;
        Some(RegisteredCertificate { name: text("Name")?, rights, certificate: text("Certificate")? })
    }
}

fn bad(rule: String) -> Error {
    Error::BadCertificate { rule }
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
        let many: Vec<String> = (0..=CERTIFICATE_PERMISSIONS_MAX).map(|n| format!(r#""d{n}":"Read""#)).collect();
        check(&permissions(&format!("{{{}}}", many.join(","))), "CERTIFICATE_PERMISSIONS_MAX");
    }

    #[test]
    fn a_name_is_a_line_of_bounded_length() {
        for name in ["app", "Ünï app", &"x".repeat(CERTIFICATE_NAME_SIZE_MAX)] {
            RegisteredCertificate::check_name(name).unwrap();
        }
        for name in ["", " ", "a\nb", &"x".repeat(CERTIFICATE_NAME_SIZE_MAX + 1)] {
            RegisteredCertificate::check_name(name).unwrap_err();
        }
    }
}
