/**
 * Requests that actions send themselves.
 *
 * Responsible for putting a request together and for turning bad statuses into errors
 * of the usual shape. Not for requests that people configure as a whole, which are
 * `http_request` props.
 */

export interface HttpRequest {
  url: string;
  method?: string | undefined;
  params?: Record<string, unknown> | undefined;
  headers?: Record<string, string> | undefined;
  /** Objects are sent as JSON. */
  body?: unknown;
}

/** The response, whose status is good. */
export async function send(request: HttpRequest): Promise<Response> {
  const url = new URL(request.url);
  for (const [name, value] of Object.entries(request.params ?? {})) {
    if (value !== undefined && value !== null) {
      url.searchParams.append(name, String(value));
    }
  }
  const method = (request.method ?? "GET").toUpperCase();
  const headers = new Headers(request.headers);
  const body = method === "GET" || method === "HEAD"
    ? undefined
    : bodyOf(request.body, headers);
  const response = await fetch(url, { method, headers, body: body ?? null });
  if (!response.ok) throw await failure(response);
  return response;
}

/** The response's data: a value if it is JSON, else its text. */
export async function sendForData(request: HttpRequest): Promise<unknown> {
  return parsed(await (await send(request)).text());
}

function bodyOf(body: unknown, headers: Headers): string | undefined {
  if (body === undefined || body === null) return undefined;
  const isText = typeof body === "string";
  const isJson = !isText || typeof parsed(body) !== "string";
  if (isJson && !headers.has("content-type")) {
    headers.set("content-type", "application/json");
  }
  return isText ? body : JSON.stringify(body);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function failure(response: Response): Promise<Error> {
  const { status, statusText } = response;
  const error = new Error(`Request failed with status code ${status}`);
  const data = parsed(await response.text());
  const headers = Object.fromEntries(response.headers);
  return Object.assign(error, { response: { status, statusText, headers, data } });
}
