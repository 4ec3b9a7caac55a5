#![allow(warnings, clippy::all)]
use headwater_workflow::{
    check::{additions, check},
    definition::Definition,
    state_file::StateFile,
};
use std::{path::Path, time::Instant};
fn files(root: &Path, dir: &Path, out: &mut Vec<String>) {
    for e in std::fs::read_dir(dir).unwrap() {
        let p = e.unwrap().path();
        if p.is_dir() {
            files(root, &p, out)
        } else {
            out.push(p.strip_prefix(root).unwrap().to_string_lossy().into_owned())
        }
    }
}
fn main() {
    for arg in std::env::args().skip(1) {
        let path = Path::new(&arg);
        let dir = path.parent().unwrap();
        let mut names = vec![];
        files(dir, dir, &mut names);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = std::fs::read_to_string(path).unwrap();
        let start = Instant::now();
        let read = Definition::read(&text, &names);
        let took = start.elapsed();
        println!(
            "== {} ({} bytes, read in {took:?})",
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .replace("workflow.yaml", &dir.file_name().unwrap().to_string_lossy()),
            text.len()
        );
        match read {
            Err(e) => println!("  FAILED\n{e}"),
            Ok(d) => {
                let start = Instant::now();
                for f in check(&d, &names) {
                    println!("  {f}");
                }
                println!(
                    "  checked in {:?}, {} nodes",
                    start.elapsed(),
                    d.nodes().count()
                );
                for f in additions(&d) {
                    println!("  + {f}");
                }
            }
        }
        if let Ok(state) = std::fs::read_to_string(dir.join(".workflow.state")) {
            match state.parse::<StateFile>() {
                Ok(s) => {
                    assert_eq!(s.to_string(), state);
                }
                Err(e) => println!("  STATE {e}\n{state}"),
            }
        }
    }
}
