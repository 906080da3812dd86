//! Azure Blob Storage.

use std::sync::Arc;

use database::Result;
use database::backups::DestinationSettings;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use crate::network;
use crate::options::{ObjectStores, Opened};
use crate::secrets::Secrets;
use crate::settings::{Settings, bad};

const KNOWN: [&str; 5] = ["StorageContainer", "RemoteFolderName", "AccountName", "AccountKey", "SasToken"];

pub(crate) fn open(given: &DestinationSettings, options: &ObjectStores) -> Result<Opened> {
    let settings = Settings::new(given, &KNOWN)?;
    let container = settings.part_of_address("StorageContainer", "-$")?;
    let account = settings.part_of_address("AccountName", "-")?;
    let mut builder = MicrosoftAzureBuilder::new()
        .with_account(account)
        .with_container_name(container)
        .with_retry(network::retries(options))
        .with_http_connector(network::Connector::new(options, given.is_restricted)?);
    if let Some(endpoint) = &options.azure_endpoint {
        builder = builder.with_endpoint(endpoint.clone()).with_allow_http(endpoint.starts_with("http:"));
    }
    let mut secrets = Secrets::default();
    builder = match (settings.text("AccountKey")?, settings.text("SasToken")?) {
        (Some(key), None) => {
            secrets.add(key);
            builder.with_access_key(key)
        }
        (None, Some(token)) => {
            secrets.add(token);
            // The signature is the secret of a token; it may come alone, and decoded.
            let parts = token.trim_start_matches('?').split('&').filter_map(|part| part.strip_prefix("sig="));
            for signature in parts {
                secrets.add(signature);
                secrets.add(&signature.replace("%2B", "+").replace("%2F", "/").replace("%3D", "="));
            }
            builder.with_config(AzureConfigKey::SasKey, token)
        }
        // Without them the client would take an identity of the machine.
        _ => return Err(bad("'AzureSettings' must have either 'AccountKey' or 'SasToken'")),
    };
    let place = format!("the container '{container}' of the Azure account '{account}'");
    let store = builder.build().map_err(|_| {
        bad("'AzureSettings' cannot be used: 'AccountKey' must be the key in base64, or 'SasToken' such as 'sv=..&sig=..'")
    })?;
    Ok(Opened {
        store: Arc::new(store),
        place,
        root: settings.folder()?,
        secrets: secrets.hiding_answers(given.is_restricted),
    })
}
