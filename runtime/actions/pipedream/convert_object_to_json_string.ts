/**
 * `pipedream_utils-convert-object-to-json-string`: any value as JSON text.
 *
 * Without line breaks; `pipedream_utils-prettify-json` has them.
 */

export default {
  key: "pipedream_utils-convert-object-to-json-string",
  name: "Convert JavaScript Object to JSON String",
  version: "0.0.1",
  type: "action",
  description: "Write a value as JSON text.",
  props: {
    // As text, an object would be written twice.
    object: { type: "any", label: "Object", description: "The value to write." },
  },
  run(this: { object: unknown }) {
    return JSON.stringify(this.object);
  },
};
