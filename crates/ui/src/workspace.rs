//! The workspace that a browser chose: the address of a page says which one its lists show, and a cookie carries the
//! choice to pages whose addresses say nothing. A page is sent to the address that says it, so that its forms, its
//! stream and other tabs go by what is seen there.

use axum::http::{HeaderMap, HeaderValue, header};
use headwater_model::id::WorkspaceId;
use url::form_urlencoded;

use crate::{cookie::Cookie, visit::Visit};

/// The parameter of addresses.
const NAME: &str = "workspace";

/// Pages that wait in a script, which takes being sent elsewhere for the end of what it waits for.
const WAITING: &str = "/accounts/connects/";

/// The workspace that a request is about: that of its address, or that of the page whose form was sent, so that things
/// are created where their form was seen.
pub(crate) fn of(query: Option<&str>, form: Option<&str>) -> Option<WorkspaceId> {
    let of_form = form.and_then(|page| page.split_once('?'));
    let queries = [query, of_form.map(|(_, query)| query)];
    let named = queries.into_iter().flatten().find_map(|query| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(name, _)| name == NAME)
    });
    named.and_then(|(_, id)| id.parse().ok())
}

/// The address to which a page without a workspace in its address is sent, if one was chosen before.
pub(crate) fn address(visit: &Visit, headers: &HeaderMap) -> Option<String> {
    if visit.has(NAME) || !is_navigation(headers) || visit.path().starts_with(WAITING) {
        return None;
    }
    let id = chosen(visit)?;
    let separator = if visit.location.contains('?') {
        '&'
    } else {
        '?'
    };
    Some(format!("{}{separator}{NAME}={id}", visit.location))
}

/// The cookie that keeps what the address of a page says, or that forgets the choice.
pub(crate) fn kept(visit: &Visit, headers: &HeaderMap) -> Option<HeaderValue> {
    if !visit.has(NAME) || !is_navigation(headers) {
        return None;
    }
    let before = visit.cookies.get(Cookie::Workspace);
    match &visit.workspace {
        Some(id) if is_member(visit, id) => {
            let is_new = before.as_deref() != Some(id.as_str());
            is_new.then(|| visit.cookies.set(Cookie::Workspace, id.as_str()))
        }
        // An address of what the visitor may not see is not a choice.
        Some(_) => None,
        None => {
            let is_cleared = visit.parameter(NAME).is_none() && before.is_some();
            is_cleared.then(|| visit.cookies.remove(Cookie::Workspace))
        }
    }
}

/// The workspace of the cookie, if the visitor still is a member.
fn chosen(visit: &Visit) -> Option<WorkspaceId> {
    let id = visit.cookies.get(Cookie::Workspace)?.parse().ok()?;
    is_member(visit, &id).then_some(id)
}

fn is_member(visit: &Visit, id: &WorkspaceId) -> bool {
    let signed_in = visit.signed_in.as_ref();
    let mut workspaces = signed_in.map(|signed_in| signed_in.caller.identity.workspaces.iter());
    workspaces
        .as_mut()
        .is_some_and(|workspaces| workspaces.any(|one| one.id == *id))
}

/// Whether a person opens the page. Scripts that read a page again ask for anything.
fn is_navigation(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    #[test]
    fn a_form_acts_in_the_workspace_of_its_page_unless_its_address_names_another() {
        let [one, two] = [1, 2].map(|ms| WorkspaceId::new(EpochMs(ms), 1));
        let query = format!("a=b&workspace={one}");
        let page = format!("/accounts/new?workspace={two}");
        assert_eq!(of(Some(&query), Some(&page)), Some(one));
        assert_eq!(of(None, Some(&page)), Some(two));
        assert_eq!(of(Some("workspace="), Some(&page)), None);
        assert_eq!(of(Some("a=b"), Some("/accounts")), None);
        assert_eq!(of(None, None), None);
    }
}
