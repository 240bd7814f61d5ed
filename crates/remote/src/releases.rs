//! The releases of the product, as GitHub lists them.

use reqwest::Method;
use serde::{Deserialize, Serialize};

use crate::http::host_of;
use crate::{Http, LoginSite, RemoteError};

/// Whose releases are shown unless the settings name another repository.
pub const RELEASES_REPOSITORY: &str = "automagik-dev/automagik-forge";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    pub tag_name: String,
    pub name: Option<String>,
    pub body: Option<String>,
    pub prerelease: bool,
    pub created_at: String,
    pub published_at: Option<String>,
    pub html_url: String,
}

pub async fn releases(http: &Http, site: &LoginSite, repository: &str) -> Result<Vec<Release>, RemoteError> {
    let url = format!("{}/repos/{repository}/releases?per_page=30", site.api);
    let headers = [("accept", "application/vnd.github+json")];
    let answer = http.call(Method::GET, &url, &headers, None).await?.success(&url)?;
    serde_json::from_value(answer).map_err(|error| RemoteError::Unusable {
        host: host_of(&url),
        reason: format!("it is not a list of releases: {error}"),
    })
}
