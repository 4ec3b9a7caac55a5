/**
 * `pipedream_utils-send-email-with-nodemailer`: a mail over one's own SMTP server.
 *
 * Sent at once, not when the step is committed: a step that runs twice sends twice.
 */

import nodemailer from "npm:nodemailer@6.10.1";
import { numberOf, textOf } from "../inputs.ts";

interface Props {
  host: unknown;
  port: unknown;
  secure?: boolean;
  ignoreTLS?: boolean;
  requireTLS?: boolean;
  user?: unknown;
  pass?: unknown;
  from: unknown;
  to: unknown;
  cc?: unknown;
  subject: unknown;
  text?: unknown;
  html?: unknown;
}

const text = (label: string, description: string) => ({
  type: "string",
  label,
  description,
});
const flag = (label: string, description: string) => ({
  type: "boolean",
  label,
  description,
  optional: true,
});

export default {
  key: "pipedream_utils-send-email-with-nodemailer",
  name: "Send email with Nodemailer",
  version: "0.0.1",
  type: "action",
  description: "Send an email over your own SMTP server.",
  props: {
    host: text("Host", "The name or address of the SMTP server."),
    port: text("Port", "Its port: as a rule 587, or 465 if the connection is secure."),
    secure: flag(
      "Secure",
      "Whether the connection begins with TLS. Otherwise TLS follows if the server " +
        "offers it.",
    ),
    ignoreTLS: flag(
      "Ignore TLS",
      "Whether TLS is not used even if the server offers it.",
    ),
    requireTLS: flag("Require TLS", "Whether nothing is sent unless TLS follows."),
    user: text("User", "Your user name at the server."),
    pass: { ...text("Password", "Your password at the server."), secret: true },
    from: text(
      "From",
      'The sender: `name@example.com` or `"Name" <name@example.com>`.',
    ),
    // Lists stay lists.
    to: { ...text("To", "The recipients: a list, or text with commas."), type: "any" },
    cc: {
      ...text("Cc", "Further recipients: a list, or text with commas."),
      type: "any",
      optional: true,
    },
    subject: text("Subject", "The subject of the mail."),
    text: { ...text("Text", "The mail as plain text."), optional: true },
    html: { ...text("HTML", "The mail as HTML."), optional: true },
  },
  async run(this: Props) {
    const { host, user, pass, from, to, cc, subject } = this;
    const transport = nodemailer.createTransport({
      host: textOf("host", host),
      port: numberOf("port", this.port),
      secure: this.secure ?? false,
      ignoreTLS: this.ignoreTLS ?? false,
      requireTLS: this.requireTLS ?? false,
      // A server of one's own may ask for none.
      ...(user ? { auth: { user, pass } } : {}),
    });
    try {
      const body = { text: this.text || "", html: this.html || "" };
      return await transport.sendMail({ from, to, cc, subject, ...body });
    } finally {
      transport.close();
    }
  },
};
