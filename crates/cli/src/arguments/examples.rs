//! An example or two for every command, which its help shows. They stand in one place, so that a test can try each.

use clap::Command;

/// Commands by their words, with their examples.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "headwater serve",
            "headwater init source 'New orders'",
            "headwater dev new-orders.mjs",
            "headwater deploy orders.mjs",
            "headwater open",
        ],
    ),
    (
        "serve",
        &[
            "headwater serve",
            "headwater serve --config headwater.toml --check",
            "headwater serve --listen 0.0.0.0:3000 --public-url https://hooks.example.com",
        ],
    ),
    (
        "deploy",
        &[
            "headwater deploy orders.mjs",
            "headwater deploy rss.mjs --prop url=https://example.com/feed.xml --prop timer=5m --run",
        ],
    ),
    (
        "update",
        &[
            "headwater update orders orders.mjs",
            "headwater update rss-feed --prop timer=1h",
        ],
    ),
    ("deployments", &["headwater deployments orders"]),
    (
        "deployments describe",
        &["headwater deployments describe orders d_0353EGSpi9g90AUy4Uw1RJ --code"],
    ),
    (
        "roll-back",
        &[
            "headwater roll-back orders d_0353EGSpi9g90AUy4Uw1RJ",
            "headwater roll-back my-workflow/ d_0353EGSpi9g90AUy4Uw1RJ",
        ],
    ),
    (
        "delete",
        &["headwater delete orders", "headwater delete orders --yes"],
    ),
    ("list", &["headwater list", "headwater list -o wide"]),
    (
        "list sources",
        &["headwater list sources shop --state failing"],
    ),
    (
        "list components",
        &["headwater list components rss --type source"],
    ),
    (
        "search",
        &[
            "headwater search gitlab issue",
            "headwater search message --app slack --type action",
        ],
    ),
    (
        "publish",
        &[
            "headwater publish components/",
            "headwater publish npm:@pipedream/gitlab",
        ],
    ),
    (
        "import",
        &["headwater import --from https://api.pipedream.com/v1"],
    ),
    ("describe", &["headwater describe orders"]),
    (
        "replay",
        &["headwater replay orders 1767225600000-0 --dry-run"],
    ),
    (
        "events",
        &[
            "headwater events orders --since 1h --full",
            "headwater events orders 1767225600000-0",
            "headwater events orders -f",
            "headwater events orders 1767225600000-0 --send-to https://example.com/events",
        ],
    ),
    (
        "listen",
        &[
            "headwater listen orders --forward-to http://localhost:4242/hooks",
            "headwater listen orders --forward-to localhost:4242 --since 1h",
        ],
    ),
    (
        "logs",
        &[
            "headwater logs orders -f",
            "headwater logs orders --since 10m",
        ],
    ),
    ("runs", &["headwater runs orders --failed --since 1h"]),
    (
        "runs list",
        &[
            "headwater runs list --status failed",
            "headwater runs list orders --status open",
        ],
    ),
    (
        "runs describe",
        &["headwater runs describe inv_0353EGSpi9g90AUy4Uw1RJ"],
    ),
    (
        "runs cancel",
        &["headwater runs cancel inv_0353EGSpi9g90AUy4Uw1RJ"],
    ),
    (
        "runs replay",
        &[
            "headwater runs replay inv_0353EGSpi9g90AUy4Uw1RJ",
            "headwater runs replay inv_0353EGSpi9g90AUy4Uw1RJ --same --event @event.json",
        ],
    ),
    (
        "run",
        &[
            "headwater run rss-feed",
            "headwater run orders --event '{\"n\": 1}'",
        ],
    ),
    (
        "dev",
        &["headwater dev orders.mjs", "headwater dev my-workflow/"],
    ),
    (
        "run-action",
        &["headwater run-action greet.mjs --prop name=Ada"],
    ),
    (
        "try",
        &["headwater try orders.mjs --event '{\"body\": {\"order\": 7}}'"],
    ),
    ("pause", &["headwater pause orders"]),
    ("resume", &["headwater resume orders"]),
    ("apps", &["headwater apps google"]),
    (
        "accounts update",
        &["headwater accounts update warehouse --field password"],
    ),
    (
        "accounts add",
        &["headwater accounts add postgresql --field host=db.example.com --field password"],
    ),
    (
        "accounts connect",
        &["headwater accounts connect github --name work"],
    ),
    (
        "accounts reconnect",
        &["headwater accounts reconnect work --no-browser"],
    ),
    (
        "accounts rename",
        &["headwater accounts rename github work"],
    ),
    ("accounts check", &["headwater accounts check work"]),
    (
        "accounts list",
        &["headwater accounts list github --health refused"],
    ),
    ("accounts users", &["headwater accounts users work"]),
    ("accounts delete", &["headwater accounts delete work"]),
    ("data-stores list", &["headwater data-stores list"]),
    (
        "data-stores show",
        &["headwater data-stores show seen --prefix user-"],
    ),
    ("data-stores users", &["headwater data-stores users seen"]),
    (
        "data-stores get",
        &["headwater data-stores get seen user-7"],
    ),
    (
        "data-stores set",
        &["headwater data-stores set seen user-7 '{\"n\": 1}' --ttl 3600"],
    ),
    (
        "data-stores delete",
        &["headwater data-stores delete seen user-7"],
    ),
    (
        "variables set",
        &["headwater variables set API_TOKEN @token.txt"],
    ),
    ("variables list", &["headwater variables list"]),
    (
        "variables delete",
        &["headwater variables delete API_TOKEN"],
    ),
    (
        "webhooks create",
        &["headwater webhooks create https://example.com/hooks --name shop --from orders"],
    ),
    ("webhooks list", &["headwater webhooks list"]),
    ("webhooks describe", &["headwater webhooks describe shop"]),
    (
        "webhooks update",
        &["headwater webhooks update shop --address https://example.com/new"],
    ),
    ("webhooks activate", &["headwater webhooks activate shop"]),
    (
        "webhooks deactivate",
        &["headwater webhooks deactivate shop"],
    ),
    (
        "webhooks rotate-secret",
        &["headwater webhooks rotate-secret shop"],
    ),
    ("webhooks test", &["headwater webhooks test shop"]),
    (
        "webhooks verify",
        &[
            "headwater webhooks verify body.json --id MSG --timestamp 1767225600 --signature v1,K5oZ --secret -",
        ],
    ),
    (
        "webhooks replay",
        &[
            "headwater webhooks replay shop",
            "headwater webhooks replay shop --since 2h",
        ],
    ),
    ("webhooks delete", &["headwater webhooks delete shop"]),
    (
        "deliveries list",
        &["headwater deliveries list --status 5xx --since 1h"],
    ),
    (
        "deliveries describe",
        &["headwater deliveries describe dlv_0353EGSpi9g90AUy4Uw1RJ"],
    ),
    (
        "deliveries retry",
        &["headwater deliveries retry --all --status timeout --dry-run"],
    ),
    (
        "deliveries discard",
        &["headwater deliveries discard dlv_0353EGSpi9g90AUy4Uw1RJ"],
    ),
    (
        "subscriptions create",
        &[
            "headwater subscriptions create --emitter orders --listener shop",
            "headwater subscriptions create --emitter 'dc_*' --listener shop --channel '$errors'",
        ],
    ),
    ("subscriptions list", &["headwater subscriptions list"]),
    (
        "subscriptions delete",
        &["headwater subscriptions delete --emitter orders --listener shop"],
    ),
    (
        "users create",
        &["headwater users create ada --email ada@example.com"],
    ),
    ("users list", &["headwater users list"]),
    ("users delete", &["headwater users delete ada"]),
    ("keys create", &["headwater keys create laptop"]),
    ("keys list", &["headwater keys list"]),
    ("keys revoke", &["headwater keys revoke laptop"]),
    (
        "keys reset",
        &["headwater keys reset --data-dir headwater-data"],
    ),
    (
        "backup",
        &[
            "headwater backup headwater.tar.gz --data-dir /var/lib/headwater",
            "headwater backup whole.tar.gz --with-keys",
        ],
    ),
    (
        "restore",
        &["headwater restore headwater.tar.gz --data-dir /var/lib/headwater"],
    ),
    (
        "store copy",
        &[
            "headwater store copy --from headwater-data --to postgres://headwater@db.internal/headwater",
            "headwater store copy --from @database-url.txt --to headwater-data",
        ],
    ),
    (
        "service install",
        &[
            "headwater service install -- --config /etc/headwater/headwater.toml",
            "headwater service install --user",
        ],
    ),
    ("service uninstall", &["headwater service uninstall"]),
    (
        "service print",
        &["headwater service print -- --listen 0.0.0.0:3000"],
    ),
    ("keys rotate-secret", &["headwater keys rotate-secret"]),
    ("nodes", &["headwater nodes"]),
    ("nodes list", &["headwater nodes list -o wide"]),
    ("nodes drain", &["headwater nodes drain n_4f1c9a02"]),
    ("nodes undrain", &["headwater nodes undrain n_4f1c9a02"]),
    (
        "usage",
        &["headwater usage --days 30", "headwater usage --by source"],
    ),
    (
        "audit",
        &["headwater audit --action source.deploy --since 1h"],
    ),
    ("mcp", &["headwater mcp --action greet"]),
    ("open", &["headwater open"]),
    ("doctor", &["headwater doctor", "headwater doctor --alive"]),
    (
        "init",
        &[
            "headwater init source 'New orders'",
            "headwater init workflow greet",
        ],
    ),
    ("runtime", &["headwater runtime"]),
    ("runtime install", &["headwater runtime install"]),
    ("completions", &["headwater completions bash"]),
    (
        "login",
        &["headwater login https://hooks.example.com --profile work"],
    ),
    ("logout", &["headwater logout --profile work"]),
    ("profiles list", &["headwater profiles list"]),
    ("profiles use", &["headwater profiles use work"]),
    ("man", &["headwater man man1/"]),
    ("workflows init", &["headwater workflows init greet"]),
    ("workflows check", &["headwater workflows check greet"]),
    (
        "workflows test",
        &["headwater workflows test greet --crash"],
    ),
    (
        "workflows import",
        &["headwater workflows import project.zip --into workflows/"],
    ),
    ("workflows deploy", &["headwater workflows deploy greet"]),
    ("workflows dev", &["headwater workflows dev greet"]),
    ("workflows list", &["headwater workflows list"]),
    (
        "workflows describe",
        &["headwater workflows describe greet"],
    ),
    (
        "workflows runs",
        &["headwater workflows runs greet --status failed"],
    ),
    (
        "workflows run",
        &["headwater workflows run greet --event '{\"body\": {\"name\": \"Ada\"}}' --wait"],
    ),
    (
        "workflows replay",
        &["headwater workflows replay inv_0353EGSpi9g90AUy4Uw1RJ --from notify.send"],
    ),
    (
        "workflows resume",
        &["headwater workflows resume inv_0353EGSpi9g90AUy4Uw1RJ"],
    ),
    (
        "workflows cancel",
        &["headwater workflows cancel inv_0353EGSpi9g90AUy4Uw1RJ"],
    ),
    (
        "workflows logs",
        &["headwater workflows logs inv_0353EGSpi9g90AUy4Uw1RJ"],
    ),
    (
        "workflows activate",
        &["headwater workflows activate greet"],
    ),
    (
        "workflows deactivate",
        &["headwater workflows deactivate greet"],
    ),
    ("workflows delete", &["headwater workflows delete greet"]),
    ("workspaces create", &["headwater workspaces create acme"]),
    (
        "workspaces describe",
        &["headwater workspaces describe acme"],
    ),
    (
        "workspaces members list",
        &["headwater workspaces members list acme"],
    ),
    (
        "workspaces members add",
        &["headwater workspaces members add acme ada"],
    ),
    (
        "workspaces members remove",
        &["headwater workspaces members remove acme ada"],
    ),
    ("workspaces list", &["headwater workspaces list"]),
];

