//! Requests to a node's API: one connection each, as HTTP/1.0 has it, so that a response ends where its
//! connection does. No more of HTTP than that.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// A save may download and build for minutes.
const TIMEOUT: Duration = Duration::from_secs(900);

/// Sends a request; the response's status and its body, null when there is none.
pub(super) fn exchange(
    address: SocketAddr,
    key: &str,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, Value)> {
    let body = body.map(Value::to_string).unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).context("connecting to the node")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .context("reading the node's answer")?;
    answer(&response)
}

fn answer(response: &str) -> Result<(u16, Value)> {
    let Some((head, body)) = response.split_once("\r\n\r\n") else {
        bail!("the node's answer ends in its head");
    };
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.context("the node's answer has no status")?;
    let body = match body.trim() {
        "" => Value::Null,
        json => serde_json::from_str(json).context("the node's answer is no JSON")?,
    };
    Ok((status, body))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::answer;

    #[test]
    fn status_and_body_are_read_and_a_body_may_be_missing() {
        let head = "HTTP/1.0 422 Unprocessable Entity\r\ncontent-type: application/json";
        let found = answer(&format!("{head}\r\n\r\n{{\"a\": 1}}")).unwrap();
        assert_eq!(found, (422, json!({"a": 1})));
        assert_eq!(answer("HTTP/1.0 204 No Content\r\n\r\n").unwrap().0, 204);
        assert!(answer(head).is_err());
    }
}
