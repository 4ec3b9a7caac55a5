/**
 * `pipedream_utils-convert-html-to-slack-mrkdwn`: HTML in Slack's own markup.
 *
 * Not responsible for the markup (`slack_markup.ts`).
 */

import { textOf } from "../inputs.ts";
import { slackMarkup } from "./slack_markup.ts";

export default {
  key: "pipedream_utils-convert-html-to-slack-mrkdwn",
  name: "Convert HTML to Slack mrkdwn",
  version: "0.0.1",
  type: "action",
  description: "Write HTML in the markup of Slack messages.",
  props: {
    html: { type: "string", label: "HTML", description: "The HTML." },
  },
  run(this: { html: unknown }) {
    return slackMarkup(textOf("html", this.html));
  },
};
