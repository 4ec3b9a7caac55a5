//! Valid and invalid definitions, and the values filled into their URLs.

use serde_json::json;

use super::*;
use crate::page::{PageRequest, Position};

fn definition(value: Value) -> Result<AppDefinition, Invalid> {
    serde_json::from_value::<AppDefinition>(value)
        .unwrap()
        .checked("shop")
}

fn oauth2(oauth2: Value) -> Value {
    let mut given = json!({
        "authorize_url": "https://{shop_id}.shop.example/authorize",
        "token_url": "https://{shop_id}.shop.example/token",
    });
    given
        .as_object_mut()
        .unwrap()
        .extend(oauth2.as_object().unwrap().clone());
    let fields =
        json!([{"name": "shop_id", "label": "Shop"}, {"name": "region", "optional": true}]);
    json!({"name": "Shop", "auth": "oauth2", "fields": fields, "oauth2": given})
}

fn fields(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn what_is_left_out_has_the_standards_defaults() {
    let app = definition(oauth2(json!({}))).unwrap();
    let endpoints = app.oauth2.unwrap();
    assert!(endpoints.pkce);
    assert_eq!(endpoints.token_auth, TokenAuth::Basic);
    assert_eq!(endpoints.scope_separator, " ");
    assert_eq!(endpoints.renewal_url(), &endpoints.token_url);
    assert_eq!(app.fields[1].label, "region");
}

#[test]
fn a_choice_has_one_of_its_values_or_none() {
    let tls = json!([{"name": "key"}, {"name": "tls", "optional": true, "options": [{"value": "on", "label": "On"}, {"value": "off"}]}]);
    let app = definition(json!({"name": "S", "auth": "fields", "fields": tls})).unwrap();
    assert_eq!(app.fields[1].options[1].label, "off");
    for (given, is_fine) in [("on", true), ("off", true), ("", true), ("On", false)] {
        let checked = app.check_account(&fields(json!({"key": "k", "tls": given})));
        assert_eq!(checked.is_ok(), is_fine, "{given}: {checked:?}");
    }
    let refused = app.check_account(&fields(json!({"key": "k", "tls": "maybe"})));
    let refused = refused.unwrap_err();
    assert_eq!(
        (refused.field.as_str(), refused.reason.as_str()),
        ("fields.tls", "must be one of: on, off")
    );
    assert!(app.check_account(&fields(json!({"key": "k"}))).is_ok());
}

#[test]
fn a_probe_has_the_fields_that_come_with_a_token() {
    let of_shop = |probe: Value| {
        let mut shop = oauth2(json!({
            "token_fields": {"account": "/account/id"},
            "callback_fields": {"company_id": "realmId"},
        }));
        shop["probe"] = probe;
        definition(shop)
    };
    let probe = json!({
        "url": "https://{shop_id}.shop.example/{company_id}/{account}?token={oauth_access_token}",
        "headers": {"X-Client": "{oauth_client_id}"},
    });
    assert!(of_shop(probe).is_ok());
    for unknown in ["oauth_refresh_token", "realmId", "region"] {
        let url = format!("https://shop.example/{{{unknown}}}");
        let refused = of_shop(json!({ "url": url })).unwrap_err();
        assert_eq!(refused.field, "probe.url", "{unknown}");
    }
}

#[test]
fn a_definition_that_cannot_stand_names_its_field() {
    let key = json!([{"name": "api_key"}]);
    for (value, field) in [
        (json!({"name": "S", "auth": "oauth2"}), "oauth2"),
        (json!({"name": "S", "auth": "fields"}), "fields"),
        (
            json!({"name": "S", "auth": "fields", "fields": [{"name": "a b"}]}),
            "fields[0].name",
        ),
        (
            json!({"name": "S", "auth": "fields", "fields": [{"name": "a"}, {"name": "a"}]}),
            "fields[1].name",
        ),
        (
            json!({"name": "S", "auth": "fields",
                "fields": [{"name": "a", "secret": true, "options": [{"value": "x"}]}]}),
            "fields[0].options",
        ),
        (
            json!({"name": "S", "auth": "fields", "fields": key, "probe": {"url": "shop.example"}}),
            "probe.url",
        ),
        (
            json!({"name": "S", "auth": "fields", "fields": key, "probe": {"url": "https://a/{other}"}}),
            "probe.url",
        ),
        (
            json!({"name": "S", "auth": "fields", "fields": key,
                "probe": {"url": "https://a", "headers": {"X-Key": "{key}"}}}),
            "probe.headers.X-Key",
        ),
        (
            json!({"name": "S", "auth": "fields", "fields": key, "probe": {"url": "https://a", "ok": "ok"}}),
            "probe.ok",
        ),
        (
            oauth2(json!({"token_url": "https://a@b/"})),
            "oauth2.token_url",
        ),
        (
            oauth2(json!({"token_url": "https://{shop_id/"})),
            "oauth2.token_url",
        ),
        (
            oauth2(json!({"revocation_url": "https://{region}.example"})),
            "oauth2.revocation_url",
        ),
        (oauth2(json!({"client_secret": "s"})), "oauth2.client_id"),
        (
            oauth2(json!({"token_fields": {"bot": "bot"}})),
            "oauth2.token_fields.bot",
        ),
    ] {
        assert_eq!(
            definition(value.clone()).unwrap_err().field,
            field,
            "{value}"
        );
    }
    let slug = serde_json::from_value::<AppDefinition>(json!({"name": "S", "auth": "none"}));
    assert!(slug.unwrap().checked("no slug").is_err());
}

#[test]
fn a_value_cannot_name_another_host() {
    let app = definition(oauth2(json!({}))).unwrap();
    let url = &app.oauth2.as_ref().unwrap().token_url;
    let expand = |shop: &str| url.expand(&fields(json!({"shop_id": shop})));
    assert_eq!(
        expand("my-shop").unwrap(),
        "https://my-shop.shop.example/token"
    );
    for shop in [
        "evil.example/",
        "evil.example#",
        "evil.example?",
        "a@evil",
        "evil.example",
        "a:1",
        "%2e",
        "",
        "a b",
        "\u{ff0f}",
    ] {
        assert!(expand(shop).is_err(), "{shop}");
    }
    assert!(!url.has_fixed_host());
}

#[test]
fn elsewhere_a_value_is_escaped() {
    let url: UrlTemplate =
        serde_json::from_value(json!("https://shop.example/{a}/x?b={b}")).unwrap();
    assert!(url.has_fixed_host());
    let filled = url.expand(&fields(json!({"a": "../?#é", "b": 7}))).unwrap();
    assert_eq!(filled, "https://shop.example/..%2F%3F%23%C3%A9/x?b=7");
}

#[test]
fn an_accounts_fields_are_those_of_the_app() {
    let app = json!({"name": "S", "auth": "fields", "fields": [{"name": "key"}, {"name": "region", "optional": true}]});
    let app = definition(app).unwrap();
    let check = |value: Value| {
        app.check_account(&fields(value))
            .map_err(|error| error.field)
    };
    assert_eq!(check(json!({"key": "k"})), Ok(()));
    assert_eq!(check(json!({"key": 1, "region": "eu"})), Ok(()));
    assert_eq!(check(json!({"key": ""})), Err("fields.key".to_owned()));
    assert_eq!(check(json!({"region": "eu"})), Err("fields.key".to_owned()));
    assert_eq!(
        check(json!({"key": "k", "keys": "k"})),
        Err("fields.keys".to_owned())
    );
    assert_eq!(check(json!({"key": {}})), Err("fields.key".to_owned()));
}

#[test]
fn an_oauth2_account_needs_a_token_and_may_have_more() {
    let app = definition(oauth2(json!({}))).unwrap();
    let token = json!({"shop_id": "a", "oauth_access_token": "t", "scope": "x"});
    assert_eq!(app.check_account(&fields(token)), Ok(()));
    let without = app.check_account(&fields(json!({"shop_id": "a"})));
    assert_eq!(without.unwrap_err().field, "fields.oauth_access_token");
}

#[test]
fn fields_are_secret_by_the_apps_definition_or_else_by_their_names() {
    let app = definition(json!({
        "name": "Shop",
        "auth": "fields",
        "fields": [{"name": "key_id"}, {"name": "pin", "secret": true}],
    }))
    .unwrap();
    for (name, of_app, of_none) in [
        ("key_id", false, true),
        ("pin", true, false),
        ("oauth_access_token", true, true),
        ("Client_Secret", true, true),
        ("smtpPassword", true, true),
        ("region", false, false),
        ("oauth_uid", false, false),
    ] {
        assert_eq!(is_secret_field(Some(&app), name), of_app, "{name}");
        assert_eq!(is_secret_field(None, name), of_none, "{name}");
    }
}

#[test]
fn a_clients_secret_is_not_shown() {
    let app = definition(oauth2(
        json!({"client_id": "c", "client_secret": "hunter2"}),
    ))
    .unwrap();
    assert!(!format!("{app:?}").contains("hunter2"));
    assert_eq!(app.client().unwrap().1, "c");
}

#[test]
fn apps_are_searched_and_paged_in_the_order_of_slugs() {
    let app = |slug: &str, name: &str| {
        let app = json!({"name": name, "auth": "none"});
        serde_json::from_value::<AppDefinition>(app)
            .unwrap()
            .checked(slug)
            .unwrap()
    };
    let catalog = AppCatalog::new([
        app("c", "Sea"),
        app("a", "Ay"),
        app("b", "Bee"),
        app("d", "Dee"),
    ]);
    let search = |query: &str, limit: u32, position: Position<String>| {
        let page = catalog.search(query, &PageRequest { limit, position });
        let slugs: Vec<_> = page.items.iter().map(|app| app.slug.clone()).collect();
        (slugs.concat(), page.total_count)
    };
    let (after, before) = (
        |slug: &str| Position::After(slug.to_owned()),
        |slug: &str| Position::Before(slug.to_owned()),
    );
    assert_eq!(search("", 3, Position::First), ("abc".to_owned(), 4));
    assert_eq!(search("", 3, after("a")), ("bcd".to_owned(), 4));
    assert_eq!(search("", 3, after("aa")), ("bcd".to_owned(), 4));
    assert_eq!(search("", 3, after("d")), (String::new(), 4));
    assert_eq!(search("", 2, before("d")), ("bc".to_owned(), 4));
    assert_eq!(search(" EE ", 9, Position::First), ("bd".to_owned(), 2));
}
