//! The names of the props that the code of a file declares, read from its text for completions: a person does not wait for
//! a build. Props that come from elsewhere, such as those of an app, are not seen.

use headwater_javascript::scanner::{Kind, Scanner, Token};

/// The names below `props`, in their order; none if the text cannot be read.
pub(crate) fn names(code: &str) -> Vec<String> {
    let tokens = tokens(code);
    let Some(props) = props(&tokens) else {
        return Vec::new();
    };
    let depth = tokens[props].depth + 1;
    let inside = tokens[props + 1..].iter();
    let inside = inside.take_while(|token| token.depth >= depth);
    let own: Vec<_> = inside.filter(|token| token.depth == depth).collect();
    let entries = own.split(|token| token.text == ",");
    entries.filter_map(|entry| name(entry)).collect()
}

fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut scanner = Scanner::new(code);
    std::iter::from_fn(|| scanner.token().ok().flatten()).collect()
}

/// The place of the bracket that opens the props of the component: the outermost, where several things have some.
fn props(tokens: &[Token<'_>]) -> Option<usize> {
    let opened = tokens.windows(3).enumerate();
    let opened = opened.filter(|(_, three)| {
        three[0].text == "props" && three[1].text == ":" && three[2].text == "{"
    });
    let outermost = opened.min_by_key(|(_, three)| three[0].depth);
    outermost.map(|(place, _)| place + 2)
}

fn name(entry: &[&Token<'_>]) -> Option<String> {
    let [name, colon, ..] = entry else {
        return None;
    };
    let is_name = name.kind != Kind::Mark && colon.text == ":";
    is_name.then(|| name.text.trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_component_itself() {
        let code = r#"
            import app from "./app.mjs";
            const other = () => { return { props: { not_this: 1 } }; };
            export default {
              name: "Feed", // props: { nor: this }
              props: {
                url: "string",
                "a-name": { type: "string", options: ["x", "y"] },
                ...app.props,
                timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
              },
              async run() { this.props = { no: 1 }; },
            };
        "#;
        assert_eq!(names(code), ["url", "a-name", "timer"]);
        let called = "export default defineComponent({ props: { one: { type: \"string\" } } });";
        assert_eq!(names(called), ["one"]);
        for code in ["", "export default {", "export default { run() {} }"] {
            assert_eq!(names(code), [""; 0]);
        }
    }
}
