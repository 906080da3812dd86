//! A small web service: notes that are stored, loaded and searched over HTTP, with hyper and tokio.
//!
//! `cargo run -p rookerydb --example web_service [PORT]`, on port 8090 unless given. Then, for example with curl, where `<` is the answer:
//!
//! ```text
//! POST /notes {"text":"Buy apples"}
//! < 201 {"id":"notes/0000000000000000001-A"}
//! POST /notes {"text":"Sell the boat"}
//! < 201 {"id":"notes/0000000000000000002-A"}
//! GET /notes/0000000000000000001-A
//! < 200 {"text":"Buy apples"}
//! GET /notes?search=BOAT
//! < 200 [{"text":"Sell the boat"}]
//! DELETE /notes/0000000000000000002-A
//! < 204
//! GET /notes/0000000000000000002-A
//! < 404
//! ```
//!
//! Functions of the database block. Each request therefore runs on a thread of `spawn_blocking`.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rookerydb::{Analysis, Database, Error, IndexDefinition, Store};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

#[derive(Serialize, Deserialize)]
struct Note {
    text: String,
}

/// Status and body.
type Answer = (StatusCode, String);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).map_or(Ok(8090), |port| port.parse::<u16>())?;
    let store = Store::in_memory()?; // Store::open("notes") keeps them
    let notes = store.database("Notes")?;
    let by_text = IndexDefinition::new("Notes/ByText")
        .map("map('Notes', note => ({ text: note.text }))")
        .analysis("text", Analysis::Words);
    notes.put_index(&by_text)?;

    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/notes", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        let notes = notes.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| serve(notes.clone(), request));
            // A connection that breaks ends alone.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn serve(notes: Database, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let answer = match request.into_body().collect().await {
        Ok(body) => {
            let body = body.to_bytes();
            let work = move || answer(&notes, &method, uri.path(), uri.query(), &body);
            tokio::task::spawn_blocking(work)
                .await
                .unwrap_or_else(|_| Ok((StatusCode::INTERNAL_SERVER_ERROR, String::new())))
        }
        Err(_) => Ok((StatusCode::BAD_REQUEST, String::new())),
    };
    let (status, body) = answer.unwrap_or_else(|error| (status_of(&error), format!("{error}\n")));
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    Ok(response)
}

fn answer(
    notes: &Database,
    method: &Method,
    path: &str,
    query: Option<&str>,
    body: &[u8],
) -> rookerydb::Result<Answer> {
    let id = path.trim_start_matches('/');
    match (method, path) {
        (&Method::POST, "/notes") => {
            let note: Note = serde_json::from_slice(body)?;
            let written = notes.collection("Notes").put("notes/", &note)?;
            Ok((StatusCode::CREATED, serde_json::json!({ "id": written.id }).to_string()))
        }
        (&Method::GET, "/notes") => {
            let words = query.and_then(|query| query.strip_prefix("search=")).unwrap_or_default();
            let found: Vec<Note> = notes
                .query("from index 'Notes/ByText' where search(text, $words)")
                .parameter("words", words)
                .wait_for_indexing(Duration::from_secs(5))
                .values()?;
            Ok((StatusCode::OK, serde_json::to_string(&found)?))
        }
        (&Method::GET, _) => match notes.get_as::<Note>(id)? {
            Some(note) => Ok((StatusCode::OK, serde_json::to_string(&note)?)),
            None => Ok((StatusCode::NOT_FOUND, String::new())),
        },
        (&Method::DELETE, _) => {
            notes.delete(id)?;
            Ok((StatusCode::NO_CONTENT, String::new()))
        }
        _ => Ok((StatusCode::METHOD_NOT_ALLOWED, String::new())),
    }
}

fn status_of(error: &Error) -> StatusCode {
    match error {
        Error::Invalid(_) | Error::Json(_) => StatusCode::BAD_REQUEST,
        Error::Conflict { .. } => StatusCode::CONFLICT,
        Error::Busy(_) | Error::Timeout(_) => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
