/**
 * `http-validate-webhook-auth`: only requests with the right credentials go on.
 *
 * Not for signatures of the body (`verify_hmac_signature.ts`).
 */

import { Buffer } from "node:buffer";
import { configurationError } from "../configuration_error.ts";
import type { StepArguments } from "../step.ts";
import { CUSTOM_RESPONSE, equal, refuse, secretOf } from "./credentials.ts";

const DEFAULT_INPUT = "{{steps.trigger.event.headers.authorization}}";

interface Props {
  authInput?: unknown;
  customResponse?: boolean;
  authType?: string;
  basicAuthUsername?: string;
  basicAuthPassword?: string;
  bearer?: string;
  key?: string;
}

const text = (label: string, description: string) => ({
  type: "string",
  label,
  description,
});

const ADDED: Record<string, Record<string, unknown>> = {
  basic: {
    basicAuthUsername: text("Username", "The username that requests have to have."),
    basicAuthPassword: {
      ...text("Password", "The password that requests have to have."),
      secret: true,
    },
  },
  bearer: {
    bearer: text(
      "Bearer token",
      "The whole value that requests have to have, with its prefix: `Bearer …`.",
    ),
  },
  key: {
    key: {
      ...text("API key", "The key that requests have to have."),
      secret: true,
    },
  },
};

export default {
  key: "http-validate-webhook-auth",
  name: "Validate Webhook Auth",
  version: "0.0.4",
  type: "action",
  description: "Go on only if the request that started the run is authorized.",
  props: {
    authInput: {
      type: "string",
      label: "Value to check",
      description: "The part of the request that holds the credentials.",
      default: DEFAULT_INPUT,
    },
    customResponse: CUSTOM_RESPONSE,
    authType: {
      type: "string",
      label: "Type of authorization",
      description: "The form of the credentials.",
      reloadProps: true,
      options: [
        { label: "Basic", value: "basic" },
        { label: "Bearer token", value: "bearer" },
        { label: "API key", value: "key" },
      ],
    },
  },
  additionalProps(this: Props) {
    return ADDED[this.authType ?? ""] ?? {};
  },
  async run(this: Props, step: StepArguments) {
    if (!equal(inputOf(this, step), expected(this))) {
      return await refuse(step, this.customResponse);
    }
    step.$.export("$summary", "The request is authorized");
  },
};

/** The default is text, which nobody may have evaluated. */
function inputOf({ authInput }: Props, { steps }: StepArguments): string {
  const isDefault = authInput === undefined || authInput === DEFAULT_INPUT;
  const given = isDefault ? steps.trigger?.event?.headers?.authorization : authInput;
  return String(given ?? "");
}

function expected(props: Props): string {
  switch (props.authType ?? typeGiven(props)) {
    case "bearer":
      return secretOf("bearer", props.bearer);
    case "key":
      return secretOf("key", props.key);
    case "basic":
      return basic(props);
  }
  throw configurationError("`authType` must be `basic`, `bearer` or `key`");
}

function basic(props: Props): string {
  const { basicAuthUsername: username = "", basicAuthPassword: password } = props;
  // A username alone may be the secret, but not because a variable is missing.
  if (password !== "" || username === "") secretOf("basicAuthPassword", password);
  const pair = Buffer.from(`${username}:${password}`, "utf8");
  return `Basic ${pair.toString("base64")}`;
}

function typeGiven({ bearer, key, basicAuthPassword }: Props): string | undefined {
  if (bearer !== undefined) return "bearer";
  if (key !== undefined) return "key";
  return basicAuthPassword === undefined ? undefined : "basic";
}
