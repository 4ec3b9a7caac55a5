//! A person's hand in a tab: what it presses and writes into may be replaced by the page at any moment.

use thirtyfour::{
    Key, WebElement,
    error::{WebDriverError, WebDriverErrorInner, WebDriverResult},
    prelude::ElementWaitable as _,
};

use super::{TRIES, Tab};

impl Tab<'_> {
    /// Presses a button or follows a link.
    pub async fn press(&self, selector: &str) {
        self.act(selector, async |element| element.click().await)
            .await;
    }

    /// Writes into a field what a person would type, instead of what is there.
    pub async fn write(&self, selector: &str, text: &str) {
        self.act(selector, async |element| {
            element.wait_until().clickable().await?;
            element.clear().await?;
            element.send_keys(text).await
        })
        .await;
    }

    /// Chooses the option of a list whose text begins so.
    pub async fn choose(&self, selector: &str, label: &str) {
        self.act(selector, async |element| element.send_keys(label).await)
            .await;
    }

    /// Chooses the option of a prop's field whose label begins so, by typing it and taking the first that is found.
    pub async fn pick(&self, prop: &str, label: &str) {
        let field = format!("[data-field='{prop}']:not([aria-busy]) [role=combobox]");
        self.write(&field, label).await;
        self.sees_text(&format!("[data-field='{prop}'] [role=option]"), label)
            .await;
        self.type_keys(Key::Down + Key::Enter).await;
    }

    /// Opens the list of a prop's field, and waits until an option has the text.
    pub async fn offers(&self, prop: &str, label: &str) {
        self.press(&format!(
            "[data-field='{prop}']:not([aria-busy]) [role=combobox]"
        ))
        .await;
        self.sees_text(&format!("[data-field='{prop}'] [role=option]"), label)
            .await;
    }

    /// Acts on an element. A page may put another in its place between the look and the act: the one that comes is meant.
    async fn act(&self, selector: &str, act: impl AsyncFn(WebElement) -> WebDriverResult<()>) {
        for _ in 0..TRIES {
            match act(self.element(selector).await).await {
                Err(error) if is_of_another_moment(&error) => {}
                done => return done.unwrap_or_else(|error| panic!("{selector}: {error}")),
            }
        }
        panic!("`{selector}` at {} goes again and again", self.path().await);
    }
}

/// Whether the page has put another element in the place of this one, or has not shown it yet.
fn is_of_another_moment(error: &WebDriverError) -> bool {
    matches!(
        **error,
        WebDriverErrorInner::StaleElementReference(_)
            | WebDriverErrorInner::ElementNotInteractable(_)
            | WebDriverErrorInner::Timeout(_)
    )
}
