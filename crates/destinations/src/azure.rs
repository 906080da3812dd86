//! Azure Blob Storage.

use std::sync::Arc;

use database::Result;
use database::backups::DestinationSettings;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use crate::options::{ObjectStores, Opened};
use crate::secrets::Secrets;
use crate::settings::{Settings, bad};
use crate::{addresses, network};

/// RavenDB does not have `CustomServerUrl`: the address of the account where that is not `https://<account>.blob.core.windows.net`, as
/// in Azure's clouds for China and the government of the US, and in emulators.
const KNOWN: [&str; 6] =
    ["StorageContainer", "RemoteFolderName", "AccountName", "AccountKey", "SasToken", "CustomServerUrl"];

pub(crate) fn open(given: &DestinationSettings, options: &ObjectStores) -> Result<Opened> {
    let settings = Settings::new(given, &KNOWN)?;
    let container = settings.part_of_address("StorageContainer", "-$")?;
    let account = settings.part_of_address("AccountName", "-")?;
    let mut builder = MicrosoftAzureBuilder::new()
        .with_account(account)
        .with_container_name(container)
        .with_retry(network::retries(options))
        .with_http_connector(network::Connector::new(options, given.is_restricted)?);
    let example = "https://shop.blob.core.chinacloudapi.cn";
    let server = addresses::custom_server(&settings, given.is_restricted, example)?;
    if let Some(server) = &server {
        builder = builder.with_endpoint(server.to_string()).with_allow_http(server.scheme() == "http");
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
    let place = match &server {
        Some(server) => format!("the container '{container}' of {}", server.as_str().trim_end_matches('/')),
        None => format!("the container '{container}' of the Azure account '{account}'"),
    };
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
