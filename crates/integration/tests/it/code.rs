//! Components that several tests deploy.

/// Emits what a run by hand is given: `{"emits": [[event, options], …]}`.
pub(crate) const EMITTER: &str = r#"
export default {
  name: "Emitter",
  version: "0.0.1",
  run({ emits }) {
    for (const [event, options] of emits) this.$emit(event, options);
  },
};
"#;

/// The same with a dedupe strategy.
pub(crate) fn emitter(dedupe: &str) -> String {
    EMITTER.replace("version:", &format!("dedupe: \"{dedupe}\",\n  version:"))
}

/// Uses an account, and fails if it is told so.
pub(crate) const USES_ACCOUNT: &str = "export default { name: 'Uses', version: '0.0.1', \
    props: { shop: { type: 'app', app: 'shop' } }, run(event) { \
      if (event.fails) throw new Error('away'); if (!this.shop.$auth.api_key) throw new Error('no key'); } }";

/// Emits every request.
pub(crate) const INBOX: &str = r#"
export default {
  name: "Inbox",
  version: "0.0.1",
  props: { http: "$.interface.http" },
  run(request) {
    this.$emit(request);
  },
};
"#;

/// Emits the number of its runs.
pub(crate) const COUNTING: &str = r#"
export default {
  name: "Counting",
  version: "0.0.1",
  props: { db: "$.service.db" },
  run() {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit(n);
  },
};
"#;

/// Answers every request with its own version and emits nothing.
pub(crate) fn answering(version: &str) -> String {
    r#"
export default {
  name: "Answering",
  version: "VERSION",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run() {
    this.http.respond({ status: 200, body: "VERSION" });
  },
};
"#
    .replace("VERSION", version)
}

/// Tells the receiver at `url` of each call of its hooks as `VERSION HOOK`. A hook named in `fails`
/// throws after that. Answers requests with its version.
pub(crate) fn hooked(version: &str) -> String {
    r#"
export default {
  name: "Hooked",
  version: "VERSION",
  props: {
    url: "string",
    fails: { type: "string", optional: true },
    http: { type: "$.interface.http", customResponse: true },
  },
  methods: {
    async tell(hook) {
      await fetch(this.url, { method: "POST", body: `VERSION ${hook}` });
      if (this.fails === hook) throw new Error(`${hook} fails`);
    },
  },
  hooks: {
    async deploy() { await this.tell("deploy"); },
    async activate() { await this.tell("activate"); },
    async deactivate() { await this.tell("deactivate"); },
  },
  run() {
    this.http.respond({ status: 200, body: "VERSION" });
  },
};
"#
    .replace("VERSION", version)
}

/// An id of that kind which names nothing.
pub(crate) fn unknown(prefix: &str) -> String {
    format!("{prefix}{}", "0".repeat(22))
}

/// Logs a line, waits for an answer, and logs another one.
pub(crate) const LOGS_AND_WAITS: &str = "export default { name: 'Waiting', version: '0.0.1', \
    props: { url: { type: 'string' } }, \
    async run() { console.log('<b>one</b>'); await fetch(this.url); console.log('two'); } };";
