//! The studio's files: `GET /` leads to `/studio/index.html`, and `GET /studio/…` gives what `studio/dist` had when this was built.
//!
//! The files are in the binary with the feature `studio`; a debug build reads them from their folder, so that they change
//! without compiling. Without the feature a plain page says how to build it. What is under `assets/` has the hash of its
//! content in its name and never changes; the rest is asked for anew each time, and answered with 304. Of a file `x` that
//! gets smaller by it the build has `x.br` and `x.gz` only, which every browser takes; it halves what the studio adds to the binary.

use std::borrow::Cow;
use std::io::Read;

use bytes::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH,
    LOCATION, REFERRER_POLICY,
};
use hyper::{Method, Response, StatusCode};

use crate::error::Result;
use crate::messages::compression;
use crate::messages::reply::{self, Reply, ReplyBody};
use crate::routing::exchange::Exchange;

/// The folder of all files, as it is in paths of requests.
const FOLDER: &str = "/studio/";

/// Scripts are files of ours and nothing else; styles are also set by script (the component library does), which cannot
/// send anything anywhere. Pictures may be in the page itself. Nobody may put the studio into a frame.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The files of the build, by their path below `studio/dist`.
#[cfg(feature = "studio")]
#[derive(rust_embed::Embed)]
#[folder = "../../studio/dist"]
struct Built;

/// The content of a file of the studio.
#[cfg(feature = "studio")]
fn built(path: &str) -> Option<Cow<'static, [u8]>> {
    Built::get(path).map(|file| file.data)
}

/// None of them is in this binary.
#[cfg(not(feature = "studio"))]
fn built(_: &str) -> Option<Cow<'static, [u8]>> {
    None
}

/// GET `/`: 302 to the studio.
pub(crate) fn home(_: &Exchange) -> Result<Reply> {
    let mut reply = reply::empty(StatusCode::FOUND);
    reply.headers_mut().insert(LOCATION, HeaderValue::from_static("/studio/index.html"));
    Ok(reply)
}

/// GET `/studio/index.html`. Without the studio: a page that says how to build it.
pub(crate) fn index(exchange: &Exchange) -> Result<Reply> {
    let studio = answer("index.html", &exchange.headers, built);
    Ok(studio.unwrap_or_else(|| how_to_build(&exchange.own_url())))
}

/// The page of a binary that has no studio.
fn how_to_build(url: &str) -> Reply {
    let page = include_str!("home.html").replace("{version}", env!("CARGO_PKG_VERSION")).replace("{url}", url);
    secured(reply::text("text/html; charset=utf-8", page))
}

/// GET `/studio/…`: a file; 404 if there is none.
pub(crate) fn file(exchange: &Exchange) -> Result<Reply> {
    // Routes are found in any case, files are not.
    let path = exchange.uri.path().get(FOLDER.len()..).unwrap_or_default();
    Ok(answer(path, &exchange.headers, built).unwrap_or_else(|| {
        let mut reply = secured(reply::text("text/plain; charset=utf-8", "The studio has no such file\n"));
        *reply.status_mut() = StatusCode::NOT_FOUND;
        reply
    }))
}

/// The answer for a file, if there is one.
///
/// * `content`: the bytes of a file by its path.
fn answer(path: &str, headers: &HeaderMap, content: impl Fn(&str) -> Option<Cow<'static, [u8]>>) -> Option<Reply> {
    if path.ends_with(".br") || path.ends_with(".gz") || path.contains("..") {
        return None;
    }
    let plain = content(path);
    let stored = plain.clone().or_else(|| content(&format!("{path}.gz")))?;
    let etag = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&stored));
    let is_known = reply::is_match(headers.get(IF_NONE_MATCH), etag.as_bytes());
    let packed = [("br", ".br"), ("gzip", ".gz")].into_iter().find_map(|(encoding, ending)| {
        let is_wanted = compression::is_accepted(headers, encoding);
        let bytes = is_wanted.then(|| content(&format!("{path}{ending}"))).flatten()?;
        Some((encoding, bytes))
    });
    let mut reply = if is_known {
        let mut reply = Response::new(ReplyBody::whole(Bytes::new()));
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
        reply
    } else if let Some((encoding, bytes)) = packed {
        let mut reply = reply::text(content_type(path), bytes_of(bytes));
        reply.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        reply
    } else {
        reply::text(content_type(path), bytes_of(plain.map_or_else(|| unpacked(&stored), Some)?))
    };
    let caching = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    Some(secured(reply::with_etag(reply, reply::quoted_etag(etag.as_bytes()))))
}

/// The content of a file that the build has compressed by gzip. Its size is that of a file of the studio.
fn unpacked(packed: &[u8]) -> Option<Cow<'static, [u8]>> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(packed).read_to_end(&mut plain).ok()?;
    Some(Cow::Owned(plain))
}

