//! The catalog of apps: the apps that come with the node, then those of the operator's files, the
//! latter key by key over the former.
//!
//! Responsible for reading them and for naming faults with their file. The rules of a definition are
//! `model::app`'s business.

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};
use headwater_model::app::{AppCatalog, AppDefinition};
use toml::{Table, Value};

use super::arguments::ServeArguments;
use crate::usage_error::UsageError;

const BUILT_IN: [(&str, &str); 6] = [
    (
        "apps/oauth2/a-f.toml",
        include_str!("../../apps/oauth2/a-f.toml"),
    ),
    (
        "apps/oauth2/g-l.toml",
        include_str!("../../apps/oauth2/g-l.toml"),
    ),
    (
        "apps/oauth2/m-r.toml",
        include_str!("../../apps/oauth2/m-r.toml"),
    ),
    (
        "apps/oauth2/s-z.toml",
        include_str!("../../apps/oauth2/s-z.toml"),
    ),
    ("apps/fields.toml", include_str!("../../apps/fields.toml")),
    ("apps/open.toml", include_str!("../../apps/open.toml")),
];
/// Names the environment variable that has the client's secret.
const SECRET_ENV: &str = "client_secret_env";
const SECRET: &str = "client_secret";

/// The apps of a node, and the folder for its operator's files about them.
pub(super) struct Apps {
    pub(super) catalog: AppCatalog,
    pub(super) folder: PathBuf,
}

impl Apps {
    /// The apps of a node with these options and that folder of its own.
    ///
    /// # Errors
    /// As of `catalog`.
    pub(super) fn of(options: &ServeArguments, folder: PathBuf) -> Result<Self> {
        let variable = |name: &str| std::env::var(name).ok();
        let catalog = catalog(&folder, options.apps.as_deref(), variable)?;
        Ok(Self { catalog, folder })
    }

    /// No apps, where those of the folder are not to be judged yet.
    pub(super) fn unread(folder: PathBuf) -> Self {
        let catalog = AppCatalog::default();
        Self { catalog, folder }
    }
}

/// An app as it is written so far, and the file that had the last word.
struct Written {
    table: Table,
    file: String,
}

/// The built-in apps with those of `<data folder>/apps/*.toml`, and then of the file or folder that `--apps` names.
/// `variable` reads the environment.
///
/// # Errors
/// Names the file, the app and the field that cannot stand.
fn catalog(
    own_folder: &Path,
    given: Option<&Path>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<AppCatalog> {
    let mut apps = BTreeMap::new();
    for (name, text) in BUILT_IN {
        add(&mut apps, name, text)?;
    }
    let mut files = folder_files(own_folder)?.unwrap_or_default();
    if let Some(given) = given {
        match folder_files(given)? {
            Some(of_folder) => files.extend(of_folder),
            None => files.push(given.to_owned()),
        }
    }
    for file in files {
        let text = fs::read_to_string(&file)
            .with_context(|| format!("cannot read the apps file {}", file.display()))?;
        add(&mut apps, &file.display().to_string(), &text)?;
    }
    let apps = apps.into_iter();
    let definitions = apps.map(|(slug, written)| definition(&slug, written, &variable));
    Ok(AppCatalog::new(definitions.collect::<Result<Vec<_>>>()?))
}

/// The TOML files of a folder in the order of their names; `None` if it is not a folder.
fn folder_files(folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", folder.display()));
        }
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .with_context(|| format!("cannot read {}", folder.display()))?
            .path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(Some(files))
}

fn add(apps: &mut BTreeMap<String, Written>, file: &str, text: &str) -> Result<(), UsageError> {
    let table: Table = text
        .parse()
        .map_err(|error| malformed(file, text, &error))?;
    for (slug, value) in table {
        let Value::Table(table) = value else {
            let reason =
                format!("{file}: `{slug}` must be a section: [{slug}] with the app's keys");
            return Err(UsageError(reason));
        };
        let former = apps.remove(&slug).map(|written| written.table);
        let written = Written {
            table: over(former.unwrap_or_default(), table),
            file: file.to_owned(),
        };
        apps.insert(slug, written);
    }
    Ok(())
}

/// The place and the reason, but not the text there: it may be a secret.
fn malformed(file: &str, text: &str, error: &toml::de::Error) -> UsageError {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.unwrap_or_default().matches('\n').count() + 1;
    UsageError(format!("{file}: line {line}: {}", error.message()))
}

/// The one table's keys over the other's; tables key by key, everything else as a whole.
fn over(mut former: Table, table: Table) -> Table {
    for (key, value) in table {
        let value = match (former.remove(&key), value) {
            // Parameters and headers are replaced as a whole, not merged with the former ones.
            (Some(Value::Table(former)), Value::Table(table))
                if matches!(&*key, "oauth2" | "probe") =>
            {
                Value::Table(over(former, table))
            }
            (_, value) => value,
        };
        former.insert(key, value);
    }
    former
}

