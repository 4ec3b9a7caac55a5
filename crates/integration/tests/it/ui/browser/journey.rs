//! A person's way through the web UI, from a component to its end: with a pointer, without script, and with a keyboard
//! alone.

use headwater_integration::{Chromium, Look, Method, Node, Receiver, Reply, Tab};
use serde_json::{Value, json};
use thirtyfour::Key;

const SHOP: &str = "export default { name: 'Shop orders', version: '0.0.1', props: { http: '$.interface.http', \
    shop: { type: 'app', app: 'shop' }, prefix: 'string', \
    board: { type: 'string', options: () => [{ label: 'Board A', value: 'a' }, { label: 'Other B', value: 'b' }] } }, \
    run(event) { this.$emit({ order: event.body.order, board: this.board, known: this.shop.$auth.api_key === 'k3y' }, \
      { summary: `${this.prefix} ${event.body.order}` }); } }";

/// The element that has the focus: whether an outline shows it, and whether nothing else is over it.
const FOCUS: &str = "(() => { const one = document.activeElement; const style = getComputedStyle(one); \
    const box = one.getBoundingClientRect(); \
    const top = document.elementFromPoint(box.left + Math.min(box.width / 2, 20), box.top + box.height / 2); \
    return { name: one.cloneNode(false).outerHTML.slice(0, 160), \
      is_there: one.matches(SELECTOR), is_link_that_skips: one.matches('.skip'), is_page: one.matches('body, main'), \
      outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2, \
      seen: top !== null && (one.contains(top) || top.contains(one) || one.closest('label')?.contains(top) === true) }; })()";

/// How somebody uses pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hand {
    Pointer,
    Keyboard,
}

struct Person<'a> {
    tab: Tab<'a>,
    hand: Hand,
    has_script: bool,
}

impl Person<'_> {
    /// Moves the focus on until it is there, past the menu by the link that skips it; on its way it is always seen.
    async fn reach(&self, selector: &str) {
        self.tab.sees(selector).await;
        let focus = FOCUS.replace("SELECTOR", &json!(selector).to_string());
        for _ in 0..60 {
            let now = self.tab.evaluate(&focus).await;
            if now["is_there"] == true {
                return;
            }
            if now["is_link_that_skips"] == true {
                self.tab.type_keys(Key::Enter).await;
                self.tab.type_keys(Key::Tab).await;
                continue;
            }
            let is_seen = now["outlined"] == true && now["seen"] == true;
            assert!(
                is_seen || now["is_page"] == true,
                "at {}: {now:#}",
                self.tab.path().await
            );
            self.tab.type_keys(Key::Tab).await;
        }
        panic!("no way to {selector} at {}", self.tab.path().await);
    }

    async fn press(&self, selector: &str) {
        match self.hand {
            Hand::Pointer => self.tab.press(selector).await,
            Hand::Keyboard => {
                self.reach(selector).await;
                self.tab.type_keys(Key::Enter).await;
            }
        }
    }

    async fn write(&self, selector: &str, text: &str) {
        match self.hand {
            Hand::Pointer => self.tab.write(selector, text).await,
            Hand::Keyboard => {
                self.reach(selector).await;
                self.tab.select_all().await;
                self.tab.type_keys(text).await;
            }
        }
    }

    /// Chooses the option of a list that begins so.
    async fn choose(&self, selector: &str, label: &str) {
        match self.hand {
            Hand::Pointer => self.tab.choose(selector, label).await,
            Hand::Keyboard => {
                self.reach(selector).await;
                self.tab.type_keys(label).await;
            }
        }
    }

    /// Chooses an option of a prop, in its list, or in the field that the script makes of it.
    async fn pick(&self, prop: &str, label: &str) {
        // The fields above may have loaded a list already, which this one replaces.
        let field = format!("[data-field='{prop}']:not([aria-busy])");
        if !self.has_script {
            return self.choose(&format!("{field} select"), label).await;
        }
        self.tab
            .sees_text(&format!("{field} [role=status]"), "options")
            .await;
        match self.hand {
            Hand::Pointer => {
                self.tab.offers(prop, label).await;
                self.tab
                    .press(&format!("{field} [role=option]:nth-child(2)"))
                    .await;
            }
            Hand::Keyboard => {
                self.write(&format!("{field} [role=combobox]"), label).await;
                self.tab.type_keys(Key::Down + Key::Enter).await;
            }
        }
    }

    async fn is_untroubled(&self) {
        if self.has_script {
            assert_eq!(self.tab.problems().await, Vec::<String>::new());
        }
    }

    /// Sees the newest event of the source whose page is open: it comes by itself, or with the page.
    async fn sees_event(&self, summary: &str) {
        if self.has_script {
            self.tab
                .sees_text("[data-rows] tr:first-child", summary)
                .await;
            return;
        }
        let path = self.tab.path().await;
        let coming = async {
            while !self.tab.text().await.contains(summary) {
                self.tab.open(&path).await;
            }
        };
        let came = tokio::time::timeout(std::time::Duration::from_secs(90), coming).await;
        came.unwrap_or_else(|_| panic!("{summary} does not appear"));
    }
}

/// Sends a request to an endpoint.
async fn order(node: &Node, endpoint: &str, number: u32) {
    let request = node.with_key(None).request(Method::POST, endpoint);
    let request = request.json(&json!({ "order": number }));
    node.send(request).await.is(200);
}

async fn signs_in(person: &Person<'_>, node: &Node) {
    person.tab.open("/accounts").await;
    person.write("#key", node.api_key()).await;
    person.press("button.primary").await;
    person.tab.sees_text("h1", "Accounts").await;
    person.is_untroubled().await;
}

