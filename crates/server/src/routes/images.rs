//! Images: uploading, showing and deleting them.
//!
//! Invariant: whatever a file contains, a browser that opens it runs nothing of it: types are not guessed (`trace` adds
//! the header to every response), pages are sandboxed, and what may contain scripts is a download.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use forge_core::Forge;
use forge_types::{Image, ImageId, TaskId};
use tokio_util::io::ReaderStream;

use crate::envelope::{Answer, ok};
use crate::extract::Id;
use crate::upload::receive;

const SAFE: [(HeaderName, &str); 2] = [
    (header::CACHE_CONTROL, "public, max-age=31536000"),
    (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'; frame-ancestors 'none'"),
];

pub(crate) async fn upload(State(forge): State<Forge>, request: Request) -> Answer {
    let upload = receive(&forge, request).await?;
    Ok(ok(forge.keep_image(upload, None).await?))
}

pub(crate) async fn upload_for_task(
    State(forge): State<Forge>,
    Id(task): Id<TaskId>,
    request: Request,
) -> Answer {
    forge.task(task).await?;
    let upload = receive(&forge, request).await?;
    Ok(ok(forge.keep_image(upload, Some(task)).await?))
}

pub(crate) async fn list(State(forge): State<Forge>, Id(task): Id<TaskId>) -> Answer {
    Ok(ok(forge.task_images(task).await?))
}

pub(crate) async fn file(State(forge): State<Forge>, Id(id): Id<ImageId>) -> Answer {
    let (image, file) = forge.image(id).await?;
    Ok(describe(&image, Body::from_stream(ReaderStream::new(file)).into_response()))
}

pub(crate) async fn delete(State(forge): State<Forge>, Id(id): Id<ImageId>) -> Answer {
    Ok(ok(forge.delete_image(id).await?))
}

fn describe(image: &Image, mut response: Response) -> Response {
    let mime = image.mime_type.as_deref().unwrap_or("application/octet-stream");
    let headers = response.headers_mut();
    headers.extend(SAFE.map(|(name, value)| (name, HeaderValue::from_static(value))));
    // A type that is not a header value cannot have been stored by us.
    let mime_value = HeaderValue::from_str(mime);
    let octets = HeaderValue::from_static("application/octet-stream");
    headers.insert(header::CONTENT_TYPE, mime_value.unwrap_or(octets));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(image.size_bytes));
    if mime == "image/svg+xml" {
        let attachment = HeaderValue::from_static("attachment; filename=\"image.svg\"");
        headers.insert(header::CONTENT_DISPOSITION, attachment);
    }
    response
}
