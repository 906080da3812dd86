//! `rookery mcp`: the Model Context Protocol over standard input and output, for assistants that start a program.
//!
//! ```text
//! assistant ──lines of JSON-RPC──► this program ──POST /mcp──► a running server
//! ```
//!
//! The tools are those of the server. `rmcp` speaks with the assistant: versions, garbage, cancelled calls. What is left is to pass on
//! the list of tools and their calls, one connection for each call, so that a cancelled call closes its connection and the server
//! gives the work up.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, ErrorData, Implementation,
    InitializeResult, ListToolsResult, PaginatedRequestParams, ResultType, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::client::{Address, ServerArguments, Tls};

/// What `rookery mcp` needs.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: ServerArguments,
}

/// The version in which this program speaks with the server; with the assistant `rmcp` agrees on one.
const VERSION: &str = "2025-06-18";

/// The largest answer that is read, in bytes. The server's are far smaller.
const ANSWER_SIZE_MAX: usize = 4 << 20;

/// The longest line that is read, in bytes: somewhat more than a message that the server takes.
const LINE_SIZE_MAX: usize = 2 << 20;

/// Calls that are with the server at the same time; others wait here.
const CALLS_MAX: usize = 8;

/// Answers the assistant until it closes our standard input.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let outcome = runtime.context("starting the network threads")?.block_on(serve(&arguments.server));
    // A read of standard input that waits would hold a plain return up.
    if let Err(error) = &outcome {
        crate::complain(format_args!("error: {error:#}"));
    }
    std::process::exit(i32::from(outcome.is_err()))
}

async fn serve(arguments: &ServerArguments) -> anyhow::Result<()> {
    let address = Address::parse(&arguments.url)?;
    let tls = Tls::new(&address, arguments)?;
    let calls = Arc::new(Semaphore::new(CALLS_MAX));
    let server = Server { url: arguments.url.clone(), address, tls, api_key: arguments.api_key.clone(), calls };
    let hello = json!({"protocolVersion": VERSION, "capabilities": {},
        "clientInfo": {"name": "rookery mcp", "version": env!("CARGO_PKG_VERSION")}});
    let info = server.ask("initialize", hello).await.map_err(anyhow::Error::from)?;
    let info: InitializeResult = serde_json::from_value(info).context("reading the server's first answer")?;
    let (input, output) = rmcp::transport::io::stdio();
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(LINE_SIZE_MAX);
    let running = Forwarder { server, instructions: info.instructions }.serve(transport).await;
    match running {
        Ok(running) => _ = running.waiting().await,
        // The assistant went away before it said who it is.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => return Err(error).context("greeting the assistant"),
    }
    Ok(())
}

/// Why a question has no result.
#[derive(Debug, thiserror::Error)]
enum AskError {
    /// What the server's side of the protocol says.
    #[error("{message}")]
    Protocol { code: i32, message: String },
    /// The server is not there, or refused.
    #[error("{0}")]
    Failed(String),
}

/// A running server.
#[derive(Clone)]
struct Server {
    url: String,
    address: Address,
    tls: Tls,
    api_key: Option<String>,
    calls: Arc<Semaphore>,
}

impl Server {
    /// The result of one request of MCP.
    async fn ask(&self, method: &str, params: Value) -> Result<Value, AskError> {
        let _place = self.calls.acquire().await;
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (status, answer) = self.post(message.to_string().into()).await.map_err(|error| {
            AskError::Failed(format!(
                "asking the server at {}: {error:#}; start it with `rookery serve`, or name another with --url",
                self.url
            ))
        })?;
        let mut answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        if let Some(error) = answer.get("error") {
            let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
            return Err(AskError::Protocol { code: code.unwrap_or(ErrorCode::INTERNAL_ERROR.0), message });
        }
        if status == StatusCode::OK
            && let Some(result) = answer.get_mut("result")
        {
            return Ok(result.take());
        }
        let message = answer.get("Message").and_then(Value::as_str).unwrap_or("it is perhaps no server of Rookery");
        Err(AskError::Failed(format!("the server at {} answered {status}: {message}", self.url)))
    }

    async fn post(&self, body: Bytes) -> anyhow::Result<(StatusCode, Bytes)> {
        let stream = TcpStream::connect(&self.address.authority).await.context("connecting")?;
        stream.set_nodelay(true)?;
        match self.tls.connector(&self.address)? {
            None => self.post_over(stream, body).await,
            Some((connector, name)) => {
                let stream = connector.connect(name, stream).await;
                self.post_over(stream.map_err(|error| Tls::explain(error, &self.address))?, body).await
            }
        }
    }

    async fn post_over(
        &self,
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
        body: Bytes,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        // Ends when this future does, whose client is then gone.
        let _connection = AbortOnDrop(tokio::spawn(async move { _ = connection.await }));
        let key = self.api_key.iter().map(|key| format!("Bearer {key}"));
        let request = key.fold(Request::post("/mcp"), |request, key| request.header(AUTHORIZATION, key));
        let request = request
            .header(HOST, &self.address.authority)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .body(Full::new(body))?;
        let (head, body) = sender.send_request(request).await?.into_parts();
        let Ok(body) = Limited::new(body, ANSWER_SIZE_MAX).collect().await else {
            bail!("its answer broke off, or is too large");
        };
        Ok((head.status, body.to_bytes()))
    }
}

/// A task that ends with its owner.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Passes tools on.
#[derive(Clone)]
struct Forwarder {
    server: Server,
    /// The server's words for the model.
    instructions: Option<String>,
}

impl ServerHandler for Forwarder {
    fn get_info(&self) -> ServerConfig {
        let info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("rookery", env!("CARGO_PKG_VERSION")).with_title("Rookery"));
        match &self.instructions {
            Some(instructions) => info.with_instructions(instructions),
            None => info,
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let found = self.server.ask("tools/list", json!({})).await.map_err(|error| match error {
            AskError::Protocol { code, message } => ErrorData::new(ErrorCode(code), message, None),
            AskError::Failed(message) => ErrorData::internal_error(message, None),
        })?;
        let mut found: ListToolsResult =
            serde_json::from_value(found).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        // The version that we speak with the server has no such field. The assistant's may require it; where it does not, `rmcp` omits it.
        found.result_type = Some(ResultType::COMPLETE);
        Ok(found)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = json!({"name": request.name, "arguments": request.arguments.unwrap_or_default()});
        let answered = tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(AskError::Failed("the call was cancelled".to_owned())),
            answered = self.server.ask("tools/call", params) => answered,
        };
        let result = match answered {
            Ok(result) => {
                let found: CallToolResult = serde_json::from_value(result).map_err(|error| {
                    ErrorData::internal_error(format!("reading the server's answer: {error}"), None)
                })?;
                // Made anew, so that it has what the assistant's version of the protocol asks for.
                let is_error = found.is_error == Some(true);
                if is_error { CallToolResult::error(found.content) } else { CallToolResult::success(found.content) }
            }
            Err(AskError::Protocol { code, message }) => return Err(ErrorData::new(ErrorCode(code), message, None)),
            // The model can tell its user, who sees nothing of an error of the protocol.
            Err(AskError::Failed(message)) => CallToolResult::error(vec![ContentBlock::text(message)]),
        };
        Ok(result.into())
    }
}
