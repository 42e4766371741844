import * as z from "zod/mini";
import type { Endpoint } from "../../http/endpoint.ts";
import { check } from "../../schemas/check.ts";
import { count } from "../../schemas/shape.ts";
import { endpointsNamed } from "../base/endpoint-names.ts";
import { faultKinds } from "../faults/faults.ts";
import { toHar } from "./har.ts";
import type { LoggedRequest, RequestFilter, RequestLog } from "./logged-request.ts";
import type { RecordedRequest } from "./recording.ts";

const text = () => z.optional(z.string());

const schema = () =>
  z.strictObject({
    on: text(),
    method: text(),
    path: text(),
    status: z.optional(z.number()),
    fault: z.optional(z.enum(faultKinds)),
    outcome: z.optional(z.enum(["open", "responded", "dropped", "aborted"])),
  });

const withoutQuery = (path: string): string => path.split("?", 1)[0] ?? "";

/**
 * Makes the function that says whether a request matches a filter.
 *
 * @throws TypeError for an invalid filter: a test with a misspelled name would count no request, and pass.
 */
function createMatch(endpoints: readonly Endpoint[]) {
  return (filter: RequestFilter): ((entry: LoggedRequest) => boolean) => {
    const checked = check(schema, filter, [], { message: "is an unknown field of the filter" });
    if (!checked.ok) {
      const issues = checked.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
      throw new TypeError(`The filter of requests is not valid. ${issues.join("; ")}`);
    }
    const { on, path, ...exact } = filter;
    const calls = on === undefined ? undefined : endpointsNamed(on, endpoints).map(({ call }) => call);
    const fields = Object.entries(exact).filter(([, value]) => value !== undefined);
    return (entry) =>
      (calls === undefined || (entry.call !== undefined && calls.includes(entry.call))) &&
      (path === undefined || path === entry.path || path === withoutQuery(entry.path)) &&
      fields.every(([name, value]) => entry[name as keyof LoggedRequest] === value);
  };
}

/** The bounds of the log. The oldest requests are removed first. */
export interface LogBounds {
  /** The most requests. */
  readonly entries: number;
  /** The most memory, in bytes. */
  readonly bytes: number;
}

/** The log, with what the recorder needs to fill it. */
export interface WritableLog {
  readonly requests: RequestLog;
  add(entry: RecordedRequest): void;
  /** Counts the memory of an entry that has grown. */
  update(entry: RecordedRequest): void;
}

/** Makes an empty log. It is an array with more methods: a subclass of Array would need a hundred times as long to remove an entry. */
export function createRequestLog(bounds: LogBounds, endpoints: readonly Endpoint[], onClear = () => {}): WritableLog {
  const entries: RecordedRequest[] = [];
  let bytes = 0;
  const match = createMatch(endpoints);

  const get = (id: number) => entries[id - (entries[0]?.id ?? 0)];
  const removeOldest = () => {
    bytes -= entries.shift()?.weight ?? 0;
  };
  const count = (entry: RecordedRequest) => {
    bytes += entry.weigh();
    while (entries.length > bounds.entries || (bytes > bounds.bytes && entries.length > 0)) removeOldest();
  };

  const methods: Omit<RequestLog, keyof (readonly unknown[])> = {
    where: (filter) => entries.filter(match(filter)),
    get,
    clear: () => {
      entries.length = 0;
      bytes = 0;
      onClear();
    },
    toHar: () => toHar(entries),
  };
  // Not enumerable: an empty log is equal to `[]`.
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(entries, name, { value });
  const requests = entries as typeof entries & typeof methods;

  return {
    requests,
    add: (entry) => {
      entries.push(entry);
      count(entry);
    },
    update: (entry) => {
      if (get(entry.id) === entry) count(entry);
    },
  };
}

export const defaultBounds: LogBounds = { entries: 5000, bytes: 64 * 2 ** 20 };

/** The bounds of the log, with their defaults. */
export const logBounds = () =>
  z.strictObject({
    entries: z._default(count(1).check(z.lte(10_000)), defaultBounds.entries),
    bytes: z._default(count(1), defaultBounds.bytes),
  });
