/**
 * `email-send-email-to-self`: a mail to the owner of the workflow.
 *
 * Not responsible for its address, nor for sending, which happens once the step is
 * committed.
 */

import { textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

interface Props {
  subject: unknown;
  text?: unknown;
  html?: unknown;
}

export default {
  key: "email-send-email-to-self",
  name: "Send Yourself an Email",
  version: "0.4.4",
  type: "action",
  description: "Send an email to the address of your own account.",
  props: {
    subject: { type: "string", label: "Subject" },
    text: {
      type: "string",
      label: "Text",
      description: "The mail as plain text.",
    },
    html: {
      type: "string",
      label: "HTML",
      description: "The mail as HTML, for programs that show it.",
      optional: true,
    },
  },
  run(this: Props, { $ }: StepArguments) {
    const mail = {
      subject: textOf("subject", this.subject),
      // A mail may have its HTML alone.
      text: textOf("text", this.text ?? ""),
    };
    $.send.email(this.html ? { ...mail, html: textOf("html", this.html) } : mail);
    $.export("$summary", "The email will be sent");
  },
};