fn bytes_of(content: Cow<'static, [u8]>) -> Bytes {
    match content {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => Bytes::from(bytes),
    }
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "woff2" => "font/woff2",
        "json" => "application/json; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Whether a request is for a page that a user opens, which other sites may link to.
pub(crate) fn is_page(method: &Method, path: &str) -> bool {
    (*method == Method::GET || *method == Method::HEAD)
        && (path == "/" || path == "/studio" || path.starts_with("/studio/"))
}

/// Headers that keep a page to itself.
fn secured(mut reply: Reply) -> Reply {
    let headers = reply.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    reply
}

#[cfg(test)]
mod tests {
    use hyper::header::{ACCEPT_ENCODING, CONTENT_TYPE, ETAG};

    use super::*;

    fn content(path: &str) -> Option<Cow<'static, [u8]>> {
        let text: &[u8] = match path {
            "index.html" => b"<p>",
            "assets/app-1.js" => b"let plain",
            "assets/app-1.js.br" => b"brotli",
            "assets/app-1.js.gz" => b"gzip",
            "assets/packed-1.js.br" => b"brotli",
            "assets/packed-1.js.gz" => return Some(Cow::Owned(gzip(b"let packed"))),
            _ => return None,
        };
        Some(Cow::Borrowed(text))
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        flate2::read::GzEncoder::new(text, flate2::Compression::default()).read_to_end(&mut packed).unwrap();
        packed
    }

    /// Status, encoding, caching and body.
    fn ask(path: &str, name: HeaderName, value: &str) -> Option<(u16, String, String, String)> {
        let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
        let reply = answer(path, &headers, content)?;
        let text = |name| reply.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let body = String::from_utf8(reply.body().as_whole().unwrap().to_vec()).unwrap();
        Some((reply.status().as_u16(), text(CONTENT_ENCODING), text(CACHE_CONTROL), body))
    }

    #[test]
    fn a_file_comes_in_the_best_encoding_that_is_accepted() {
        for (accepted, encoding, body) in
            [("gzip, deflate, br", "br", "brotli"), ("gzip, br;q=0", "gzip", "gzip"), ("zstd", "", "let plain")]
        {
            let (status, chosen, caching, text) = ask("assets/app-1.js", ACCEPT_ENCODING, accepted).unwrap();
            assert_eq!((status, chosen.as_str(), text.as_str()), (200, encoding, body), "{accepted}");
            assert!(caching.contains("immutable"));
        }
        assert_eq!(
            ask("index.html", ACCEPT_ENCODING, "br").unwrap(),
            (200, "".into(), "no-cache".into(), "<p>".into())
        );
    }

    #[test]
    fn a_file_that_is_there_only_packed_is_unpacked_for_clients_that_take_nothing_else() {
        let plain = ask("assets/packed-1.js", ACCEPT_ENCODING, "identity").unwrap();
        assert_eq!((plain.1.as_str(), plain.3.as_str()), ("", "let packed"));
        let etag = |accepted| {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accepted))]);
            answer("assets/packed-1.js", &headers, content).unwrap().headers()[ETAG].clone()
        };
        assert_eq!(etag("br"), etag("identity"));
        assert_eq!(ask("assets/packed-1.js", ACCEPT_ENCODING, "br").unwrap().3, "brotli");
    }

    #[test]
    fn without_the_studio_a_page_says_how_to_build_it() {
        let page = how_to_build("http://127.0.0.1:8080");
        assert_eq!(page.status(), StatusCode::OK);
        assert_eq!(page.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        let text = String::from_utf8(page.body().as_whole().unwrap().to_vec()).unwrap();
        for part in ["<h1>Rookery</h1>", "http://127.0.0.1:8080", "make studio", env!("CARGO_PKG_VERSION")] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(page.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap().contains("script-src 'self'; "));
    }

    #[test]
    fn what_was_packed_beside_a_file_is_no_file_and_paths_do_not_climb() {
        for path in ["assets/app-1.js.br", "assets/app-1.js.gz", "assets/app-2.js", "../dist/index.html", ""] {
            assert_eq!(ask(path, ACCEPT_ENCODING, "br"), None, "{path}");
        }
    }

    #[test]
    fn a_file_that_the_browser_has_is_not_sent_again() {
        let first = answer("index.html", &HeaderMap::new(), content).unwrap();
        assert_eq!(first.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        let etag = first.headers()[ETAG].to_str().unwrap().to_owned();
        assert_eq!(ask("index.html", IF_NONE_MATCH, &etag).unwrap(), (304, "".into(), "no-cache".into(), "".into()));
        assert_eq!(ask("index.html", IF_NONE_MATCH, "\"other\"").unwrap().0, 200);
    }
}
