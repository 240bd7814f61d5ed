//! Logging in at GitHub, and whether the login still holds.
//!
//! Invariant: the device code never leaves the engine, and the token leaves it only into `config.json` (mode 600).

use std::sync::{Arc, PoisonError};

use forge_remote::{DeviceAnswer, DeviceCode, GithubUser, LoginSite, RemoteError, Token};
use forge_types::Settings;
use forge_types::wire::{DeviceStart, LoginAnswer, LoginCheck};

use crate::{Error, Forge, Result};

impl Forge {
    pub async fn start_github_login(&self) -> Result<DeviceStart> {
        let client_id = self.client_id()?;
        let code = self.login_site().start(&self.0.http, &client_id).await.map_err(login_error)?;
        let start = DeviceStart {
            user_code: code.user_code.clone(),
            verification_uri: code.verification_uri.clone(),
            expires_in: code.expires_in_s,
            interval: code.interval_s,
        };
        self.put_login(Some(Arc::new(code)));
        Ok(start)
    }

    pub async fn poll_github_login(&self) -> Result<LoginAnswer> {
        let login = self.0.contacts.login.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let code =
            login.ok_or_else(|| Error::conflict("Device flow not started").hint("start the login first"))?;
        let site = self.login_site();
        let answer = site.poll(&self.0.http, &self.client_id()?, &code).await.map_err(login_error)?;
        match answer {
            DeviceAnswer::Pending => Ok(LoginAnswer::AuthorizationPending),
            DeviceAnswer::SlowDown => Ok(LoginAnswer::SlowDown),
            DeviceAnswer::Over(reason) => {
                self.put_login(None);
                Err(Error::conflict(reason).hint("start the login again"))
            }
            DeviceAnswer::Done(token) => {
                self.put_login(None);
                let user = site.user(&self.0.http, &token).await.map_err(login_error)?;
                self.store_github_login(user, &token).await?;
                Ok(LoginAnswer::Success)
            }
        }
    }

    /// Whether GitHub knows the stored token.
    pub async fn check_github_login(&self) -> Result<LoginCheck> {
        let settings = self.settings();
        let Some(token) = settings.github.token().and_then(Token::new) else {
            return Ok(LoginCheck::Invalid);
        };
        match self.login_site().user(&self.0.http, &token).await {
            Ok(_) => Ok(LoginCheck::Valid),
            Err(RemoteError::Refused { status: 401 | 403, .. }) => Ok(LoginCheck::Invalid),
            Err(error) => Err(Error::internal(error.to_string(), error)),
        }
    }

    /// Puts the result of a login into the settings.
    pub async fn store_github_login(&self, user: GithubUser, token: &Token) -> Result<()> {
        let token = token.reveal().to_owned();
        let put = move |settings: &mut Settings| {
            settings.github.oauth_token = Some(token);
            settings.github.username = Some(user.login);
            settings.github.primary_email = user.primary_email;
            settings.github_login_acknowledged = true;
        };
        self.swap_settings(put).await?;
        Ok(())
    }

    fn login_site(&self) -> LoginSite {
        LoginSite::of(&self.hosts())
    }

    fn put_login(&self, code: Option<Arc<DeviceCode>>) {
        *self.0.contacts.login.lock().unwrap_or_else(PoisonError::into_inner) = code;
    }

    fn client_id(&self) -> Result<String> {
        self.0.config.online.github_client_id.clone().ok_or_else(|| {
            Error::conflict("GITHUB_CLIENT_ID is not set").hint(
                "set it to the id of an OAuth app and start Forge again, or put a personal access token into the \
                 settings (github.pat)",
            )
        })
    }
}

fn login_error(error: RemoteError) -> Error {
    Error::internal(error.to_string(), error)
}
