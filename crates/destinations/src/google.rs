//! Google Cloud Storage.

use std::sync::Arc;

use database::Result;
use database::backups::DestinationSettings;
use json::Value;
use object_store::gcp::GoogleCloudStorageBuilder;
use reqwest::Url;

use crate::network;
use crate::options::{ObjectStores, Opened};
use crate::secrets::Secrets;
use crate::settings::Settings;

const KNOWN: [&str; 3] = ["BucketName", "RemoteFolderName", "GoogleCredentialsJson"];

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
    // A file of Google's has them, and they lead to Google. Others would have the server make requests to any address.
    for name in ["gcs_base_url", "token_uri"] {
        if property(name).is_some_and(|url| !is_of_google(url)) {
            return Err(
                settings.bad("GoogleCredentialsJson", &format!("must not have a '{name}' that is not Google's"))
            );
        }
    }
    let store = GoogleCloudStorageBuilder::new()
        .with_bucket_name(bucket)
        .with_service_account_key(credentials)
        .with_retry(network::retries(options))
        .with_http_connector(network::Connector::new(options, given.is_restricted)?)
        .build()
        .map_err(|_| wrong())?;
    let place = format!("the Google Cloud bucket '{bucket}'");
    Ok(Opened {
        store: Arc::new(store),
        place,
        root: settings.folder()?,
        secrets: secrets.hiding_answers(given.is_restricted),
    })
}

/// Whether a URL leads to an interface of Google's.
fn is_of_google(url: &str) -> bool {
    let is_host = |host: &str| host == "accounts.google.com" || host.ends_with(".googleapis.com");
    Url::parse(url)
        .is_ok_and(|url| url.scheme() == "https" && url.port().is_none() && url.host_str().is_some_and(is_host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_google_are_its_own() {
        for url in [
            "https://oauth2.googleapis.com/token",
            "https://accounts.google.com/o/oauth2/token",
            "https://storage.googleapis.com",
        ] {
            assert!(is_of_google(url), "{url}");
        }
        for url in [
            "http://oauth2.googleapis.com/token",
            "https://googleapis.com.evil.example",
            "https://evilgoogleapis.com",
            "http://127.0.0.1:80",
            "https://x.googleapis.com:8443",
            "",
        ] {
            assert!(!is_of_google(url), "{url}");
        }
    }
}
