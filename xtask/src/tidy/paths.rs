//! No tracked file names a path of the machine it was written on.

use super::{
    tracked::TrackedFile,
    violation::{Rule, Violation},
};

/// Folders that exist on one machine only. Assembled, so that this file does not contain them.
const MACHINE_FOLDERS: [&str; 4] = [
    concat!("/", "work/"),
    concat!("/", "home/"),
    concat!("/", "root/"),
    concat!("/", "Users/"),
];

pub(super) fn check(file: &TrackedFile) -> Vec<Violation> {
    let on_line = |(index, line): (usize, &str)| {
        let path = machine_path(line)?;
        Some(Violation {
            rule: Rule::MachinePath,
            path: file.path.clone(),
            line: index + 1,
            text: format!(
                "`{path}` is a path of one machine; write it relative, or as a parameter"
            ),
        })
    };
    file.text.lines().enumerate().filter_map(on_line).collect()
}

/// The first absolute path below one of the folders; a folder of that name inside a relative path or a URL is none.
fn machine_path(line: &str) -> Option<&str> {
    MACHINE_FOLDERS.iter().find_map(|folder| {
        let starts = line.match_indices(folder).map(|(start, _)| start);
        starts
            .map(|start| (start, path_end(line, start)))
            .find_map(|(start, end)| {
                let before = line[..start].chars().next_back();
                let is_absolute =
                    before.is_none_or(|c| !c.is_alphanumeric() && !"._-~}>)*".contains(c));
                let names_something = end > start + folder.len();
                (is_absolute && names_something).then(|| &line[start..end])
            })
    })
}

fn path_end(line: &str, start: usize) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    line[start..]
        .find(|c| !is_part(c))
        .map_or(line.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<String> {
        let file = TrackedFile {
            path: "a.md".to_owned(),
            text: format!("first\n{line}\n"),
        };
        check(&file).first().map(ToString::to_string)
    }

    #[test]
    fn absolute_paths_below_machine_folders_are_found_with_their_line() {
        for folder in MACHINE_FOLDERS {
            for line in [
                format!("{folder}me/x.rs"),
                format!("see `{folder}me`"),
                format!("file://{folder}x"),
            ] {
                let found = found(&line).unwrap_or_default();
                assert!(
                    found.starts_with(&format!("a.md:2: `{folder}")),
                    "{line}: {found}"
                );
            }
        }
    }

    #[test]
    fn relative_paths_urls_and_bare_folders_are_not() {
        for folder in MACHINE_FOLDERS {
            for line in [
                format!("src{folder}x"),
                format!("https://example.com{folder}x"),
                format!("in {folder}"),
            ] {
                assert_eq!(found(&line), None, "{line}");
            }
        }
    }
}
