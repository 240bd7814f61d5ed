//! The sounds a board can play.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use forge_types::SoundFile;

use crate::envelope::Fault;
use crate::sound;

pub(crate) async fn show(Path(name): Path<String>) -> Result<Response, Fault> {
    let Some(found) = SoundFile::ALL.into_iter().find(|sound| sound.as_str() == name) else {
        let known = SoundFile::ALL.map(SoundFile::as_str).join(", ");
        return Err(Fault::bad_request(format!("sound: '{name}' is not allowed; allowed: {known}")));
    };
    let headers = [(header::CONTENT_TYPE, "audio/wav"), (header::CACHE_CONTROL, "public, max-age=86400")];
    Ok((headers, sound::wav(found)).into_response())
}
