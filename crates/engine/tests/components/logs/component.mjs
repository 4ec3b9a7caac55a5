console.log("while loading");

export default {
  name: "Logs",
  version: "0.0.1",
  run() {
    console.debug("debug");
    console.log("info", { a: 1 });
    console.warn("warn");
    console.error("error");
    process.stdout.write("stdout\n");
    process.stderr.write("stderr\n");
  },
};