/// The command line with its examples.
pub(super) fn add(command: Command) -> Command {
    add_below(command, "")
}

fn add_below(mut command: Command, words: &str) -> Command {
    let found = EXAMPLES.iter().find(|(of, _)| *of == words);
    if let Some((_, examples)) = found {
        let lines: Vec<_> = examples.iter().map(|line| format!("  {line}")).collect();
        command = command.after_help(format!("Examples:\n{}", lines.join("\n")));
    }
    let names: Vec<_> = command
        .get_subcommands()
        .map(|it| it.get_name().to_owned())
        .collect();
    for name in names {
        let below = match words {
            "" => name.clone(),
            _ => format!("{words} {name}"),
        };
        command = command.mut_subcommand(name, |it| add_below(it, &below));
    }
    command
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::arguments::Cli;

    /// The words of a line as a shell reads them: quotes keep blanks.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let mut words = vec![String::new()];
        for (at, part) in parts {
            if at % 2 == 1 {
                words.last_mut().unwrap().push_str(part);
                continue;
            }
            for (at, word) in part.split(' ').enumerate() {
                if at > 0 {
                    words.push(String::new());
                }
                words.last_mut().unwrap().push_str(word);
            }
        }
        words.retain(|word| !word.is_empty());
        words
    }

    fn without_examples(command: &Command, path: &str, found: &mut Vec<String>) {
        for below in command.get_subcommands() {
            let path = format!("{path} {}", below.get_name());
            let is_group = below.is_subcommand_required_set();
            if !below.is_hide_set() && !is_group && below.get_after_help().is_none() {
                found.push(path.clone());
            }
            without_examples(below, &path, found);
        }
    }

    #[test]
    fn every_command_has_examples() {
        let mut found = Vec::new();
        without_examples(&add(Cli::command()), "headwater", &mut found);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn every_example_is_understood_and_is_of_its_command() {
        for (command, examples) in EXAMPLES {
            for example in *examples {
                assert!(
                    example.starts_with(&format!("headwater {command}")),
                    "{example}"
                );
                if let Err(error) = Cli::try_parse_from(words(example)) {
                    panic!("{example}: {error}");
                }
            }
        }
    }
}
