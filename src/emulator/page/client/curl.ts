import type { RequestDetail } from "../../recorder/request-json.ts";

/** Quotes text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Headers that curl sets by itself, or that belong to the connection. */
const left = new Set(["host", "connection", "content-length", "accept-encoding", "transfer-encoding", "user-agent"]);

/** The key is not part of the page: the command reads it from the environment. */
const keyHeader = `-H "X-Service-Secret-Key: $POD_PARTNER_SECRET_KEY"`;

/** A request as a curl command. */
export function toCurl(baseUrl: string, { method, path, request }: RequestDetail): string {
  const headers = Object.entries(request.headers)
    .filter(([name]) => !left.has(name))
    .map(([name, value]) => (name === "x-service-secret-key" ? keyHeader : `-H ${quoted(`${name}: ${value}`)}`));
  const body = request.body?.text ? [`--data-raw ${quoted(request.body.text)}`] : [];
  const verb = method === "GET" ? [] : [`-X ${method}`];
  return ["curl", ...verb, quoted(baseUrl + path), ...headers, ...body].join(" \\\n  ");
}

/** A first request to paste. With a body it is a POST. */
export function curlOf(url: string, body?: object): string {
  const json = body === undefined ? "" : ` -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
  return `curl ${url} ${keyHeader}${json}`;
}
