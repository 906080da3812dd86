//! Pages, and what the node says about itself.

use super::support::Wire;

#[test]
fn the_first_page_says_what_this_is() {
    let wire = Wire::start();
    let home = wire.call("GET /", "");
    assert_eq!((home.status, home.header("location")), (302, Some("/studio/index.html")));
    // The studio, or how to build it.
    let page = wire.call("GET /studio/index.html", "");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("<title>Rookery</title>"), "{}", page.text());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'; script-src 'self'; "), "{policy}");
    let file = wire.call("GET /studio/*", "");
    assert_eq!((file.status, file.text().as_str()), (404, "The studio has no such file\n"));
    assert_eq!(wire.call("GET /studio/assets/../../../Cargo.toml", "").status, 404);
    assert_eq!(wire.call("GET /favicon.ico", "").status, 204);
}

#[test]
fn a_host_header_is_not_put_on_a_page_as_it_is() {
    let wire = Wire::start();
    for path in ["/studio/index.html", "/cluster/topology"] {
        let mut stream = wire.connect();
        let request = format!("GET {path} HTTP/1.1\r\nHost: <script>\r\nConnection: close\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut stream, &mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 ") && !text.contains("<script>"), "{path}: {text}");
    }
}

#[test]
fn the_node_tells_its_version_and_role() {
    let wire = Wire::start();
    let version = r#"{"BuildVersion":71028,"ProductVersion":"7.1","CommitHash":"rookery","FullVersion":"7.1.5"}"#;
    wire.check("GET /build/version", "", 200, version);
    let info = wire.call("GET /cluster/node-info", "").json();
    for key in ["NodeTag", "TopologyId", "BuildInfo", "ServerRole", "NumberOfCores"] {
        assert!(info.get(key).is_some(), "{key}");
    }
    assert!(wire.call("GET /license/status", "").text().contains(r#""Expired":false"#));
    wire.check("GET /rachis/waitfor?index=7", "", 200, "");
    assert!(wire.call("GET /info/tcp?tcp=x", "").text().starts_with(r#"{"Url":"tcp://127.0.0.1:"#));
}
