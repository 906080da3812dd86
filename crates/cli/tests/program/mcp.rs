//! MCP with the SDK's own client: `rookery mcp` over standard input and output, and `/mcp` over HTTP.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use hyper::header::{HeaderName, HeaderValue};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientJsonRpcMessage, ProtocolVersion};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError, StreamableHttpPostResponse,
};
use rmcp::{ClientLifecycleMode, ClientServiceExt, ServiceExt};
use sse_stream::{Error as SseError, Sse};
use testing::wait::LONG;

use crate::support::{Program, rookery};

type Client = RunningService<RoleClient, ()>;

/// An HTTP client without a library: the server is asked as `program` asks it.
#[derive(Clone)]
struct Http {
    address: String,
}

impl Http {
    fn post(&self, body: &[u8], headers: &HashMap<HeaderName, HeaderValue>) -> std::io::Result<(u16, Vec<u8>)> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(LONG))?;
        let mut head = format!(
            "POST /mcp HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            self.address,
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
        }
        stream.write_all(head.as_bytes())?;
        stream.write_all(b"\r\n")?;
        stream.write_all(body)?;
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line)?;
        }
        let mut answer = Vec::new();
        reader.read_to_end(&mut answer)?;
        Ok((status, answer))
    }
}

type Failed = StreamableHttpError<std::io::Error>;

impl StreamableHttpClient for Http {
    type Error = std::io::Error;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        _: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let (http, body) = (self.clone(), serde_json::to_vec(&message)?);
        let answered = tokio::task::spawn_blocking(move || http.post(&body, &headers)).await?;
        let (status, answer) = answered.map_err(StreamableHttpError::Client)?;
        match status {
            202 => Ok(StreamableHttpPostResponse::Accepted),
            _ => match serde_json::from_slice(&answer) {
                Ok(message) => Ok(StreamableHttpPostResponse::Json(message, None)),
                Err(_) => {
                    let text = format!("{status} {}", String::from_utf8_lossy(&answer));
                    Err(StreamableHttpError::UnexpectedServerResponse(text.into()))
                }
            },
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        _: Arc<str>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        Err(StreamableHttpError::ServerDoesNotSupportDeleteSession)
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        _: Option<Arc<str>>,
        _: Option<String>,
        _: Option<String>,
        _: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        Err(StreamableHttpError::ServerDoesNotSupportSse)
    }
}

/// A server with a database that has one document.
fn started(arguments: &[&str]) -> Program {
    let program = Program::start(&[&["serve", "--url", "http://127.0.0.1:0", "--in-memory"], arguments].concat());
    assert!(program.request("PUT", "/admin/databases?name=db", r#"{"DatabaseName":"db"}"#).starts_with("HTTP/1.1 201"));
    let document = r#"{"Name":"Anna","@metadata":{"@collection":"People"}}"#;
    assert!(program.request("PUT", "/databases/db/docs?id=people/1", document).starts_with("HTTP/1.1 201"));
    program
}

/// A client of `rookery mcp`, and the program.
async fn over_stdio(program: &Program) -> (Client, tokio::process::Child) {
    let mut command = tokio::process::Command::from(rookery(&["mcp", "--url", &program.url]));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
    (().serve(streams).await.unwrap(), child)
}

async fn over_http(program: &Program, lifecycle: ClientLifecycleMode) -> Client {
    let address = program.url.strip_prefix("http://").unwrap().to_owned();
    let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", program.url));
    let transport = StreamableHttpClientTransport::with_client(Http { address }, config);
    ().serve_with_lifecycle(transport, lifecycle).await.unwrap()
}

async fn call(client: &Client, tool: &'static str, arguments: serde_json::Value) -> CallToolResult {
    let serde_json::Value::Object(arguments) = arguments else { panic!("no object") };
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap()
}

fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.as_str()).collect()
}

/// What a client finds on any way to the server.
async fn check(client: &Client, expected_tools: usize) {
    let info = client.peer_info().unwrap();
    assert!(info.instructions.as_ref().is_some_and(|text| text.contains("Rookery")), "{info:?}");
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.len(), expected_tools);
    let found = call(client, "query", serde_json::json!({"database": "db", "rql": "from People"})).await;
    assert!(found.is_error != Some(true) && text(&found).contains(r#""Name":"Anna""#), "{found:?}");
    let wrong = call(client, "query", serde_json::json!({"database": "db", "rql": "People"})).await;
    assert!(wrong.is_error == Some(true) && text(&wrong).contains("People"), "{wrong:?}");
    let unknown = client.call_tool(CallToolRequestParams::new("drop_database")).await.unwrap_err();
    assert!(unknown.to_string().contains("Unknown tool 'drop_database'"), "{unknown}");
    // Several at once.
    let calls = (0..20).map(|_| call(client, "get_document", serde_json::json!({"database": "db", "id": "people/1"})));
    for found in futures_util::future::join_all(calls).await {
        assert!(text(&found).contains("Anna"), "{found:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_the_sdk_reads_over_standard_input() {
    let program = started(&[]);
    let (client, mut child) = over_stdio(&program).await;
    check(&client, 12).await;
    client.cancel().await.unwrap();
    let ended = tokio::time::timeout(LONG, child.wait()).await.unwrap().unwrap();
    assert!(ended.success(), "it ended with {ended}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_of_the_sdk_reads_over_http_with_and_without_a_handshake() {
    let program = started(&[]);
    check(&over_http(&program, ClientLifecycleMode::Initialize).await, 12).await;
    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
    check(&over_http(&program, newest).await, 12).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_setting_allows_to_write() {
    let program = started(&["--Mcp.WritesAllowed=true"]);
    let (client, _child) = over_stdio(&program).await;
    check(&client, 15).await;
    let put = serde_json::json!({"database": "db", "id": "people/2", "document": {"Name": "Bert"}});
    assert!(text(&call(&client, "put_document", put).await).contains(r#""id":"people/2""#));
    assert!(program.get("/databases/db/docs?id=people/2").contains("Bert"));
    drop(program);
    let found = call(&client, "get_document", serde_json::json!({"database": "db", "id": "people/2"})).await;
    assert!(found.is_error == Some(true) && text(&found).contains("start it with `rookery serve`"), "{found:?}");
}

#[test]
fn garbage_on_standard_input_does_not_end_it() {
    let program = started(&[]);
    let mut child =
        rookery(&["mcp", "--url", &program.url]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let garbage = format!("nonsense\n{{\n[]\n\u{0}\n{}\n{}\n", "[".repeat(100_000), "x".repeat(3 << 20));
    for line in [hello, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, garbage.trim_end()] {
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"tools/list\"}\n").unwrap();
    let mut lines = BufReader::new(output).lines();
    let last = lines.find(|line| line.as_ref().unwrap().contains(r#""id":"last""#)).unwrap().unwrap();
    assert!(last.contains("list_databases"), "{last}");
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn without_a_server_it_says_so() {
    let check = |url: &str, expected: &str| {
        let output = rookery(&["mcp", "--url", url]).stdin(Stdio::null()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && message.contains(expected), "{url}: {message}");
        assert!(output.stdout.is_empty());
    };
    // A port on which nobody listens: the system gives it to a listener, which is gone.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}");
    check(&url, "start it with `rookery serve`");
    let output = rookery(&["mcp"]).env("ROOKERY_URL", &url).stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("asking the server at {url}: ")), "{output:?}");
    check(&format!("https://127.0.0.1:{port}"), "start it with `rookery serve`");
    check("ftp://localhost:8080", "write http://host:port or https://host:port");
}
