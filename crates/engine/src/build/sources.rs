//! A component's own modules: the given text, or the modules fetched from its URL and from their imports, written
//! into a folder that mirrors their origins, so that relative imports resolve.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
    time::Duration,
};

use url::Url;

use super::{
    beside::{self, FilesBeside},
    command::DenoTool,
    endings,
    failure::{BuildResult, disk, not_fetched, not_resolved},
    fetch::ModuleFetcher,
    graph::{self, Graph, Import},
    imports::OwnModules,
    language::{self, Known},
    specifier::{PackageImport, Specifier},
};
use crate::api::ComponentCode;

/// A component of more own modules than this is refused.
const MODULES_MAX: usize = 200;
/// From the first request to the last module.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The name of code given as text, which its stack traces show.
const TEXT_STEM: &str = "component";

/// A component's own modules, complete.
#[derive(Debug)]
pub(super) struct Sources {
    /// The entry's text.
    pub(super) code: String,
    /// The entry's file.
    pub(super) entry: PathBuf,
    /// The packages they import, each once.
    pub(super) packages: Vec<PackageImport>,
    /// Imports by address, and the files they are kept in.
    pub(super) addresses: BTreeMap<String, PathBuf>,
    /// Whether the entry is a file of a folder.
    pub(super) is_folder: bool,
    /// The origins of fetched files.
    pub(super) origins: BTreeMap<PathBuf, Url>,
    /// Version ranges of packages that are imported without one.
    pub(super) ranges: BTreeMap<String, String>,
    /// Whether the component is a step of a workflow.
    pub(super) is_step: bool,
    /// The age that the packages' releases have to have, if not all can be the newest.
    pub(super) release_age: Option<&'static str>,
    /// Whether the entry is the only own module, in JavaScript, with imports that need no resolving but the platform
    /// package (`lone.rs`).
    pub(super) is_lone: bool,
}

impl Sources {
    /// Code without imports and packages.
    pub(super) fn of(code: String, entry: PathBuf) -> Self {
        Self {
            code,
            entry,
            packages: Vec::new(),
            addresses: BTreeMap::new(),
            is_folder: false,
            origins: BTreeMap::new(),
            ranges: BTreeMap::new(),
            is_step: false,
            release_age: None,
            is_lone: false,
        }
    }
}

/// Gathers sources into a folder.
#[derive(Debug)]
pub(super) struct Gathering<'a> {
    pub(super) tool: &'a DenoTool,
    pub(super) fetcher: &'a ModuleFetcher,
    /// The folder of the files.
    pub(super) folder: &'a Path,
}

