//! The address of a git remote, parsed.
//!
//! Invariant: an [`Address`] has no credentials, and its path has only letters, digits and `._~-` between slashes, so
//! it can be used in a URL unchanged.

use std::net::IpAddr;

/// How a remote is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Https,
    Http,
    Ssh,
}

/// `https://host[:port]/owner/repo.git`, `ssh://git@host/owner/repo` or `git@host:owner/repo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub transport: Transport,
    /// Lower case; with the port when it is an HTTP one that is not the default.
    pub host: String,
    /// `owner/repo`, with as many groups before it as the host allows.
    pub path: String,
}

impl Address {
    /// `None` for local paths, other protocols and anything that is not a repository on a host.
    pub fn parse(remote: &str) -> Option<Self> {
        let remote = remote.trim();
        let Some((scheme, rest)) = remote.split_once("://") else { return scp_like(remote) };
        let transport = match scheme.to_ascii_lowercase().as_str() {
            "https" => Transport::Https,
            "http" => Transport::Http,
            "ssh" | "git+ssh" | "ssh+git" => Transport::Ssh,
            _ => return None,
        };
        let (authority, path) = rest.split_once('/')?;
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        Self::new(transport, host, path)
    }

    fn new(transport: Transport, host: &str, path: &str) -> Option<Self> {
        let host = host.to_ascii_lowercase();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => (name, Some(port)),
            _ => (host.as_str(), None),
        };
        let usual = match transport {
            Transport::Https => port == Some("443"),
            Transport::Http => port == Some("80"),
            // The port of an SSH server is unrelated to the API of the host.
            Transport::Ssh => true,
        };
        let host = match port.filter(|_| !usual) {
            Some(port) => format!("{name}:{port}"),
            None => name.to_owned(),
        };
        let known = ["ssh.", "altssh."].iter().find_map(|prefix| host.strip_prefix(prefix));
        let host = known.filter(|name| ["github.com", "gitlab.com"].contains(name)).unwrap_or(&host);
        let plain_host = !host.is_empty()
            && !host.starts_with('-')
            && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c));
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let parts: Vec<&str> = path.split('/').collect();
        (plain_host && parts.len() >= 2 && parts.iter().all(|part| is_plain(part))).then(|| Self {
            transport,
            host: host.to_owned(),
            path: path.to_owned(),
        })
    }

    /// Whether git can send a token there safely: over HTTP, encrypted or on this machine.
    pub fn takes_token(&self) -> bool {
        match self.transport {
            Transport::Https => true,
            Transport::Http => is_loopback(&self.host),
            Transport::Ssh => false,
        }
    }
}

/// `[user@]host:path`, where a slash before the colon would make it a local path.
fn scp_like(remote: &str) -> Option<Address> {
    let (authority, path) = remote.split_once(':')?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match authority.contains('/') || host.len() < 2 {
        true => None,
        false => Address::new(Transport::Ssh, host, path),
    }
}

fn is_plain(part: &str) -> bool {
    !matches!(part, "" | "." | "..") && part.chars().all(|c| c.is_ascii_alphanumeric() || "._~-".contains(c))
}

/// Whether a host, with or without a port, is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_matches(['[', ']']);
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_of_every_form_are_read() {
        let cases = [
            ("https://github.com/acme/widgets.git", "github.com", "acme/widgets"),
            ("https://user:secret@github.com/acme/widgets", "github.com", "acme/widgets"),
            ("https://GitHub.com:443/acme/widgets/", "github.com", "acme/widgets"),
            ("https://git.example:8443/a/b/c.git", "git.example:8443", "a/b/c"),
            ("http://127.0.0.1:3000/acme/widgets.git", "127.0.0.1:3000", "acme/widgets"),
            ("ssh://git@git.example:2222/acme/widgets.git", "git.example", "acme/widgets"),
            ("ssh://git@ssh.github.com:443/acme/widgets.git", "github.com", "acme/widgets"),
            ("git@github.com:acme/widgets.git", "github.com", "acme/widgets"),
            ("gitlab.com:group/sub/repo.git", "gitlab.com", "group/sub/repo"),
        ];
        for (remote, host, path) in cases {
            let found = Address::parse(remote).map(|found| (found.host, found.path));
            assert_eq!(found, Some((host.to_owned(), path.to_owned())), "{remote}");
        }
    }

    #[test]
    fn what_is_no_repository_on_a_host_is_none() {
        let not = [
            "/srv/git/a/b.git",
            "./a:b/c",
            "file:///srv/a/b.git",
            "git://host/a/b",
            "https://github.com/onlyowner",
            "https://github.com/a/../b",
            "https://github.com/a/b?x=1",
            "https://-oProxyCommand=x/a/b",
            "C:/a/b",
            "",
        ];
        for remote in not {
            assert_eq!(Address::parse(remote), None, "{remote}");
        }
    }

    #[test]
    fn secrets_travel_encrypted_or_not_at_all() {
        let takes_token = |remote| Address::parse(remote).map(|address| address.takes_token());
        assert_eq!(takes_token("http://git.example/a/b"), Some(false));
        assert_eq!(takes_token("https://git.example/a/b"), Some(true));
        assert_eq!(takes_token("http://127.0.0.1:80/a/b"), Some(true));
        assert_eq!(takes_token("http://localhost.evil.example/a/b"), Some(false));
        assert_eq!(takes_token("git@git.example:a/b"), Some(false), "SSH has keys");
    }
}
