/**
 * `pipedream_utils-schedule-task-in-future`: a message that a task scheduler source
 * emits later.
 *
 * Not responsible for keeping the message, which the source does.
 */

import { sendForData } from "../http_client.ts";
import { numberOf, textOf } from "../inputs.ts";
import type { StepArguments } from "../step.ts";

interface Props {
  numSeconds: unknown;
  secret?: unknown;
  taskSchedulerURL: unknown;
  message: unknown;
}

export default {
  key: "pipedream_utils-schedule-task-in-future",
  name: "Task Scheduler - Schedule Task",
  version: "0.0.2",
  type: "action",
  description:
    "Have a source of the component `pipedream-new-scheduled-tasks` emit a " +
    "message later.",
  props: {
    numSeconds: {
      type: "string",
      label: "Seconds",
      description: "The number of seconds until the message is emitted.",
    },
    secret: {
      type: "string",
      label: "Secret",
      description: "The secret of the source, if it has one.",
      optional: true,
    },
    taskSchedulerURL: {
      type: "string",
      label: "Task scheduler URL",
      description: "The endpoint of the source.",
    },
    message: {
      // Objects are sent as objects.
      type: "any",
      label: "Message",
      description: "The message: text, or any other value.",
    },
  },
  async run(this: Props, { $ }: StepArguments) {
    const delay = numberOf("numSeconds", this.numSeconds) * 1000;
    const timestamp = new Date(Date.now() + delay).toISOString();
    $.export("ts", timestamp);
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (this.secret) headers["x-pd-secret"] = textOf("secret", this.secret);
    const endpoint = textOf("taskSchedulerURL", this.taskSchedulerURL);
    return await sendForData({
      url: `${endpoint.replace(/\/+$/, "")}/schedule`,
      method: "POST",
      headers,
      body: { timestamp, message: this.message },
    });
  },
};