/// Connects an account and deploys the component; returns the source's path and its endpoint.
async fn deploys(person: &Person<'_>, component: &str) -> (String, String) {
    let tab = &person.tab;
    tab.open("/accounts/new?app=shop").await;
    person.write("#name", "Work").await;
    person.write("#lines", "api_key=k3y").await;
    person.press("main form button.primary").await;
    tab.sees_text("h1", "Work").await;
    tab.open("/deploy").await;
    person.press("main a[href='/deploy?drafts=true']").await;
    person
        .press(&format!("main a[href='/deploy/{component}']"))
        .await;
    tab.sees_text("main", "Work").await;
    person.write("[name='prop.prefix']", "Order").await;
    person.press("[value='load:board']").await;
    person.pick("board", "Other B").await;
    person.is_untroubled().await;
    person
        .press("form[data-props] button.primary[value='deploy']")
        .await;
    tab.sees_text("h1", "shop-orders").await;
    let path = tab.path().await;
    assert!(path.starts_with("/sources/dc_"), "{path}");
    (path, tab.sees(".facts .copyable code").await)
}

async fn sees_an_event(person: &Person<'_>, node: &Node, endpoint: &str) {
    let tab = &person.tab;
    if person.has_script {
        tab.sees_text("[data-live-state]", "Live").await;
    }
    order(node, endpoint, 7).await;
    person.sees_event("Order 7").await;
    person.press("[data-rows] tr:first-child a").await;
    tab.sees_text("h1", "Order 7").await;
    for shown in ["order: 7", "board: \"b\"", "known: true"] {
        tab.sees_text(".tree", shown).await;
    }
    person.is_untroubled().await;
}

/// Has a webhook whose deliveries fail, gives one up, and sends it again.
async fn sends_again(person: &Person<'_>, node: &Node, receiver: &Receiver, endpoint: &str) {
    let tab = &person.tab;
    receiver.answer(|_| Reply::status(500));
    tab.open("/webhooks/new").await;
    person.write("#url", &receiver.url()).await;
    person.write("#name", "Bookkeeping").await;
    person.choose("#source", "Shop").await;
    person.press("main form button.primary").await;
    tab.sees_text("main", "whsec_").await;
    let webhooks = node.get("/users/me/webhooks").await.is(200).items();
    let id = webhooks[0]["id"].as_str().unwrap().to_owned();
    order(node, endpoint, 8).await;
    let tried = |all: &[Value]| all.iter().any(|one| one["attempts"][0]["status"] == 500);
    node.deliveries_until(&id, tried).await;
    // Whoever pauses a webhook gives up on the deliveries that wait.
    tab.open(&format!("/webhooks/{id}")).await;
    person.press("form[action$='/switch'] button").await;
    tab.sees_text("header.title", "Resume").await;
    node.deliveries_in(&id, "dead", 1).await;
    person.press("form[action$='/switch'] button").await;
    tab.sees_text("header.title", "Pause").await;
    receiver.answer(|_| Reply::status(200));
    tab.open("/deliveries?state=dead").await;
    person.press("main table a[href^='/deliveries/dlv_']").await;
    tab.sees_text("header.title", "dead").await;
    tab.sees_text("main", "500").await;
    person.press("form[action$='/retry'] button").await;
    tab.sees_text("main", "on its way again").await;
    node.deliveries_in(&id, "delivered", 1).await;
    let page = tab.path().await;
    tab.open(&page).await;
    tab.sees_text("header.title", "delivered").await;
    person.is_untroubled().await;
}

async fn changes_and_deletes(person: &Person<'_>, node: &Node, source: &str, endpoint: &str) {
    let tab = &person.tab;
    tab.open(&format!("{source}/edit")).await;
    person.write("[name='prop.prefix']", "Bill").await;
    person
        .press("form[data-props] button.primary[value='deploy']")
        .await;
    tab.arrives_at(source).await;
    if person.has_script {
        tab.sees_text("[data-live-state]", "Live").await;
    }
    order(node, endpoint, 9).await;
    person.sees_event("Bill 9").await;
    person.press("form[action$='/switch'] button").await;
    tab.sees_text("header.title", "paused").await;
    person.is_untroubled().await;
    person.press("header.title a.danger").await;
    tab.arrives_at(&format!("{source}/delete")).await;
    person.press("button.danger").await;
    tab.sees_text("h1", "Sources").await;
    node.get(source).await.is(404);
    person.is_untroubled().await;
}

async fn journey(hand: Hand, has_script: bool) {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let component = node.save(SHOP).await;
    let browser = Chromium::start().await;
    let tab = browser.at(&node);
    let look = Look {
        width: 1280,
        is_dark: false,
    };
    tab.look(look).await;
    if !has_script {
        tab.run_no_script().await;
    }
    let person = Person {
        tab,
        hand,
        has_script,
    };
    signs_in(&person, &node).await;
    let (source, endpoint) = deploys(&person, component["id"].as_str().unwrap()).await;
    sees_an_event(&person, &node, &endpoint).await;
    sends_again(&person, &node, &receiver, &endpoint).await;
    changes_and_deletes(&person, &node, &source, &endpoint).await;
}

#[tokio::test]
async fn somebody_deploys_watches_repairs_and_deletes() {
    journey(Hand::Pointer, true).await;
}

#[tokio::test]
async fn all_of_it_works_without_script() {
    journey(Hand::Pointer, false).await;
}

#[tokio::test]
async fn all_of_it_works_by_keyboard_with_the_focus_in_sight() {
    journey(Hand::Keyboard, true).await;
}
