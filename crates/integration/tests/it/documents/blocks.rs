//! The console blocks of a document: commands with the output that they show.

/// A block between fences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Its first line in the document.
    pub(super) line: usize,
    /// The reason why it cannot be run.
    pub(super) not_run: Option<String>,
    pub(super) commands: Vec<Command>,
}

/// A command, and the lines of output that follow it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) text: String,
    pub(super) output: Vec<String>,
}

const FENCES: [&str; 2] = ["```console", "```sh"];
const MARK: &str = "<!-- not run: ";

/// The blocks of console sessions in Markdown.
pub(super) fn of(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines().enumerate();
    let mut before = "";
    while let Some((index, line)) = lines.next() {
        if !FENCES.contains(&line.trim()) {
            if !line.trim().is_empty() {
                before = line;
            }
            continue;
        }
        let mark = before.trim().strip_prefix(MARK);
        let not_run = mark.map(|rest| rest.trim_end_matches(" -->").to_owned());
        let content = lines.by_ref().map(|(_, line)| line.trim_start());
        let content = content.take_while(|line| *line != "```");
        blocks.push(Block {
            line: index + 1,
            not_run,
            commands: commands(content),
        });
        before = "";
    }
    blocks
}

fn commands<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for line in lines {
        let mut prompts = ["$ ", "# "].into_iter();
        if let Some(text) = prompts.find_map(|prompt| line.strip_prefix(prompt)) {
            commands.push(Command {
                text: text.to_owned(),
                output: Vec::new(),
            });
            continue;
        }
        let Some(command) = commands.last_mut() else {
            panic!("a block begins with a command, not with {line:?}");
        };
        if command.text.ends_with('\\') {
            command.text.push('\n');
            command.text.push_str(line);
        } else {
            command.output.push(line.to_owned());
        }
    }
    commands
}

#[test]
fn commands_go_on_over_lines_and_have_their_output() {
    let document =
        "text\n\n<!-- not run: it needs root -->\n```console\n# a \\\n    b\nout\n$ c\n```\n";
    let command = |text: &str, output: &[&str]| Command {
        text: text.to_owned(),
        output: output.iter().map(|line| (*line).to_owned()).collect(),
    };
    let expected = Block {
        line: 4,
        not_run: Some("it needs root".to_owned()),
        commands: vec![command("a \\\nb", &["out"]), command("c", &[])],
    };
    assert_eq!(of(document), [expected]);
}