fn definition(
    slug: &str,
    written: Written,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<AppDefinition> {
    let Written { mut table, file } = written;
    let wrong = |reason: String| UsageError(format!("{file}: app `{slug}`: {reason}"));
    if let Some(Value::Table(oauth2)) = table.get_mut("oauth2") {
        read_secret(oauth2, variable).map_err(|reason| wrong(format!("oauth2.{reason}")))?;
    }
    let definition: AppDefinition = table.try_into().map_err(|error: toml::de::Error| {
        let reason = error.to_string().trim().replace('\n', " ");
        // The variable's name is replaced by its value before the rules of a definition see it.
        let known = format!("`{SECRET}`, `{SECRET_ENV}`");
        wrong(reason.replace(&format!("`{SECRET}`"), &known))
    })?;
    let checked = definition.checked(slug);
    Ok(checked.map_err(|invalid| match &*invalid.field {
        "" => wrong(invalid.reason),
        _ => wrong(invalid.to_string()),
    })?)
}

/// Puts a secret in the place of the variable's name.
fn read_secret(
    oauth2: &mut Table,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let Some(name) = oauth2.remove(SECRET_ENV) else {
        return Ok(());
    };
    if oauth2.contains_key(SECRET) {
        return Err(format!("{SECRET_ENV}: give it or {SECRET}, not both"));
    }
    let name = name
        .as_str()
        .ok_or_else(|| format!("{SECRET_ENV}: must be the name of an environment variable"))?;
    let secret = variable(name).filter(|secret| !secret.is_empty());
    let secret = secret
        .ok_or_else(|| format!("{SECRET_ENV}: the environment variable `{name}` is not set"))?;
    oauth2.insert(SECRET.to_owned(), Value::String(secret));
    Ok(())
}

#[cfg(test)]
mod built_in_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)], given: Option<&str>) -> Result<AppCatalog> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let given = given.map(|given| folder.path().join(given));
        let variable = |name: &str| (name == "SET").then(|| "from-env".to_owned());
        catalog(&folder.path().join("own"), given.as_deref(), variable)
    }

    fn secret(catalog: &AppCatalog, slug: &str) -> Option<String> {
        let oauth2 = catalog.get(slug)?.oauth2.as_ref()?;
        Some(oauth2.client_secret.as_ref()?.expose().to_owned())
    }

    #[test]
    fn an_operators_file_changes_an_app_key_by_key() {
        let own = "[slack.oauth2]\nclient_id = \"first\"\nclient_secret_env = \"SET\"\n";
        let given = "[slack.oauth2]\nclient_id = \"last\"\nauthorize_params = { user_scope = \"chat:write\" }\n\
            [mine]\nname = \"Mine\"\nauth = \"fields\"\nfields = [{ name = \"key\" }]\n";
        let files = [
            ("own/a.toml", own),
            ("own/ignored.txt", "x"),
            ("given.toml", given),
        ];
        let catalog = read(&files, Some("given.toml")).unwrap();
        let slack = catalog.get("slack").unwrap();
        let (oauth2, client_id) = slack.client().unwrap();
        assert_eq!((client_id, &*slack.name), ("last", "Slack"));
        assert_eq!(oauth2.authorize_params.len(), 1);
        assert_eq!(oauth2.token_fields.len(), 4);
        assert_eq!(secret(&catalog, "slack").as_deref(), Some("from-env"));
        assert_eq!(catalog.get("mine").unwrap().fields.len(), 1);
    }

    #[test]
    fn files_of_a_folder_count_in_the_order_of_their_names() {
        let client = |id: &str| format!("[github.oauth2]\nclient_id = \"{id}\"\n");
        let (a, b) = (client("a"), client("b"));
        let catalog = read(&[("given/b.toml", &b), ("given/a.toml", &a)], Some("given"));
        let catalog = catalog.unwrap();
        assert_eq!(catalog.get("github").unwrap().client().unwrap().1, "b");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_file_app_and_field() {
        for (text, expected) in [
            ("[slack", "own/bad.toml"),
            ("slack = 1", "`slack` must be a section"),
            (
                "[mine]\nauth = \"fields\"\nfields = [{name = \"k\"}]",
                "app `mine`: missing field `name`",
            ),
            (
                "[mine]\nname = \"M\"\nauth = \"password\"",
                "app `mine`: unknown variant `password`",
            ),
            (
                "[slack]\ncolour = \"red\"",
                "app `slack`: unknown field `colour`",
            ),
            (
                "[slack.oauth2]\nclient_secret_var = \"X\"",
                "`client_secret`, `client_secret_env`",
            ),
            (
                "[slack.oauth2]\ntoken_url = \"slack.com\"",
                "app `slack`: oauth2.token_url: must be a whole URL",
            ),
            (
                "[slack.oauth2]\nclient_secret_env = \"UNSET\"",
                "oauth2.client_secret_env: the environment variable `UNSET`",
            ),
            (
                "[slack.oauth2]\nclient_secret_env = \"SET\"\nclient_secret = \"x\"",
                "give it or client_secret",
            ),
            (
                "[Slack]\nname = \"S\"\nauth = \"none\"",
                "app `Slack`: is not a name slug",
            ),
        ] {
            let error = read(&[("own/bad.toml", text)], None)
                .unwrap_err()
                .to_string();
            assert!(error.contains("own/bad.toml"), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        let missing = read(&[], Some("missing.toml")).unwrap_err().to_string();
        assert!(missing.contains("missing.toml"), "{missing}");
    }
}