impl Gathering<'_> {
    /// Writes the component's modules and determines their imports.
    pub(super) async fn gather(&self, component: ComponentCode) -> BuildResult<Sources> {
        let gathered = tokio::time::timeout(TIMEOUT, self.gather_all(component)).await;
        gathered.unwrap_or_else(|_| {
            let seconds = TIMEOUT.as_secs();
            Err(not_fetched(format!(
                "fetching the component's modules took longer than {seconds} s"
            )))
        })
    }

    async fn gather_all(&self, component: ComponentCode) -> BuildResult<Sources> {
        let mut own = OwnModules::new(self.tool, self.folder);
        let (mut sources, known) = self.entry(component, &mut own).await?;
        let mut graph = match known {
            Known::Alone(packages) => {
                sources.packages = packages;
                sources.is_lone = true;
                return Ok(sources);
            }
            Known::Graph(graph) => graph,
            Known::Nothing => self.graph(&sources).await?,
        };
        loop {
            let missing = self.missing(&graph, &mut sources)?;
            if missing.is_empty() {
                own.require_readable(&graph.files).await?;
                sources.packages = packages(&graph, self.folder)?;
                return Ok(sources);
            }
            if sources.origins.len() + missing.len() > MODULES_MAX {
                return Err(not_fetched(format!(
                    "the component has more than {MODULES_MAX} modules of its own"
                )));
            }
            let mut fetched = Vec::new();
            for wanted in missing {
                fetched.push(self.fetch(wanted, &mut sources).await?);
            }
            own.judge(&fetched).await?;
            graph = self.graph(&sources).await?;
        }
    }

    async fn entry(
        &self,
        component: ComponentCode,
        own: &mut OwnModules<'_>,
    ) -> BuildResult<(Sources, Known)> {
        let (code, stem, origin) = match component {
            ComponentCode::Text(code) => (code, PathBuf::from(TEXT_STEM), None),
            ComponentCode::Folder { entry, files } => {
                return self.folder_entry(&entry, &files, own).await;
            }
            ComponentCode::Url(url) => {
                let found = self.fetcher.fetch(&url).await?;
                let module =
                    found.ok_or_else(|| not_fetched(format!("{url} answered 404 Not Found")))?;
                (module.code, mirror_path(&module.url)?, Some(module.url))
            }
        };
        let written = language::write_module(self.tool, self.folder, own, &stem, &code).await?;
        let mut sources = Sources::of(code, written.file);
        let origins = origin.into_iter();
        sources.origins = origins.map(|url| (sources.entry.clone(), url)).collect();
        Ok((sources, written.known))
    }

    async fn folder_entry(
        &self,
        entry: &str,
        files: &BTreeMap<String, String>,
        own: &mut OwnModules<'_>,
    ) -> BuildResult<(Sources, Known)> {
        let mut folder = FilesBeside::new(self.folder, files);
        let code = folder
            .take(Path::new(entry))
            .ok_or_else(|| not_resolved(format!("the folder has no file `{entry}`")))?;
        let code = code.to_owned();
        let stem = Path::new(entry);
        let written = language::write_module(self.tool, self.folder, own, stem, &code).await?;
        let mut sources = Sources::of(code, written.file);
        folder.write_reached(&sources.entry, own).await?;
        sources.is_folder = true;
        Ok((sources, written.known))
    }

    /// Whether a relative import leads to a file of the folder.
    fn is_beside(&self, import: &Import) -> bool {
        let importer = import.importer.parent();
        let base = importer.and_then(|base| base.strip_prefix(self.folder).ok());
        base.is_some_and(|base| {
            let places = beside::places(&base.join(&import.written), import.required);
            places.iter().any(|place| self.folder.join(place).is_file())
        })
    }

    /// The modules that the entry reaches, and those that modules imported by address reach: Deno's graph,
    /// which is read without an import map, ends at those.
    async fn graph(&self, sources: &Sources) -> BuildResult<Graph> {
        let mut graph = Graph::default();
        let reached = sources.addresses.values().filter(|file| file.is_file());
        for file in std::iter::once(&sources.entry).chain(reached) {
            match graph::read(self.tool, self.folder, None, file).await? {
                Ok(part) => graph.merge(part),
                Err(error) => return error.reject(self.folder),
            }
        }
        Ok(graph)
    }

    /// The imported modules that are still missing.
    fn missing(&self, graph: &Graph, sources: &mut Sources) -> BuildResult<BTreeSet<Wanted>> {
        let mut missing = BTreeSet::new();
        for import in &graph.imports {
            if let Some(wanted) = self.wanted(import, sources)?
                && !wanted.is_there()
            {
                missing.insert(wanted);
            }
        }
        Ok(missing)
    }

    /// The module that an import of another own module wants, or nothing for a package.
    fn wanted(&self, import: &Import, sources: &mut Sources) -> BuildResult<Option<Wanted>> {
        let origin = sources.origins.get(&import.importer);
        let written = &import.written;
        let url = match (Specifier::parse(written), origin) {
            (Specifier::BuiltIn | Specifier::Package(_), _) => return Ok(None),
            (Specifier::Relative, None) if sources.is_folder => {
                return match self.is_beside(import) {
                    true => Ok(None),
                    false => Err(not_resolved(format!("the folder has no file `{written}`"))),
                };
            }
            (Specifier::Unsupported, _) => {
                return Err(not_resolved(format!(
                    "`{written}` cannot be imported; components import npm packages, Node's modules, and files"
                )));
            }
            (Specifier::Relative, None) => {
                return Err(not_resolved(format!(
                    "`{written}` is a file beside the component, but code given as text has no such \
                     files; deploy the file with the CLI, which bundles it, or give its component_url"
                )));
            }
            (_, Some(origin)) => origin.join(written),
            (Specifier::Address, None) => Url::parse(written),
        };
        let url = url.map_err(|_| not_resolved(format!("`{written}` cannot be imported")))?;
        let mut path = self.folder.join(mirror_path(&url)?);
        let importer = origin.map_or_else(|| "the component".to_owned(), Url::to_string);
        if Specifier::parse(written) == Specifier::Address {
            sources.addresses.insert(written.clone(), path.clone());
        } else if let Some(target) = &import.target
            && target.starts_with(self.folder)
        {
            // The place where Deno looks, which differs for imports of a redirected module.
            path.clone_from(target);
        }
        Ok(Some(Wanted {
            importer,
            places: places(&url, &path, import.required),
        }))
    }

    /// Fetches a module and returns its file.
    async fn fetch(&self, wanted: Wanted, sources: &mut Sources) -> BuildResult<PathBuf> {
        let mut failure = None;
        for (url, path) in &wanted.places {
            let module = match self.fetcher.fetch(url).await {
                Ok(Some(module)) => module,
                Ok(None) => continue,
                // Most likely a folder's page; a later address may have the module.
                Err(error) => {
                    failure.get_or_insert(error);
                    continue;
                }
            };
            if let Some(parent) = path.parent() {
                tokio::fs::create_dir_all(parent)
                    .await
                    .map_err(|error| disk(parent, &error))?;
            }
            tokio::fs::write(path, &module.code)
                .await
                .map_err(|error| disk(path, &error))?;
            sources.origins.insert(path.clone(), module.url);
            return Ok(path.clone());
        }
        Err(failure.unwrap_or_else(|| {
            not_fetched(format!(
                "{} answered 404 Not Found; {} imports it",
                wanted.url(),
                wanted.importer
            ))
        }))
    }
}

