//! Publishing many components at once, as files of a folder: each is described by its text, and built when somebody
//! uses it first.

use std::collections::{BTreeMap, BTreeSet};

use headwater_engine::{
    BuildRequest, ComponentCode,
    build::{StatedComponent, stated_component},
};
use headwater_model::{
    component::{Description, Hooks},
    error::Invalid,
    hash::{ArtifactHash, CodeHash},
    id::{ComponentId, UserId},
};
use headwater_store::{
    ArtifactBytes, FolderFile, FolderPublication, Owner, Publication, Published, SavedComponent,
};
use sha2::{Digest, Sha256};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    environment::Environment,
    error::PlatformError,
    platform::Platform,
    progress,
    use_cases::{
        components::{ComponentInput, unbuilt},
        registry::publishable,
    },
};

/// Components of one request.
const COMPONENTS_MAX: usize = 500;

/// Files of a folder, some of which are components.
#[derive(Debug, Clone)]
pub struct NewFolder {
    /// Texts by path.
    pub files: BTreeMap<String, String>,
    /// The paths of the components, each once; at most 500.
    pub components: Vec<String>,
    /// Version ranges of packages that the code imports without one.
    pub dependencies: BTreeMap<String, String>,
}

/// The end of one component of a folder.
#[derive(Debug, Clone)]
pub struct FolderComponent {
    /// The path of its file.
    pub path: String,
    /// Its key and version, as its file writes them out.
    pub stated: Option<(String, String)>,
    /// Its place in the registry, or the reason why it has none.
    pub outcome: Result<FolderOutcome, String>,
}

/// A component in the registry.
#[derive(Debug, Clone)]
pub struct FolderOutcome {
    /// Its id.
    pub id: ComponentId,
    /// Whether it was added now; else this version was there already, with the same code.
    pub is_new: bool,
}

impl Platform {
    /// Publishes components without building them (`POST /registry/folders`). One that cannot be published holds up no
    /// other.
    ///
    /// # Errors
    /// `Invalid` for a path or a version range that is none, and for components that are too many or named twice.
    pub async fn publish_folder(
        &self,
        caller: &Caller,
        folder: NewFolder,
    ) -> Result<Vec<FolderComponent>, PlatformError> {
        for path in folder.files.keys() {
            check_path(path)?;
        }
        check_components(&folder.components)?;
        let publisher = Publisher {
            env: self.core.env.clone(),
            user_id: caller.user_id().clone(),
        };
        // Every text is read and hashed whole, which other requests do not wait for.
        let read = tokio::task::spawn_blocking(move || publisher.read(folder)).await;
        let read = read.map_err(|error| PlatformError::Internal(error.to_string()))?;
        let (mut outcomes, places, publication) = read?;
        let published = self.core.store.publish_folder(publication).await?;
        for (place, published) in places.into_iter().zip(published) {
            settle(&mut outcomes[place], published);
        }
        let is_new = |one: &&FolderComponent| one.outcome.as_ref().is_ok_and(|one| one.is_new);
        let added: Vec<&str> = outcomes
            .iter()
            .filter(is_new)
            .filter_map(|one| Some(one.stated.as_ref()?.0.as_str()))
            .collect();
        let act = Act::new(AuditAction::ComponentPublish, "components", "folder");
        let act = act.of_user(caller.user_id()).with("count", added.len());
        self.record(caller, act.with("keys", added)).await;
        Ok(outcomes)
    }

    /// A component that workers can run: itself, or built now if nobody has used it before.
    ///
    /// # Errors
    /// `Component` when its code cannot be resolved or evaluated, `Unpublishable` when it calls itself otherwise than it
    /// was published.
    pub(crate) async fn first_built(
        &self,
        component: SavedComponent,
    ) -> Result<SavedComponent, PlatformError> {
        if component.is_built() {
            return Ok(component);
        }
        let Some(request) = self.folder_request(&component).await? else {
            return Ok(component);
        };
        let build = self.core.engine.build(request).await.map_err(unbuilt)??;
        let (built, artifact) = self.component_from(component.owner, None, build);
        let built = SavedComponent {
            id: component.id,
            created_at: component.created_at,
            updated_at: component.updated_at,
            ..built
        };
        let published = component.description;
        if (&built.description.key, &built.description.version)
            != (&published.key, &published.version)
        {
            let field = match built.description.key == published.key {
                true => "version",
                false => "key",
            };
            let named = |text: Option<String>| text.unwrap_or_default();
            let reason = format!(
                "`{}` {} calls itself `{}` {} when it runs; write its `key` and `version` out as texts and publish it \
                 under another version",
                named(published.key),
                named(published.version),
                named(built.description.key),
                named(built.description.version),
            );
            let invalid = Invalid::new(field, reason);
            return Err(PlatformError::Unpublishable(invalid));
        }
        Ok(self.core.store.complete_component(built, artifact).await?)
    }

    /// The build of a component that was published with its folder; `None` for all others.
    pub(crate) async fn folder_request(
        &self,
        component: &SavedComponent,
    ) -> Result<Option<BuildRequest>, PlatformError> {
        let code = self.core.store.folder_code(&component.id).await?;
        Ok(code.map(|code| BuildRequest {
            code: ComponentCode::Folder {
                entry: code.entry,
                files: code.files.into(),
            },
            ranges: code.ranges,
            owner: component.owner.tenant().to_owned(),
            is_step: false,
            observer: progress::of_build(),
        }))
    }
}

