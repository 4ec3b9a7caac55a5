//! Nothing that users or the world made is anything but text on a page, and all of it is seen.

pub(crate) mod corpus;
mod stage;

use headwater_integration::{Chromium, Look, Node, Receiver, Tab};

/// Everything on a page that its own code did not write.
const STRANGE: &str = r#"(() => {
    const found = [];
    if (window.__xss !== undefined) found.push("something ran");
    if (document.scripts.length !== 1) found.push(`${document.scripts.length} scripts`);
    for (const element of document.querySelectorAll("*")) {
        if (["IMG", "IFRAME", "OBJECT", "EMBED", "BASE", "STYLE", "MATH"].includes(element.tagName)) {
            found.push(`an element ${element.outerHTML.slice(0, 100)}`);
        }
        for (const { name, value } of element.attributes) {
            if (/^on|^srcdoc$/i.test(name)) found.push(`an attribute ${name}=${value}`);
            const leads = ["href", "src", "action", "formaction"].includes(name);
            if (leads && !/^(\/(?!\/)|#|\?|https?:|mailto:|data:,$)/.test(value)) found.push(`a way to ${value}`);
            if (name === "href" && /^https?:/.test(value) && !element.relList.contains("noopener")) {
                found.push(`a way out without noopener: ${value}`);
            }
        }
    }
    const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;
    const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const parent = texts.currentNode.parentElement;
        // What is typed stays as it is.
        if (parent.closest("textarea, .cm-editor")) continue;
        if (hidden.test(texts.currentNode.data)) {
            found.push(`hidden characters in ${parent.tagName} of ${parent.parentElement?.tagName}: ${JSON.stringify(texts.currentNode.data.slice(0, 80))}`);
        }
    }
    return found;
})()"#;

/// Everything that is wrong with the page that is shown, which has to have these texts.
async fn faults(tab: &Tab<'_>, texts: &[String]) -> Vec<String> {
    let mut faults = tab.problems().await;
    let strange = tab.evaluate(STRANGE).await;
    let strange = strange.as_array().unwrap().iter();
    faults.extend(strange.map(|one| one.as_str().unwrap().to_owned()));
    let text = tab.evaluate("document.documentElement.textContent").await;
    let text = text.as_str().unwrap();
    let missing = texts.iter().filter(|wanted| !text.contains(*wanted));
    faults.extend(missing.map(|wanted| format!("`{}` is not shown", wanted.escape_debug())));
    let across = tab.evaluate("document.documentElement.scrollWidth").await;
    if across.as_u64().unwrap() > 360 {
        let widest = tab.widest(360).await;
        faults.push(format!("scrolls sideways, {across} px: {widest}"));
    }
    faults
}

#[tokio::test]
async fn whatever_the_world_made_is_text() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let pages = stage::pages(&node, &receiver).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let look = Look {
        width: 360,
        is_dark: false,
    };
    tab.look(look).await;
    let mut all = Vec::new();
    for page in &pages {
        tab.open(&page.path).await;
        if tab.count("form[data-props]").await > 0 {
            // Options are shown when their list is open.
            tab.sees("[data-field] [role=combobox]").await;
            let open = "void document.querySelectorAll('[data-field] [role=combobox]').forEach((one) => one.click())";
            tab.evaluate(open).await;
        }
        let found = faults(&tab, &page.texts).await;
        all.extend(found.iter().map(|fault| format!("{}: {fault}", page.path)));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// The result of a trial comes into the page that it was tried from.
#[tokio::test]
async fn what_a_trial_shows_is_text() {
    let node = Node::start().await;
    let (code, texts) = stage::trial();
    let component = node.save(&code).await;
    let source = node.deploy(&code, serde_json::json!({})).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let look = Look {
        width: 360,
        is_dark: false,
    };
    tab.look(look).await;
    let form = format!("/deploy/{}", component["id"].as_str().unwrap());
    for page in [form, format!("/sources/{}/code", source.id)] {
        tab.open(&page).await;
        tab.press("button[value=try]").await;
        tab.sees_text("#trial", "It emitted").await;
        let found = faults(&tab, &texts).await;
        assert!(found.is_empty(), "{page}: {}", found.join("\n"));
    }
}