/// An own module to fetch.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    /// The first module that imports it.
    importer: String,
    /// The addresses that it may have, each with the place where it is kept then; first as it is written.
    places: Vec<(Url, PathBuf)>,
}

impl Wanted {
    fn url(&self) -> &str {
        self.places.first().map_or("", |(url, _)| url.as_str())
    }

    fn is_there(&self) -> bool {
        self.places.iter().any(|(_, path)| path.is_file())
    }
}

/// The addresses of the module that is written as `url` and looked for at `path`.
fn places(url: &Url, path: &Path, is_required: bool) -> Vec<(Url, PathBuf)> {
    let endings = if is_required {
        endings::of_require()
    } else {
        endings::of_import(url.path())
    };
    let place = |ending: endings::Ending| {
        let mut other = url.clone();
        other.set_path(&ending.apply(url.path()));
        (other, PathBuf::from(ending.apply(&path.to_string_lossy())))
    };
    endings.into_iter().map(place).collect()
}

/// The packages that `graph` imports, having checked that its files stay in `folder`: a bundle must not
/// carry away files of the machine that builds it.
fn packages(graph: &Graph, folder: &Path) -> BuildResult<Vec<PackageImport>> {
    let mut packages = BTreeSet::new();
    for import in &graph.imports {
        if import
            .target
            .as_ref()
            .is_some_and(|target| !target.starts_with(folder))
        {
            return Err(not_resolved(format!(
                "`{}` leads out of the component",
                import.written
            )));
        }
        if let Specifier::Package(package) = Specifier::parse(&import.written) {
            packages.insert(package);
        }
    }
    Ok(packages.into_iter().collect())
}

/// The place where a module of `url` is kept: `scheme/host/path`.
fn mirror_path(url: &Url) -> BuildResult<PathBuf> {
    let refused = || not_fetched(format!("the path of {url} cannot be a file's"));
    let host = url.host_str().ok_or_else(refused)?;
    let authority = url
        .port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    // Going through a file URL decodes the path as Deno will when it resolves relative imports.
    let mut file = Url::parse("file:///").map_err(|_| refused())?;
    file.set_path(url.path());
    let path = file.to_file_path().map_err(|()| refused())?;
    let relative = path.strip_prefix("/").map_err(|_| refused())?;
    let plain = relative
        .components()
        .all(|component| matches!(component, Component::Normal(_)));
    if !plain || relative.as_os_str().is_empty() {
        return Err(refused());
    }
    Ok(Path::new(url.scheme()).join(authority).join(relative))
}
