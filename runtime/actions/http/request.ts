/**
 * The actions that send a request which people configure as a whole.
 *
 * Steps of releases before 1.0 have its fields as props of their own and are understood
 * too. Not responsible for sending configured requests, which is the worker's.
 */

import { configurationError } from "../configuration_error.ts";
import { sendForData } from "../http_client.ts";
import type { StepArguments } from "../step.ts";

interface ConfiguredRequest {
  url?: string;
  execute(): Promise<unknown>;
}

/** The fields of former releases. */
interface Fields {
  url?: string;
  method?: string;
  data?: unknown;
  params?: Record<string, unknown>;
  headers?: Record<string, string>;
  basicAuthUsername?: string;
  basicAuthPassword?: string;
}

export interface RequestValues extends Fields {
  httpRequest?: ConfiguredRequest;
  includeHeaders?: boolean;
}

export function requestProps(method?: string) {
  const httpRequest = {
    type: "http_request",
    label: "Request",
    description: "The request to send.",
    // Steps of former releases have none.
    optional: true,
  };
  return {
    httpRequest: method === undefined
      ? httpRequest
      : { ...httpRequest, default: { method } },
    includeHeaders: {
      type: "boolean",
      label: "Include response headers",
      description: "Whether the headers of the response are exported too.",
      optional: true,
    },
  };
}

/** Sends the request; the response's data. */
export async function sendRequest(
  values: RequestValues,
  { $ }: StepArguments,
  method?: string,
): Promise<unknown> {
  if (values.url !== undefined) return await sendFields(values, method);
  if (!values.httpRequest?.url) {
    throw configurationError("`httpRequest` has no URL: enter the request to send");
  }
  const response = await values.httpRequest.execute();
  if (values.includeHeaders) $.export("headers", headersOf(response));
  return response;
}

/** The data knows the headers, unless it is text or nothing. */
function headersOf(response: unknown): unknown {
  return (response as { headers?: unknown } | null | undefined)?.headers;
}

async function sendFields(fields: Fields, method?: string): Promise<unknown> {
  const headers = { ...fields.headers };
  const { basicAuthUsername: username, basicAuthPassword: password } = fields;
  if (username || password) {
    const pair = new TextEncoder().encode(`${username ?? ""}:${password ?? ""}`);
    headers.authorization = `Basic ${btoa(String.fromCharCode(...pair))}`;
  }
  return await sendForData({
    url: fields.url ?? "",
    method: fields.method ?? method,
    params: fields.params,
    headers,
    body: fields.data,
  });
}
