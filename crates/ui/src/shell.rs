//! The way of every page: the browser's cookies in, the page in its frame and under its policy out.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use headwater_platform::{PlatformError, Remote, observed};
use url::form_urlencoded;

use crate::{
    compressed,
    cookie::{Cookie, Cookies},
    headers, layout,
    problem::Problem,
    problem_page,
    progress::{Work, taken_out},
    reply::{Page, see_other},
    state::Ui,
    visit::{Theme, Visit, came_from, host_of, remote},
    workspace,
};

/// Lets a request in and frames the page that answers it.
pub(crate) async fn enter(State(ui): State<Arc<Ui>>, mut request: Request, next: Next) -> Response {
    let accepts_gzip = compressed::is_accepted(request.headers());
    let host = host_of(&request);
    let from = remote(&ui.platform, request.extensions(), request.headers());
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    let line = (request.uri(), reads);
    let visit = match visit(&ui, (&host, from), request.headers(), line).await {
        Ok(visit) => Arc::new(visit),
        Err(error) => return Problem::from(error).bare().into_response(),
    };
    let kept = match reads {
        true => workspace::kept(&visit, request.headers()),
        false => None,
    };
    if reads && let Some(address) = workspace::address(&visit, request.headers()) {
        return guarded(see_other(&address), &visit);
    }
    request.extensions_mut().insert(Arc::clone(&visit));
    let answering = next.run(request);
    let mut response = match reads {
        true => answering.await,
        // The act is recorded, even if the browser goes away meanwhile.
        false => {
            let answering = followed(work_of(&ui, &visit), answering);
            ui.platform.carry_out(answering).await
        }
    };
    let extensions = response.extensions_mut();
    let page = extensions.remove::<Page>();
    let problem = extensions.remove::<Problem>();
    let is_signed_out = matches!(problem, Some(Problem::SignedOut));
    if is_signed_out && reads {
        return to_sign_in(&visit);
    }
    if is_signed_out {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    }
    let page = match is_signed_out {
        true => {
            let form = visit.came_from.as_deref().unwrap_or("/");
            Some(problem_page::signed_out_meanwhile(form))
        }
        false => page,
    };
    let page = page.or_else(|| problem.map(|problem| problem_page::page(&problem, &visit)));
    if let Some(page) = page {
        let html = layout::framed(&page, &visit).into_string();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            header::HeaderValue::from_static("text/html; charset=utf-8"),
        );
        let body = compressed::body(html.into_bytes(), accepts_gzip, headers);
        *response.body_mut() = Body::from(body);
        if visit.flash.is_some() {
            let gone = visit.cookies.remove(Cookie::Flash);
            response.headers_mut().append(header::SET_COOKIE, gone);
        }
        if let Some(kept) = kept {
            response.headers_mut().append(header::SET_COOKIE, kept);
        }
    }
    guarded(response, &visit)
}

/// The answer under its policy.
fn guarded(mut response: Response, visit: &Visit) -> Response {
    headers::guard(response.headers_mut(), &visit.nonce);
    response
}

/// The work that the page which sent a form follows, if it wants to.
fn work_of(ui: &Ui, visit: &Visit) -> Option<Arc<Work>> {
    let session = &visit.signed_in.as_ref()?.session.id;
    let name = visit.progress.as_deref()?;
    Some(ui.works.of(session, name))
}

/// The answer to a form, whose parts are told to whoever follows its work.
async fn followed(work: Option<Arc<Work>>, answering: impl Future<Output = Response>) -> Response {
    match work {
        Some(work) => observed(move |part| work.begins(part), answering).await,
        None => answering.await,
    }
}

async fn visit(
    ui: &Ui,
    (host, from): (&str, Remote),
    headers: &HeaderMap,
    (uri, reads): (&Uri, bool),
) -> Result<Visit, PlatformError> {
    let cookies = Cookies::of(ui, headers, host);
    let mut signed_in = match cookies.get(Cookie::Session) {
        Some(secret) => ui.platform.signed_in(&secret).await?,
        None => None,
    };
    if let Some(signed_in) = &mut signed_in {
        signed_in.caller.from = from;
    }
    let mut nonce = [0; 16];
    ui.env().random.fill(&mut nonce);
    let theme = cookies
        .get(Cookie::Theme)
        .and_then(|name| Theme::parse(&name));
    let came_from = came_from(headers, host);
    let form = came_from.as_deref().filter(|_| !reads);
    let workspace = workspace::of(uri.query(), form);
    let location = uri.path_and_query();
    let (location, progress) = taken_out(location.map_or("/", |location| location.as_str()));
    Ok(Visit {
        signed_in,
        nonce: STANDARD.encode(nonce),
        theme: theme.unwrap_or_default(),
        is_masked: cookies.get(Cookie::Masking).is_some(),
        flash: cookies.get(Cookie::Flash),
        is_local: Ui::is_loopback(host),
        now_ms: ui.env().now_ms(),
        location,
        progress,
        workspace,
        came_from,
        cookies,
    })
}

/// Sends a browser that is not signed in to do so, and to come back.
fn to_sign_in(visit: &Visit) -> Response {
    let next: String = form_urlencoded::byte_serialize(visit.location.as_bytes()).collect();
    let target = match visit.location.as_str() {
        "/" => "/signin".to_owned(),
        _ => format!("/signin?next={next}"),
    };
    guarded(see_other(&target), visit)
}
