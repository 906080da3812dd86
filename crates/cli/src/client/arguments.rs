//! The flags that name a server.

use std::path::PathBuf;

/// The flags that name a server, and what HTTPS needs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ServerArguments {
    /// The server.
    #[arg(long, env = "ROOKERY_URL", hide_env_values = true, default_value = "http://127.0.0.1:8080")]
    pub url: String,
    /// A client certificate with its key, in a PEM or PFX file, for a server with HTTPS.
    #[arg(long, env = "ROOKERY_CERTIFICATE", hide_env_values = true, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// The password of a PFX file.
    #[arg(
        long,
        env = "ROOKERY_CERT_PASSWORD",
        hide_env_values = true,
        default_value = "",
        hide_default_value = true,
        value_name = "PASSWORD"
    )]
    pub certificate_password: String,
    /// An API key, in place of a client certificate.
    #[arg(long, env = "ROOKERY_API_KEY", hide_env_values = true, value_name = "KEY", conflicts_with = "certificate")]
    pub api_key: Option<String>,
    /// The authority that signed the server's certificate, in a PEM file [default: those that this machine trusts].
    #[arg(long, env = "ROOKERY_CA", hide_env_values = true, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}
