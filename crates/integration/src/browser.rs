//! A browser as far as signing in needs one: it keeps cookies per host, follows redirects and sends forms.

use std::collections::HashMap;

use reqwest::{
    Method,
    header::{COOKIE, LOCATION, SET_COOKIE},
};

use crate::{
    answer::Answer,
    node::Node,
    oauth_provider::{NODE_URL, OAuthProvider},
};

/// A redirect chain that is longer goes round in circles.
const REDIRECTS_MAX: usize = 12;

/// A browser of one person.
pub struct Browser {
    http: reqwest::Client,
    node: String,
    /// By host, then by name.
    cookies: HashMap<String, HashMap<String, String>>,
}

/// Where a browser has come to.
#[derive(Debug)]
pub struct Visited {
    /// The address of the page.
    pub url: String,
    /// The page that is there.
    pub answer: Answer,
}

/// A user's decision at a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Signs in and consents.
    Consent,
    /// Signs in and does not consent.
    Deny,
}

impl Browser {
    /// A browser that finds this node where it says it is.
    pub fn new(node: &Node) -> Self {
        Self {
            http: crate::client::direct(),
            node: node.url(),
            cookies: HashMap::new(),
        }
    }

    /// Opens an address and follows where it leads.
    pub async fn open(&mut self, url: &str) -> Visited {
        self.follow(Method::GET, url, None).await
    }

    /// Opens an address, without following where it leads.
    pub async fn open_only(&mut self, url: &str) -> Answer {
        self.request(Method::GET, url, None).await
    }

    /// Sends a form to an address and follows where that leads.
    pub async fn send(&mut self, url: &str, fields: &[(&str, &str)]) -> Visited {
        self.follow(Method::POST, url, Some(fields)).await
    }

    /// Follows a link, decides at the provider, and returns the address that it sends the browser back to. Who is signed in
    /// and has consented before may not be asked again.
    pub async fn decide(&mut self, link: &str, decision: Decision) -> String {
        let mut url = link.to_owned();
        let mut answer = self.request(Method::GET, &url, None).await;
        for _ in 0..REDIRECTS_MAX {
            if (300..400).contains(&answer.status) {
                let next = absolute(&url, answer.header(LOCATION.as_str()));
                if next.starts_with(NODE_URL) {
                    return next;
                }
                answer = self.request(Method::GET, &next, None).await;
                url = next;
            } else if answer.text.contains("<button>Continue to ") {
                answer = self.request(Method::POST, &url, Some(&[])).await;
            } else if answer.text.contains("name=\"login\"") {
                let login: &[_] = &[("prompt", "login"), ("login", "ann"), ("password", "x")];
                answer = self.request(Method::POST, &url, Some(login)).await;
            } else if answer.text.contains("value=\"consent\"") && decision == Decision::Consent {
                let consent: &[_] = &[("prompt", "consent")];
                answer = self.request(Method::POST, &url, Some(consent)).await;
            } else if answer.text.contains("value=\"consent\"") {
                answer = self.open_only(&format!("{url}/abort")).await;
            } else {
                panic!("no page of a provider at {url}: {answer:?}");
            }
        }
        panic!("the provider does not send the browser back: {answer:?}");
    }

    /// Connects an account over the provider's consent, to the page that says so.
    pub async fn consent(&mut self, link: &str) -> Answer {
        let back = self.decide(link, Decision::Consent).await;
        self.open(&back).await.answer
    }

    async fn follow(
        &mut self,
        method: Method,
        url: &str,
        fields: Option<&[(&str, &str)]>,
    ) -> Visited {
        let mut url = url.to_owned();
        let mut answer = self.request(method, &url, fields).await;
        for _ in 0..REDIRECTS_MAX {
            if !(300..400).contains(&answer.status) {
                return Visited { url, answer };
            }
            url = absolute(&url, answer.header(LOCATION.as_str()));
            answer = self.request(Method::GET, &url, None).await;
        }
        panic!("too many redirects: {answer:?}");
    }

    async fn request(
        &mut self,
        method: Method,
        url: &str,
        fields: Option<&[(&str, &str)]>,
    ) -> Answer {
        let host = origin(url).to_owned();
        let really = url.replacen(NODE_URL, &self.node, 1);
        let mut request = self.http.request(method, really);
        if let Some(cookies) = self.cookies.get(&host) {
            let pairs: Vec<_> = cookies.iter().map(|(n, v)| format!("{n}={v}")).collect();
            request = request.header(COOKIE, pairs.join("; "));
        }
        if let Some(fields) = fields {
            let query = reqwest::Url::parse_with_params("http://form", fields).unwrap();
            request = request
                .header("content-type", "application/x-www-form-urlencoded")
                .body(query.query().unwrap_or_default().to_owned());
        }
        let response = request.send().await.unwrap();
        let own = self.cookies.entry(host).or_default();
        for cookie in response.headers().get_all(SET_COOKIE) {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            own.insert(name.to_owned(), value.to_owned());
        }
        Answer::read(url.to_owned(), response).await
    }
}

fn origin(url: &str) -> &str {
    let end = url[8..].find(['/', '?']).map_or(url.len(), |at| at + 8);
    &url[..end]
}

fn absolute(base: &str, next: &str) -> String {
    match next.starts_with('/') {
        true => format!("{}{next}", origin(base)),
        false => next.to_owned(),
    }
}

/// A node that knows the provider's app, and says that it is at the address the provider knows.
pub async fn node_with(provider: &OAuthProvider) -> Node {
    let builder = Node::builder().file("apps/acme.toml", &provider.definition());
    builder
        .flag("--public-url")
        .flag(NODE_URL)
        .env("ACME_SECRET", OAuthProvider::CLIENT_SECRET)
        .private_network()
        .own_address()
        .start()
        .await
}
