//! Webhooks: their addresses and states. Signing secrets go out once, when they are new, and so never come over.

use std::collections::BTreeMap;

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::listings::Listings;
use super::report::{Kind, State, Thing, WorkKind};
use super::{Import, id_of, refusal};
use crate::source::text;
use crate::webhook;

impl Import<'_> {
    pub(super) async fn webhooks(&mut self, listings: &Listings) -> Result<()> {
        let here = webhook::list(self.target).await?;
        let here: BTreeMap<_, _> = here
            .into_iter()
            .map(|webhook| (text(&webhook, "id").to_owned(), webhook))
            .collect();
        for there in &listings.webhooks {
            let thing = self.webhook(there, &here).await?;
            self.report.add(thing);
        }
        Ok(())
    }

    async fn webhook(&mut self, webhook: &Value, here: &BTreeMap<String, Value>) -> Result<Thing> {
        let there = text(webhook, "id");
        let mut thing = Thing {
            kind: Kind::Webhook,
            name: match text(webhook, "name") {
                "" => text(webhook, "url").to_owned(),
                name => name.to_owned(),
            },
            from_id: there.to_owned(),
            id: None,
            state: State::Kept,
            left: Vec::new(),
        };
        if let Some(id) = self.remembered.id(there).map(str::to_owned) {
            if here.contains_key(&id) {
                self.finish_webhook(&id).await?;
                thing.id = Some(id);
                return Ok(thing);
            }
            self.remembered.forget(there)?;
        }
        // An import that was cut off did not remember it.
        let mut same = here.iter().filter(|(id, known)| {
            text(known, "url") == text(webhook, "url")
                && text(known, "name") == text(webhook, "name")
                && self.is_in_place(known)
                && !self.remembered.is_taken(id)
        });
        let id = match same.next() {
            Some((id, _)) => id.clone(),
            None => match self.create_webhook(webhook).await? {
                Ok(id) => {
                    thing.state = State::Imported;
                    id
                }
                Err(reason) => {
                    thing.state = State::Missing;
                    thing.left.push(WorkKind::Rewrite.work(reason));
                    return Ok(thing);
                }
            },
        };
        match webhook["active"] == false {
            true => self.remembered.keep_to_switch_off(there, &id)?,
            false => self.remembered.keep(there, &id)?,
        }
        self.finish_webhook(&id).await?;
        // Only a node signs its deliveries.
        if thing.state == State::Imported && webhook.get("ordering").is_some() {
            thing.left.push(WorkKind::Tell.work(format!(
                "it signs with a new secret: `headwater webhooks rotate-secret {id}` makes one to give to the \
                 receiver, or takes the former one"
            )));
        }
        thing.id = Some(id);
        Ok(thing)
    }

    async fn create_webhook(&self, webhook: &Value) -> Result<Result<String, String>> {
        let fields = ["url", "name", "description", "ordering"].into_iter();
        let fields = fields.filter_map(|field| Some((field, webhook.get(field)?)));
        let fields = fields.filter(|(_, value)| !value.is_null());
        let body: serde_json::Map<_, _> = fields
            .map(|(field, value)| (field.to_owned(), value.clone()))
            .collect();
        match self.target.post_scoped(&["webhooks"], body.into()).await {
            Ok(created) => Ok(Ok(id_of(&created)?)),
            Err(error) => Ok(Err(refusal(error)?)),
        }
    }

    /// Switches a webhook off that was to be, if that is still to be done.
    async fn finish_webhook(&mut self, here: &str) -> Result<()> {
        if !self.remembered.is_to_switch_off(here) {
            return Ok(());
        }
        let path = ["webhooks", here];
        let off = json!({"active": false});
        self.target.send(Method::PATCH, &path, &off).await?;
        self.remembered.switched_off(here)
    }
}
