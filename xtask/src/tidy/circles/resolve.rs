//! Finds the file in which a name that a module mentions is declared, through imports and
//! re-exports. A name that none of the crate's modules declares is another crate's.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    graph::Arrow,
    names::{self, Imported, Module},
};
use crate::tidy::tracked::TrackedFile;

/// The modules of a library or of a binary.
pub(super) struct Crate {
    modules: Vec<FiledModule>,
    by_path: BTreeMap<Vec<String>, usize>,
}

struct FiledModule {
    file: String,
    module: Module,
}

/// A file that is not Rust.
pub(super) struct Unread {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) reason: String,
}

/// A name's place: a module itself, or an item of one.
#[derive(Clone, Copy)]
enum Place {
    Module(usize),
    Item(usize),
}

/// The one of two things of the same name, a module and an item, that is meant.
#[derive(Clone, Copy)]
enum Meant {
    Module,
    Item,
}

impl Crate {
    pub(super) fn read(root: &TrackedFile, files: &[TrackedFile]) -> Result<Self, Unread> {
        let folder = root.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut krate = Self {
            modules: Vec::new(),
            by_path: BTreeMap::new(),
        };
        let mut left = vec![(Vec::new(), root)];
        while let Some((path, file)) = left.pop() {
            let modules = names::read(path, &file.text).map_err(|error| Unread {
                path: file.path.clone(),
                line: error.span().start().line,
                reason: error.to_string(),
            })?;
            let own = modules
                .iter()
                .map(|module| module.path.clone())
                .collect::<Vec<_>>();
            for module in modules {
                let children = module.children.iter().map(|child| {
                    let mut path = module.path.clone();
                    path.push(child.clone());
                    path
                });
                for child in children.filter(|child| !own.contains(child)) {
                    let path = format!("{folder}/{}.rs", child.join("/"));
                    let file = files.iter().find(|file| file.path == path);
                    left.extend(file.map(|file| (child, file)));
                }
                krate
                    .by_path
                    .insert(module.path.clone(), krate.modules.len());
                krate.modules.push(FiledModule {
                    file: file.path.clone(),
                    module,
                });
            }
        }
        Ok(krate)
    }

    /// Every file with every other one that it names something of.
    pub(super) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = BTreeMap::<(String, String), Arrow>::new();
        for (from, filed) in self.modules.iter().enumerate() {
            for (path, line, place) in self.named_by(from) {
                let Place::Item(to) = place else { continue };
                let to = &self.modules[to].file;
                if *to == filed.file {
                    continue;
                }
                let key = (filed.file.clone(), to.clone());
                let arrow = arrows.entry(key).or_insert_with(|| Arrow {
                    from: filed.file.clone(),
                    line,
                    to: to.clone(),
                    names: Vec::new(),
                });
                arrow.line = arrow.line.min(line);
                let name = path.join("::");
                if !arrow.names.contains(&name) {
                    arrow.names.push(name);
                }
            }
        }
        arrows.into_values().collect()
    }

    /// The private imports of a module, and what its code names besides.
    fn named_by(&self, from: usize) -> Vec<(&[String], usize, Place)> {
        let module = &self.modules[from].module;
        let mut named = Vec::new();
        let mut imported = BTreeSet::new();
        for import in module.imports.iter().filter(|import| !import.is_exported) {
            let place = self.find(from, &import.path, Meant::Module, &mut Vec::new());
            if let Some(place @ Place::Item(_)) = place {
                named.push((import.path.as_slice(), import.line, place));
                imported.insert(&import.name);
            }
        }
        let is_imported = |word: &String| imported.contains(&Imported::As(word.clone()));
        for mention in &module.mentions {
            if mention.path.first().is_some_and(is_imported) {
                continue;
            }
            let place = self.find(from, &mention.path, Meant::Item, &mut Vec::new());
            named.extend(place.map(|place| (mention.path.as_slice(), mention.line, place)));
        }
        named
    }

    fn find(
        &self,
        from: usize,
        path: &[String],
        meant: Meant,
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Place> {
        let mut place = None;
        for (index, word) in path.iter().enumerate() {
            let meant = if index + 1 == path.len() {
                meant
            } else {
                Meant::Module
            };
            let at = match place {
                None => from,
                Some(Place::Module(at)) => at,
                Some(Place::Item(_)) => return place,
            };
            let next = match word.as_str() {
                "crate" => Some(Place::Module(*self.by_path.get(&Vec::new())?)),
                "self" => Some(Place::Module(at)),
                "super" => Some(Place::Module(self.parent(at)?)),
                name => self.look_up(at, name, meant, seen),
            };
            // A module's name that is not found is what one of its macros declares.
            place = Some(match (next, place) {
                (Some(next), _) => next,
                (None, Some(Place::Module(at))) => Place::Item(at),
                (None, _) => return None,
            });
        }
        place
    }

    fn look_up(
        &self,
        at: usize,
        name: &str,
        meant: Meant,
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Place> {
        if seen
            .iter()
            .any(|(module, word)| *module == at && word == name)
        {
            return None;
        }
        seen.push((at, name.to_owned()));
        let module = &self.modules[at].module;
        let child = || {
            let mut path = module.path.clone();
            path.push(name.to_owned());
            self.by_path.get(&path).map(|at| Place::Module(*at))
        };
        let found = match meant {
            Meant::Module => child().or_else(|| self.item(at, name, meant, seen)),
            Meant::Item => self.item(at, name, meant, seen).or_else(child),
        };
        seen.pop();
        found
    }

    fn item(
        &self,
        at: usize,
        name: &str,
        meant: Meant,
        seen: &mut Vec<(usize, String)>,
    ) -> Option<Place> {
        let module = &self.modules[at].module;
        if module.items.contains(name) {
            return Some(Place::Item(at));
        }
        let named = module.imports.iter();
        let mut named =
            named.filter(|import| matches!(&import.name, Imported::As(known) if known == name));
        if let Some(import) = named.next() {
            return self.find(at, &import.path, meant, seen);
        }
        let all = module
            .imports
            .iter()
            .filter(|import| import.name == Imported::All);
        all.map(|import| self.find(at, &import.path, Meant::Module, &mut seen.clone()))
            .find_map(|place| match place? {
                Place::Module(at) => self.look_up(at, name, meant, &mut seen.clone()),
                Place::Item(_) => None,
            })
    }

    fn parent(&self, at: usize) -> Option<usize> {
        let (_, parent) = self.modules[at].module.path.split_last()?;
        self.by_path.get(parent).copied()
    }
}