/// The user who publishes a folder.
struct Publisher {
    env: Environment,
    user_id: UserId,
}

/// The ends of components, the places among them of those to publish, and their publication.
type Reading = (Vec<FolderComponent>, Vec<usize>, FolderPublication);

impl Publisher {
    /// Reads a folder's components.
    fn read(&self, folder: NewFolder) -> Result<Reading, PlatformError> {
        let mut outcomes = Vec::with_capacity(folder.components.len());
        let mut publications = Vec::new();
        let mut places = Vec::new();
        for path in &folder.components {
            let code = folder.files.get(path);
            let (stated, publication) = match code.map(|code| (code, stated_component(code))) {
                None => (None, Err("the folder has no such file".to_owned())),
                Some((_, None)) => (
                    None,
                    Err("it does not write out its `key` and `version`".to_owned()),
                ),
                Some((code, Some(stated))) => {
                    let shown = (stated.key.clone(), stated.version.clone());
                    let publication = self.publication(code, stated);
                    (Some(shown), publication.map_err(|invalid| invalid.reason))
                }
            };
            let outcome = publication.map(|publication| {
                places.push(outcomes.len());
                let id = publication.component.id.clone();
                publications.push((path.clone(), publication));
                FolderOutcome { id, is_new: true }
            });
            outcomes.push(FolderComponent {
                path: path.clone(),
                stated,
                outcome,
            });
        }
        Ok((outcomes, places, folder_publication(folder, publications)?))
    }

    fn publication(&self, code: &str, stated: StatedComponent) -> Result<Publication, Invalid> {
        let now_at = self.env.now_at();
        let description = Description {
            name: stated.name,
            key: Some(stated.key),
            version: Some(stated.version),
            component_type: stated.component_type,
            description: stated.description,
            dedupe: None,
            props: Vec::new(),
            hooks: Hooks::default(),
            has_additional_props: false,
            has_run: false,
            sample_emit: None,
        };
        let (key, version) = publishable(&description)?;
        Ok(Publication {
            key,
            version,
            publisher: self.user_id.clone(),
            component: SavedComponent {
                id: self.env.id(ComponentId::new),
                owner: Owner {
                    user_id: self.user_id.clone(),
                    workspace_id: None,
                },
                code_hash: CodeHash::new(hash(code)),
                code: code.to_owned(),
                code_url: None,
                artifact_hash: ArtifactHash::new(""),
                lock: String::new(),
                description,
                created_at: now_at,
                updated_at: now_at,
            },
            artifact: ArtifactBytes::unbuilt(),
            published_at: now_at,
        })
    }
}

fn folder_publication(
    folder: NewFolder,
    components: Vec<(String, Publication)>,
) -> Result<FolderPublication, PlatformError> {
    let input = ComponentInput {
        component_dependencies: folder.dependencies,
        ..ComponentInput::default()
    };
    let ranges = input.ranges()?;
    let files = folder.files.into_iter().map(|(path, text)| FolderFile {
        hash: hash(&text),
        path,
        text,
    });
    let files: Vec<_> = files.collect();
    let mut digest = Sha256::new();
    let names = files.iter().flat_map(|file| [&file.path, &file.hash]);
    for text in names.chain(ranges.iter().flat_map(|(name, range)| [name, range])) {
        // A length tells where each text ends.
        digest.update(text.len().to_be_bytes());
        digest.update(text);
    }
    Ok(FolderPublication {
        hash: hex::encode(digest.finalize()),
        files,
        ranges,
        components,
    })
}

/// Checks that each component is named once, and that they are not too many.
fn check_components(components: &[String]) -> Result<(), PlatformError> {
    let count = components.len();
    if count > COMPONENTS_MAX {
        return Err(PlatformError::invalid(
            "components",
            format!("{count} components are too many; publish at most {COMPONENTS_MAX} at once"),
        ));
    }
    let mut known = BTreeSet::new();
    match components.iter().find(|path| !known.insert(*path)) {
        None => Ok(()),
        Some(path) => Err(PlatformError::invalid(
            "components",
            format!("`{path}` is named twice; name each component once"),
        )),
    }
}

/// Checks that a path leads to a file within the folder, written in the one way that imports find it by.
fn check_path(path: &str) -> Result<(), PlatformError> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    match path.split('/').all(is_plain) && !path.contains(['\\', '\0']) {
        true => Ok(()),
        false => Err(PlatformError::invalid(
            "files",
            format!(
                "`{path}` is no path within the folder; write it with `/` from the folder's root, without `.` and `..`"
            ),
        )),
    }
}

fn settle(component: &mut FolderComponent, published: Published) {
    let (key, version) = component.stated.clone().unwrap_or_default();
    match published {
        Published::Added => {}
        Published::Unchanged(former) => {
            component.outcome = Ok(FolderOutcome {
                id: former.id,
                is_new: false,
            });
        }
        Published::VersionTaken => {
            component.outcome = Err(format!(
                "version {version} of `{key}` is published with other code; raise the component's `version` and \
                 publish it again"
            ));
        }
        Published::KeyTaken => {
            component.outcome = Err(PlatformError::KeyTaken(key).to_string());
        }
    }
}

fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
