import type { Endpoint } from "../../http/endpoint.ts";
import { toHar } from "./har.ts";
import type { RequestLog } from "./logged-request.ts";
import type { Recording } from "./recording.ts";
import { createMatch } from "./request-filter.ts";

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
  add(entry: Recording): void;
  /** Counts the memory of an entry that has grown. */
  update(entry: Recording): void;
}

/** Makes an empty log. It is an array with more methods: a subclass of Array would need a hundred times as long to remove an entry. */
export function createRequestLog(bounds: LogBounds, endpoints: readonly Endpoint[], onClear = () => {}): WritableLog {
  const entries: Recording[] = [];
  let bytes = 0;
  const match = createMatch(endpoints);

  const get = (id: number) => entries[id - (entries[0]?.id ?? 0)];
  const removeOldest = () => {
    bytes -= entries.shift()?.weight ?? 0;
  };
  const count = (entry: Recording) => {
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
