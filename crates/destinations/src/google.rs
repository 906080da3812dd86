//! Google Cloud Storage.

use std::sync::Arc;

use database::Result;
use database::backups::DestinationSettings;
use json::Value;
use object_store::gcp::GoogleCloudStorageBuilder;

use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::{ObjectStores, Opened, network};

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
    let base = property("gcs_base_url");
    let store = GoogleCloudStorageBuilder::new()
        .with_bucket_name(bucket)
        .with_service_account_key(credentials)
        .with_client_options(object_store::ClientOptions::new().with_allow_http(base.is_some()))
        .with_retry(network::retries(options))
        .with_http_connector(network::Connector::new(options)?)
        .build()
        .map_err(|_| wrong())?;
    let place = format!("the Google Cloud bucket '{bucket}'");
    Ok(Opened { store: Arc::new(store), place, root: settings.folder()?, secrets })
}
