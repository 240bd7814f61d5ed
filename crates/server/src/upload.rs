//! Reading an image from a multipart body.
//!
//! Invariant: the bytes go to disk as they arrive; no more than one chunk of them is in memory, none is read beyond the
//! limit, and the whole upload takes no longer than a few minutes.

use std::time::Duration;

use axum::extract::multipart::MultipartError;
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use axum::http::{StatusCode, header};
use forge_core::{Forge, IMAGE_MAX_BYTES, ImageUpload, Kind};

use crate::envelope::Fault;

/// Room for the boundary, the headers of the parts, and other small fields.
const FRAME_BYTES: u64 = 64 << 10;
const UPLOAD_LIMIT: Duration = Duration::from_secs(300);

/// The image in the field `image` or `file`, written but not yet kept.
pub(crate) async fn receive(forge: &Forge, mut request: Request) -> Result<ImageUpload, Fault> {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|text| text.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|bytes| bytes > IMAGE_MAX_BYTES + FRAME_BYTES) {
        return Err(too_large(length));
    }
    DefaultBodyLimit::max((IMAGE_MAX_BYTES + FRAME_BYTES) as usize).apply(&mut request);
    match tokio::time::timeout(UPLOAD_LIMIT, take(forge, request, length)).await {
        Ok(upload) => upload,
        Err(_) => Err(Fault::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the image did not arrive within {} s; send it again", UPLOAD_LIMIT.as_secs()),
        )),
    }
}

async fn take(forge: &Forge, request: Request, length: Option<u64>) -> Result<ImageUpload, Fault> {
    let unreadable = |error: MultipartError| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => too_large(length),
        _ => Fault::bad_request(format!("Failed to upload file: {}", error.body_text())),
    };
    let parts = Multipart::from_request(request, &()).await;
    let mut parts =
        parts.map_err(|error| Fault::bad_request(format!("Failed to upload file: {}", error.body_text())))?;
    while let Some(mut part) = parts.next_field().await.map_err(unreadable)? {
        if !matches!(part.name(), Some("image" | "file")) {
            continue;
        }
        let begun = forge.begin_image(part.file_name().unwrap_or("image.png")).await;
        let mut upload = begun.map_err(|error| match error.kind() {
            Kind::Invalid => Fault::from(error).status(StatusCode::BAD_REQUEST),
            _ => error.into(),
        })?;
        while let Some(chunk) = part.chunk().await.map_err(unreadable)? {
            if upload.size_bytes() + chunk.len() as u64 > IMAGE_MAX_BYTES {
                return Err(too_large(length));
            }
            upload.write(&chunk).await?;
        }
        return Ok(upload);
    }
    Err(Fault::bad_request("Failed to upload file: the body has no field 'image' or 'file'"))
}

/// Apart from its frame the body is the image, so its length is a good estimate of the size.
fn too_large(length: Option<u64>) -> Fault {
    let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let size = match length {
        Some(bytes) => format!("{:.1} MB", megabytes(bytes)),
        None => format!("more than {:.1} MB", megabytes(IMAGE_MAX_BYTES)),
    };
    let message =
        format!("This file is too large: {size}. Maximum file size is {:.1} MB.", megabytes(IMAGE_MAX_BYTES));
    Fault::new(StatusCode::PAYLOAD_TOO_LARGE, message)
}
