import { STATUS_CODES } from "node:http";
import { version } from "../../util/runtime.ts";
import type { Har, HarEntry, HarMessage, RecordedMessage } from "./logged-request.ts";
import type { RecordedRequest } from "./recording.ts";

const message = (recorded: RecordedMessage | undefined): HarMessage => ({
  httpVersion: "HTTP/1.1",
  cookies: [],
  headers: Object.entries(recorded?.headers ?? {}).map(([name, value]) => ({ name, value })),
  headersSize: -1,
  bodySize: recorded?.body?.size ?? 0,
});

function toRequest({ method, url, request }: RecordedRequest): HarEntry["request"] {
  const query = [...new URL(url).searchParams].map(([name, value]) => ({ name, value }));
  const { type, text } = request.body ?? {};
  const postData = type === undefined ? {} : { postData: { mimeType: type, text: text ?? "" } };
  return { method, url, ...message(request), queryString: query, ...postData };
}

function toResponse({ status = 0, response }: RecordedRequest): HarEntry["response"] {
  const { headers = {}, body } = response ?? {};
  const text = body?.text === undefined ? {} : { text: body.text };
  return {
    status,
    statusText: STATUS_CODES[status] ?? "",
    ...message(response),
    content: { size: body?.size ?? 0, mimeType: body?.type ?? "", ...text },
    redirectURL: headers.location ?? "",
  };
}

function toEntry(entry: RecordedRequest): HarEntry {
  const { id, call, fault, outcome, tokens, duration = 0 } = entry;
  return {
    startedDateTime: new Date(entry.time).toISOString(),
    time: duration,
    request: toRequest(entry),
    response: toResponse(entry),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    _id: id,
    ...(call !== undefined && { _call: call }),
    ...(fault !== undefined && { _fault: fault }),
    _outcome: outcome,
    ...(tokens !== undefined && { _tokens: tokens }),
  };
}

/** Exports entries as an HTTP archive. */
export const toHar = (entries: readonly RecordedRequest[]): Har => ({
  log: { version: "1.2", creator: { name: "pod-partner emulator", version }, entries: entries.map(toEntry) },
});
