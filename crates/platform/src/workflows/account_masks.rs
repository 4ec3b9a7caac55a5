//! Masks of the secret fields of accounts. Unlike those of variables, they name the account: text tells by itself which
//! accounts have to be opened for it.
//!
//! Not responsible for masking itself (`masking.rs`).

use std::{collections::BTreeSet, sync::Arc};

use headwater_model::{app::is_secret_field, id::AccountId};
use headwater_store::Owner;
use serde_json::{Map, Value};

use super::{marks::FENCE, masking::Mask, tokens::WaitKey};
use crate::{accounts::Accounts, core::Core, error::PlatformError};

/// Accounts whose marks are opened in one text.
const ACCOUNTS_MAX: usize = 100;
/// Characters of a field's name that a mark shows.
const NAME_CHARS: usize = 64;

/// The `$auth` that a step gets.
pub(crate) struct UsedAuth<'a> {
    pub(crate) account: AccountId,
    pub(crate) fields: &'a Map<String, Value>,
}

/// Makes the masks of accounts.
pub(crate) struct AccountMasks {
    core: Arc<Core>,
    accounts: Arc<Accounts>,
    mark_key: Arc<WaitKey>,
}

impl AccountMasks {
    pub(crate) fn new(core: Arc<Core>, accounts: Arc<Accounts>, mark_key: Arc<WaitKey>) -> Self {
        Self {
            core,
            accounts,
            mark_key,
        }
    }

    /// The masks of accounts that code gets.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn used(
        &self,
        owner: &Owner,
        used: &[UsedAuth<'_>],
    ) -> Result<Vec<Mask>, PlatformError> {
        let mut masks = Vec::new();
        for UsedAuth {
            account: id,
            fields,
        } in used
        {
            if let Some(account) = self.core.store.account(id).await? {
                masks.extend(self.masks(owner, id, &account.app, fields));
            }
        }
        Ok(masks)
    }

    /// The masks of accounts whose marks are in text. A mark that this owner's runs did not leave is none of them.
    ///
    /// # Errors
    /// The store cannot be read, or an account cannot be opened.
    pub(crate) async fn marked(
        &self,
        owner: &Owner,
        ids: BTreeSet<AccountId>,
    ) -> Result<Vec<Mask>, PlatformError> {
        let mut masks = Vec::new();
        for id in ids {
            if let Some(account) = self.core.store.account(&id).await? {
                let fields = self.accounts.opened_fields(&account)?;
                masks.extend(self.masks(owner, &id, &account.app, &fields));
            }
        }
        Ok(masks)
    }

    fn masks(
        &self,
        owner: &Owner,
        id: &AccountId,
        app: &str,
        fields: &Map<String, Value>,
    ) -> Vec<Mask> {
        let definition = self.core.config.apps.get(app);
        let secret = fields
            .iter()
            .filter(|(name, _)| is_secret_field(definition.map(AsRef::as_ref), name));
        let masks = secret.filter_map(|(name, value)| {
            let signed = self
                .mark_key
                .mark(&format!("{} {id} {name}", owner.tenant()));
            let mark = format!("{}:{id}:{signed}", shown(name));
            Mask::new(value.as_str()?, &mark)
        });
        masks.collect()
    }
}

/// The accounts that marks in text name.
pub(crate) fn accounts_marked_in(text: &str) -> BTreeSet<AccountId> {
    let named = text.split(FENCE).filter_map(|part| {
        let mut parts = part.rsplitn(3, ':').skip(1);
        parts.next()?.parse::<AccountId>().ok()
    });
    let mut ids = BTreeSet::new();
    for id in named {
        ids.insert(id);
        if ids.len() >= ACCOUNTS_MAX {
            break;
        }
    }
    ids
}

/// A field's name as a mark shows it: the same in plain text and in JSON.
fn shown(name: &str) -> String {
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
        _ => '_',
    };
    name.chars().map(plain).take(NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use headwater_model::{id::AccountId, time::EpochMs};

    use super::*;

    fn account(number: u128) -> AccountId {
        AccountId::new(EpochMs(1), number << 64)
    }

    #[test]
    fn marks_name_their_accounts_and_other_text_names_none() {
        let [one, two] = [1, 2].map(account);
        let text = format!(
            "Bearer ***api_key:{one}:a1b2*** and ***token:{two}:c3d4******token:{two}:c3d4***, ***NAME:e5f6***, {one}"
        );
        assert_eq!(accounts_marked_in(&text), BTreeSet::from([one, two]));
        assert!(accounts_marked_in("***:::*** apn_1 *** a:b:c ***").is_empty());
        let many: String = (0..200)
            .map(|number| format!("***k:{}:m***", account(number)))
            .collect();
        assert_eq!(accounts_marked_in(&many).len(), ACCOUNTS_MAX);
    }

    #[test]
    fn names_of_fields_are_the_same_in_text_and_json() {
        assert_eq!(shown("api-Key_2"), "api-Key_2");
        assert_eq!(shown("a\"b ***:é"), "a_b______");
    }
}
