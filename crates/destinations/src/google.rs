//! Google Cloud Storage.

use std::sync::Arc;

use database::Result;
use database::backups::DestinationSettings;
use json::Value;
use object_store::gcp::GoogleCloudStorageBuilder;
use reqwest::Url;

use crate::options::{ObjectStores, Opened};
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::{addresses, network};

const KNOWN: [&str; 3] = ["BucketName", "RemoteFolderName", "GoogleCredentialsJson"];

/// The property of the credentials with the address of the interface; without it they lead to Google's.
const SERVER: &str = "gcs_base_url";

pub(crate) fn open(given: &DestinationSettings, options: &ObjectStores) -> Result<Opened> {
    let settings = Settings::new(given, &KNOWN)?;
    let bucket = settings.part_of_address("BucketName", "-._")?;
    let credentials = settings.required("GoogleCredentialsJson")?;
    let wrong = || {
        settings.bad(
            "GoogleCredentialsJson",
            "must be the text of the JSON file of a service account's key, with 'private_key' and 'client_email'",
        )
    };
    let key = Value::parse(credentials.as_bytes()).map_err(|_| wrong())?;
    let property = |name: &str| key.get(name).and_then(Value::as_str);
    let mut secrets = Secrets::new([credentials]);
    for name in ["private_key", "private_key_id"] {
        secrets.add(property(name).ok_or_else(wrong)?);
    }
    property("client_email").ok_or_else(wrong)?;
    let server = property(SERVER).map(|url| server(&settings, url, given.is_restricted)).transpose()?;
    let store = GoogleCloudStorageBuilder::new()
        .with_bucket_name(bucket)
        .with_service_account_key(credentials)
        .with_retry(network::retries(options))
        .with_http_connector(network::Connector::new(options, given.is_restricted)?)
        .build()
        .map_err(|_| wrong())?;
    let place = match &server {
        Some(server) => format!("the bucket '{bucket}' of {}", server.as_str().trim_end_matches('/')),
        None => format!("the Google Cloud bucket '{bucket}'"),
    };
    Ok(Opened {
        store: Arc::new(store),
        place,
        root: settings.folder()?,
        secrets: secrets.hiding_answers(given.is_restricted),
    })
}

/// The address in the credentials. Only an operator may have the server make requests to any address, such as an emulator's.
fn server(settings: &Settings<'_>, text: &str, is_restricted: bool) -> Result<Url> {
    let url = addresses::parse(text).filter(|url| !is_restricted || is_of_google(url));
    url.ok_or_else(|| {
        let rule = match is_restricted {
            true => "may have a 'gcs_base_url' of Google's only: others are for operators",
            false => "must have no 'gcs_base_url', or an address such as 'http://127.0.0.1:4443', without user, password or query",
        };
        settings.bad("GoogleCredentialsJson", rule)
    })
}

/// Whether a URL leads to an interface of Google's.
fn is_of_google(url: &Url) -> bool {
    let is_host = |host: &str| host.ends_with(".googleapis.com");
    url.scheme() == "https" && url.port().is_none() && url.host_str().is_some_and(is_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_google_are_its_own() {
        let is_own = |url: &str| addresses::parse(url).is_some_and(|url| is_of_google(&url));
        for url in ["https://storage.googleapis.com", "https://storage-x.p.googleapis.com/"] {
            assert!(is_own(url), "{url}");
        }
        for url in [
            "http://storage.googleapis.com",
            "https://googleapis.com.evil.example",
            "https://evilgoogleapis.com",
            "http://127.0.0.1:80",
            "https://x.googleapis.com:8443",
            "https://u:p@x.googleapis.com",
            "",
        ] {
            assert!(!is_own(url), "{url}");
        }
    }
}
