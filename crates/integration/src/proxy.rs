//! Proxies with TLS before a node, with the configurations of `deploy/`: Debian's nginx and Caddy, on a port of their own.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{
    certificate::CertificateFiles,
    process::{Process, start_at_a_port},
};

const NGINX: &str = "/usr/sbin/nginx";
const CADDY: &str = "/usr/bin/caddy";

/// A running proxy.
pub struct Proxy {
    _process: Process,
    _folder: TempDir,
    port: u16,
}

impl Proxy {
    /// nginx with `deploy/nginx/headwater.conf`, before the node at that address.
    pub fn nginx(upstream: SocketAddr, files: &CertificateFiles) -> Self {
        let folder = TempDir::with_prefix("headwater-nginx-").unwrap();
        let shown = folder.path().display();
        // One process, which ends with the test.
        let main = format!(
            "daemon off; master_process off; pid {shown}/pid; error_log stderr notice;\n\
             events {{}}\n\
             http {{\n\
             access_log off; client_body_temp_path {shown}/body; proxy_temp_path {shown}/proxy;\n\
             fastcgi_temp_path {shown}/fastcgi; uwsgi_temp_path {shown}/uwsgi; scgi_temp_path {shown}/scgi;\n\
             include {shown}/headwater.conf;\n\
             }}\n"
        );
        let configuration = folder.path().join("nginx.conf");
        std::fs::write(&configuration, main).unwrap();
        let command = |port| {
            let text = changed(
                &deployed("nginx/headwater.conf"),
                &[
                    ("127.0.0.1:3000", &upstream.to_string()),
                    ("listen 80;", &format!("listen unix:{shown}/plain;")),
                    ("listen 443 ", &format!("listen 127.0.0.1:{port} ")),
                    (
                        "/etc/ssl/node.example.com.pem",
                        &files.cert().display().to_string(),
                    ),
                    (
                        "/etc/ssl/node.example.com.key",
                        &files.key().display().to_string(),
                    ),
                ],
            );
            std::fs::write(folder.path().join("headwater.conf"), text).unwrap();
            let mut nginx = Command::new(NGINX);
            nginx.arg("-p").arg(folder.path()).arg("-c");
            nginx.arg(&configuration).args(["-e", "stderr"]);
            nginx
        };
        let (process, port) = start_at_a_port("nginx", "event method", command);
        Self {
            _process: process,
            _folder: folder,
            port,
        }
    }

    /// Caddy with `deploy/caddy/Caddyfile`, likewise.
    pub fn caddy(upstream: SocketAddr, files: &CertificateFiles) -> Self {
        let folder = TempDir::with_prefix("headwater-caddy-").unwrap();
        let (cert, key) = (files.cert(), files.key());
        // It would ask a public authority otherwise, and take the machine's port 80.
        let site = "} {\n\t# For the machines";
        let own = format!(
            "}} {{\n\ttls {} {}\n\t# For the machines",
            cert.display(),
            key.display()
        );
        let text = changed(&deployed("caddy/Caddyfile"), &[(site, &own)]);
        let text = format!("{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{text}");
        let configuration = folder.path().join("Caddyfile");
        std::fs::write(&configuration, text).unwrap();
        let command = |port: u16| {
            let mut caddy = Command::new(CADDY);
            caddy.args(["run", "--adapter", "caddyfile", "--config"]);
            caddy.arg(&configuration);
            caddy.env("HEADWATER_SITE", format!("127.0.0.1:{port}"));
            caddy.env("HEADWATER_UPSTREAMS", upstream.to_string());
            for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
                caddy.env(name, folder.path());
            }
            caddy
        };
        let (process, port) = start_at_a_port("caddy", "serving initial configuration", command);
        Self {
            _process: process,
            _folder: folder,
            port,
        }
    }

    /// Its address, without a trailing slash.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }
}

fn deployed(file: &str) -> String {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy")
        .join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The configuration with parts that each machine has its own of replaced.
fn changed(text: &str, changes: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (part, own) in changes {
        assert!(text.contains(part), "no `{part}` in {text}");
        text = text.replace(part, own);
    }
    text
}
