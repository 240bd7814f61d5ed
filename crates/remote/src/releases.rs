//! The releases of the product, as GitHub lists them.

use forge_types::wire::Release;
use reqwest::Method;

use crate::http::host_of;
use crate::{Http, LoginSite, RemoteError};

/// Whose releases are shown unless the settings name another repository.
pub const RELEASES_REPOSITORY: &str = "automagik-dev/automagik-forge";

pub async fn releases(http: &Http, site: &LoginSite, repository: &str) -> Result<Vec<Release>, RemoteError> {
    let url = format!("{}/repos/{repository}/releases?per_page=30", site.api);
    let headers = [("accept", "application/vnd.github+json")];
    let answer = http.call(Method::GET, &url, &headers, None).await?.success(&url)?;
    serde_json::from_value(answer).map_err(|error| RemoteError::Unusable {
        host: host_of(&url),
        reason: format!("it is not a list of releases: {error}"),
    })
}
