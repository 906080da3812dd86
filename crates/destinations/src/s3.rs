//! Amazon S3, and what speaks its protocol: MinIO, Cloudflare R2, Ceph, ..

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use database::Result;
use database::backups::DestinationSettings;
use object_store::aws::AmazonS3Builder;
use reqwest::Url;

use crate::options::{ObjectStores, Opened};
use crate::secrets::Secrets;
use crate::settings::{Settings, bad};
use crate::{addresses, network};

const KNOWN: [&str; 8] = [
    "AwsAccessKey",
    "AwsSecretKey",
    "AwsSessionToken",
    "AwsRegionName",
    "BucketName",
    "RemoteFolderName",
    "CustomServerUrl",
    "ForcePathStyle",
];

/// The region of servers that have none.
const NO_REGION: &str = "us-east-1";

pub(crate) fn open(given: &DestinationSettings, options: &ObjectStores) -> Result<Opened> {
    let settings = Settings::new(given, &KNOWN)?;
    // Without keys the client would take those of the machine, which may do more than the author of these settings.
    let (access, secret) = (settings.required("AwsAccessKey")?, settings.required("AwsSecretKey")?);
    let token = settings.text("AwsSessionToken")?;
    let bucket = settings.part_of_address("BucketName", "-._")?;
    let is_path_style = settings.flag("ForcePathStyle")?;
    let server = addresses::custom_server(&settings, given.is_restricted, "https://minio.example.com:9000")?;
    let region = match settings.text("AwsRegionName")? {
        Some(_) => settings.part_of_address("AwsRegionName", "-")?,
        None if server.is_some() => NO_REGION,
        None => {
            return Err(settings
                .bad("AwsRegionName", "must be given, such as 'eu-central-1', if there is no 'CustomServerUrl'"));
        }
    };
    let address = Address::new(server.as_ref(), region, bucket, is_path_style)?;
    let mut builder = AmazonS3Builder::new()
        .with_access_key_id(access)
        .with_secret_access_key(secret)
        .with_bucket_name(bucket)
        .with_region(region)
        .with_endpoint(address.endpoint.as_str())
        .with_virtual_hosted_style_request(address.has_bucket)
        .with_allow_http(server.as_ref().is_some_and(|server| server.scheme() == "http"))
        // One request for each file is what all servers know.
        .with_disable_bulk_delete(true)
        .with_retry(network::retries(options))
        .with_http_connector(network::Connector::new(options, given.is_restricted)?);
    if let Some(token) = token {
        builder = builder.with_token(token);
    }
    let secrets = Secrets::new([Some(access), Some(secret), token].into_iter().flatten());
    let place = match &server {
        Some(server) => format!("the bucket '{bucket}' of {}", server.as_str().trim_end_matches('/')),
        None => format!("the S3 bucket '{bucket}' in {region}"),
    };
    let store = builder
        .build()
        .map_err(|error| bad(format!("'S3Settings' cannot be used: {}", secrets.redact(&error.to_string()))))?;
    Ok(Opened {
        store: Arc::new(store),
        place,
        root: settings.folder()?,
        secrets: secrets.hiding_answers(given.is_restricted),
    })
}

/// Where requests go.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    endpoint: String,
    /// Whether the bucket is in the name of the host; otherwise it begins the path.
    has_bucket: bool,
}

impl Address {
    fn new(server: Option<&Url>, region: &str, bucket: &str, is_path_style: bool) -> Result<Address> {
        let server = match server {
            Some(server) => server.clone(),
            None => {
                let domain = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
                Url::parse(&format!("https://s3.{region}.{domain}"))
                    .map_err(|error| bad(format!("the address of S3 cannot be made: {error}")))?
            }
        };
        let host = server.host_str().unwrap_or_default();
        let is_number = host.parse::<Ipv4Addr>().is_ok() || host.trim_matches(['[', ']']).parse::<Ipv6Addr>().is_ok();
        // A certificate for `*.host` is not one for `a.b.host`, and an address in numbers has no names below it.
        let has_bucket = !is_path_style && !is_number && host != "localhost" && !bucket.contains(['.', '_']);
        let mut endpoint = server.clone();
        if has_bucket && endpoint.set_host(Some(&format!("{bucket}.{host}"))).is_err() {
            return Err(bad(format!(
                "the bucket '{bucket}' cannot be a part of the name of a host. Set 'ForcePathStyle' in 'S3Settings'"
            )));
        }
        Ok(Address { endpoint: endpoint.as_str().trim_end_matches('/').to_owned(), has_bucket })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(server: Option<&str>, region: &str, bucket: &str, is_path_style: bool, expected: &str, has_bucket: bool) {
        let server = server.map(|text| Url::parse(text).unwrap());
        let expected = Address { endpoint: expected.to_owned(), has_bucket };
        assert_eq!(Address::new(server.as_ref(), region, bucket, is_path_style).unwrap(), expected);
    }

    #[test]
    fn the_bucket_is_in_the_host_where_that_works() {
        check(None, "eu-central-1", "b", false, "https://b.s3.eu-central-1.amazonaws.com", true);
        check(None, "eu-central-1", "b", true, "https://s3.eu-central-1.amazonaws.com", false);
        check(None, "eu-central-1", "a.b", false, "https://s3.eu-central-1.amazonaws.com", false);
        check(None, "cn-north-1", "b", false, "https://b.s3.cn-north-1.amazonaws.com.cn", true);
        let minio = Some("https://minio.example.com:9000/");
        check(minio, "x", "b", false, "https://b.minio.example.com:9000", true);
        check(minio, "x", "b", true, "https://minio.example.com:9000", false);
        check(Some("http://127.0.0.1:9000"), "x", "b", false, "http://127.0.0.1:9000", false);
        check(Some("http://[::1]:9000"), "x", "b", false, "http://[::1]:9000", false);
        check(Some("http://localhost:9000"), "x", "b", false, "http://localhost:9000", false);
    }
}
