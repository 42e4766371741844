import { isConfirmedMissing } from "../errors/api.ts";
import type { Call, Found } from "../http/call.ts";
import { checkedOptions, type RequestOptions } from "../http/request-options.ts";
import { type ApiCall, type CallContext, join, type Send } from "../http/send.ts";
import { Paginator } from "../pagination/paginator.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import { concurrently } from "../util/concurrency.ts";
import { splitFields, withFields } from "../util/fields.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { Comparison } from "./comparison.ts";
import type { ChangesOptions, ChangingList, ListChanges, Referenced } from "./list-changes.ts";

/** The options of any method `changes`. */
type AnyChangesOptions<Listed extends Referenced> = ChangesOptions<Listed> & { readonly details?: boolean | undefined };

/** Maximum number of times that a list is read whose entries cannot be read one by one. */
const maxReads = 4;
/** Maximum number of requests for single entries at a time. */
const entriesAtOnce = 8;

/** Finds the changes of a list since a snapshot. */
export function changesOf<Listed extends Referenced>(
  { send, start, priority = "low" }: CallContext,
  list: ChangingList<Listed>,
  options: AnyChangesOptions<Listed>,
): ApiCall<ListChanges<Listed>> {
  const [, request] = splitFields(options, "since", "details");
  const low = withFields(
    request,
    (fields): RequestOptions => Object.assign(fields, { priority: fields.priority ?? priority }),
  );
  return start(list.list, low, (call) => findChanges(send, call, list, options));
}

async function findChanges<Listed extends Referenced>(
  send: Send,
  call: Call,
  list: ChangingList<Listed>,
  given: AnyChangesOptions<Listed>,
): Promise<Found<ListChanges<Listed>>> {
  const { kind, get } = list;
  const endpoint = call.name;
  const { since, details } = checkedOptions(list.options, given, endpoint);
  const { signal, query, body } = call.options;
  const comparison = new Comparison<Listed>(knownFields(list), since);
  let latest: ResponseHead | undefined;
  const dataOf = async <Data>(part: ApiCall<Data>): Promise<Data> => {
    const { data, response } = await join(call, part);
    latest = response;
    return data;
  };

  /** Reads the list from its start. */
  const read = async (): Promise<Reading> => {
    const references = new Set<string>();
    let entries = 0;
    const fetch = async (cursor: string | undefined, each: RequestOptions) => {
      const options = { ...call.partOptions(each.signal), query, body };
      const page = await dataOf(send(list.list, { query: { cursor } }, options));
      entries += page.items.length;
      return page;
    };
    // The paginator leaves out repeated entries.
    for await (const { items } of new Paginator(endpoint, fetch, { signal }).pages()) {
      for (const entry of items) {
        references.add(entry.reference);
        await comparison.add(entry);
      }
    }
    return { references, steady: references.size === entries };
  };

  /**
   * Reads the list again until all missing entries are certainly removed. When an entry that was already read disappears, the entries after it
   * move forward, and the next page starts too late. The next reading then lacks that entry; or the entry was added and removed during one
   * reading, and other entries came twice.
   */
  const readAgain = async (last: Reading): Promise<void> => {
    for (let readings = 1; comparison.missing.length > 0; readings += 1) {
      if (readings === maxReads) {
        for (const reference of comparison.missing) comparison.keep(reference);
        return;
      }
      const next = await read();
      if (last.steady && [...last.references].every((reference) => next.references.has(reference))) return;
      last = next;
    }
  };

  /** Reads single entries. An entry that exists has only moved between pages while the list was read. */
  const readEach = async (references: readonly string[], get: NonNullable<ChangingList<Listed>["get"]>) => {
    const readOne = (reference: string, left: AbortSignal): Promise<Listed> =>
      dataOf(get(reference as never, call.partOptions(eitherSignal(signal, left))));
    for await (const outcome of concurrently(references, entriesAtOnce, readOne, signal)) {
      if (outcome.ok) await comparison.addDetail(outcome.input, outcome.value);
      else if (isConfirmedMissing(outcome.error)) comparison.remove(outcome.input);
      else throw outcome.error;
    }
  };

  const reading = await read();
  if (get === undefined) await readAgain(reading);
  else await readEach([...comparison.missing, ...(details ? comparison.differing : [])], get);

  if (latest === undefined) throw new TypeError("no request was made");
  return { data: comparison.result(kind), response: latest };
}

/** One reading of a list. */
interface Reading {
  readonly references: ReadonlySet<string>;
  /** Whether no entry came twice, which happens when others are added before it. */
  readonly steady: boolean;
}

/** The names of the fields that the specification shows in an entry of a list. */
function knownFields<Listed>({ list }: ChangingList<Listed>): readonly string[] {
  const { response } = list;
  const schema = response.kind === "page" ? response.item()._zod.def : undefined;
  const shape = schema !== undefined && "shape" in schema ? Object.keys(Object(schema.shape)) : [];
  return shape.filter((name) => name !== "reference");
}
