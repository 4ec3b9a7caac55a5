//! Choices among options that depend on other values, and trials, as a browser without script sends them.

use headwater_integration::Node;

use super::visitor::{Visitor, value_of};

#[tokio::test]
async fn a_choice_among_options_of_other_values_is_not_deployed() {
    const TABLES: &str = "export default { name: 'Tables', version: '0.0.1', props: { schema: 'string', \
        table: { type: 'string', options: ({ page }) => page > 2 ? [] : [`page ${page}`], optional: true }, \
        view: { type: 'string', options() { if (this.schema === 'broken') throw new Error('no'); return ['shared', `of ${this.schema}`]; } } }, run() {} }";
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let saved = [("code", TABLES), ("action", "save")];
    let saved = visitor.post("/deploy/code", &saved).await.is(303);
    let form = saved.header("location").to_owned();
    let fields = [
        ("action", "load:view"),
        ("prop.schema", "a"),
        ("prop.table", "page 2"),
    ];
    let loaded = visitor.post(&form, &fields).await.is(200);
    let carried = ["loaded.view", "basis.view", "basis.table"];
    let [options, of_view, of_table] = carried.map(|name| value_of(&loaded, name));
    let deployed = async |schema: &str, chosen: &str| {
        let fields = [
            ("action", "deploy"),
            ("prop.schema", schema),
            ("prop.table", "page 2"),
            ("basis.table", &of_table),
            ("prop.view", chosen),
            ("loaded.view", &options),
            ("basis.view", &of_view),
        ];
        visitor.post(&form, &fields).await
    };
    let dropped = deployed("b", "of a").await.is(422).text;
    for part in [
        "“of a” is not among the options of the values above: choose again",
        ">of b</option>",
        // A choice is looked for on later pages, too.
        "selected>page 2</option>",
    ] {
        assert!(dropped.contains(part), "{part}: {dropped}");
    }
    assert!(!dropped.contains(">of a</option>"), "{dropped}");
    let failed = deployed("broken", "of a").await.is(422).text;
    assert!(!failed.contains("value=\"of a\""), "{failed}");
    let none = node.get("/users/me/sources").await.is(200).items();
    assert!(none.is_empty(), "{none:?}");
    deployed("b", "shared").await.is(303);
    // What was loaded for the values of now is as it was.
    deployed("a", "of a").await.is(303);
}

#[tokio::test]
async fn a_trial_of_a_component_with_hooks_says_that_they_did_not_run() {
    const STATEFUL: &str = "export default { name: 'Stateful', version: '0.0.1', props: { db: '$.service.db' }, \
        hooks: { deploy() { this.db.set('last', { id: 1 }); } }, run() { this.$emit(this.db.get('last').id); } }";
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let saved = [("code", STATEFUL), ("action", "save")];
    let saved = visitor.post("/deploy/code", &saved).await.is(303);
    let form = saved.header("location").to_owned();
    let tried = visitor.post(&form, &[("action", "try")]).await.is(200).text;
    let places = [
        "A trial runs without the component&#39;s",
        "<code>deploy</code>",
        "Deploy, then run it",
        "TypeError",
        "Where in the code",
        "class=\"stack\"",
    ];
    let places = places.map(|part| {
        let place = tried.find(part).or(tried.find(&part.replace("&#39;", "'")));
        place.unwrap_or_else(|| panic!("{part}: {tried}"))
    });
    assert!(places.is_sorted(), "{places:?}: {tried}");
    let deployed = visitor.post(&form, &[("action", "run")]).await.is(303);
    let run = deployed.header("location").to_owned();
    assert!(run.ends_with("/run"), "{run}");
    let ran = visitor.post(&run, &[("event", "")]).await.is(200).text;
    assert!(ran.contains("1 event"), "{ran}");
}
