import * as z from "zod/mini";
import { captureCallSite } from "../errors/call-site.ts";
import { RequestValidationError, ResponseValidationError } from "../errors/validation.ts";
import type { Found } from "../http/call.ts";
import { type CallContext, countdown, JointTimeline, laterCall } from "../http/call-context.ts";
import { type ListPage, nameOf } from "../http/endpoint.ts";
import { hasErrorObject } from "../http/outcome.ts";
import { optionFaults, type RequestOptions, taking } from "../http/request-options.ts";
import { type ApiCall, type CallResult, sendAndRead } from "../http/send.ts";
import { Paginator } from "../pagination/paginator.ts";
import { referenceFault } from "../references/references.ts";
import { eitherSignal } from "../util/abort-signals.ts";
import { concurrently } from "../util/concurrency.ts";
import { attempt, propertyOf } from "../util/foreign.ts";
import type { ResponseHead } from "../util/response-head.ts";
import { Comparison } from "./comparison.ts";
import type { ChangesOptions, ChangingList, ListChanges, Referenced } from "./list-changes.ts";
import { readSnapshot, snapshotFaults, writeSnapshot } from "./snapshot.ts";

// The content of a snapshot is checked where it is read.
const since = () => ({ since: z.optional(z.unknown()) });
const own = taking(since);
const withDetails = taking(() => ({ ...since(), details: z.optional(z.boolean()) }));

/** The most readings of a list whose entries cannot be read one by one. */
const mostReadings = 4;
/** The most requests for single entries at the same time. */
const entriesAtOnce = 8;

/** Finds the changes of a list since a snapshot. */
export function changesOf<Listed extends Referenced, Current extends Listed>(
  context: CallContext,
  list: ChangingList<Listed>,
  options: ChangesOptions<Listed>,
): ApiCall<ListChanges<Listed, Current>> {
  const callSite = captureCallSite(changesOf);
  const remaining = countdown(
    context,
    attempt(() => options?.deadline),
  );
  return laterCall(context, callSite, () => findChanges<Listed, Current>(context, remaining, list, options));
}

async function findChanges<Listed extends Referenced, Current extends Listed>(
  { start, clock }: CallContext,
  remaining: () => number | undefined,
  list: ChangingList<Listed>,
  given: ChangesOptions<Listed> & { readonly details?: boolean | undefined },
): Promise<CallResult<ListChanges<Listed, Current>>> {
  const { kind, get } = list;
  const endpoint = nameOf(list.list);
  const faults = optionFaults(given, get === undefined ? own : withDetails);
  const issues = [...faults, ...snapshotFaults(kind, propertyOf(given, "since"))];
  if (issues.length > 0) throw new RequestValidationError({ issues, endpoint });

  const { since, details, ...rest } = given;
  const options: RequestOptions = { ...rest, priority: rest.priority ?? "low" };
  const comparison = new Comparison<Listed>(knownFields(list), readSnapshot(since));
  const timeline = new JointTimeline(clock);
  let latest: ResponseHead | undefined;
  const dataOf = async <Data>(call: ApiCall<Data>): Promise<Data> => {
    const { data, response } = await timeline.add(call);
    latest = response;
    return data;
  };

  /** Reads the list from its beginning. */
  const read = async (): Promise<Reading> => {
    const references = new Set<string>();
    let entries = 0;
    const fetch = async (cursor: string | undefined, each: RequestOptions) => {
      const reading = start(list.list, { ...each, deadline: remaining() }, async (call) => {
        const found = await sendAndRead(call, { query: { cursor } });
        assertIdentified(list, found);
        return found;
      });
      const page = await dataOf(reading);
      entries += page.items.length;
      return page;
    };
    // The pages leave out repeated entries.
    for await (const { items } of new Paginator(endpoint, fetch, options).pages()) {
      for (const entry of items) {
        references.add(entry.reference);
        await comparison.add(entry);
      }
    }
    return { references, steady: references.size === entries };
  };

  /**
   * Reads the list again until missing entries are certainly removed. When an entry disappears that was already read, those after it move
   * forward, and the next page begins too late. Then the next reading lacks that entry, or it came and went, and others came twice.
   */
  const readAgain = async (last: Reading): Promise<void> => {
    for (let readings = 1; comparison.missing.length > 0; readings += 1) {
      if (readings === mostReadings) {
        for (const reference of comparison.missing) comparison.keep(reference);
        return;
      }
      const next = await read();
      if (last.steady && [...last.references].every((reference) => next.references.has(reference))) return;
      last = next;
    }
  };

  /** Reads single entries: an entry that exists only moved between pages while the list was read. */
  const readEach = async (references: readonly string[], get: NonNullable<ChangingList<Listed>["get"]>) => {
    const { signal } = options;
    const readOne = (reference: string, left: AbortSignal): Promise<Listed> => {
      // The option `query` is for the list.
      const each = { ...options, query: undefined, body: undefined, deadline: remaining() };
      return dataOf(get(reference as never, { ...each, signal: eitherSignal(signal, left) }));
    };
    for await (const outcome of concurrently(references, entriesAtOnce, readOne, signal)) {
      if (outcome.ok) await comparison.addDetail(outcome.input, outcome.value);
      else if (isGone(outcome.error)) comparison.remove(outcome.input);
      else throw outcome.error;
    }
  };

  const reading = await read();
  if (get === undefined) await readAgain(reading);
  else await readEach([...comparison.missing, ...(details ? comparison.differing : [])], get);

  if (latest === undefined) throw new TypeError("no request was made");
  const { table, ...changes } = await comparison.result();
  const data = { ...changes, snapshot: writeSnapshot(kind, table) };
  // The comparison gives the current entries as `Listed`, or as `Current` after `readEach`, which its type cannot say.
  return { data: data as unknown as ListChanges<Listed, Current>, response: latest, timeline: timeline.entries };
}

/** One reading of a list. */
interface Reading {
  readonly references: ReadonlySet<string>;
  /** Whether no entry came twice. An entry comes twice when others are added before it. */
  readonly steady: boolean;
}

/** The names of the fields that the specification shows in an entry of a list. */
function knownFields<Listed>({ list }: ChangingList<Listed>): readonly string[] {
  const { response } = list;
  const schema = response.kind === "page" ? response.item()._zod.def : undefined;
  const shape = schema !== undefined && "shape" in schema ? Object.keys(Object(schema.shape)) : [];
  return shape.filter((name) => name !== "reference");
}

/** Whether an error is the service's own statement that an entry does not exist (specification 7). A gateway can return a 404, too. */
const isGone = (error: unknown): boolean => hasErrorObject(error) && (error.status === 404 || error.status === 410);

/** With `responses: "report"`, an entry may have no valid reference. Then it cannot be compared, and seems to be removed. */
function assertIdentified<Listed>(
  { kind, list }: ChangingList<Listed>,
  { data, response: { status } }: Found<ListPage<Listed>>,
): void {
  const field = list.response.kind === "page" ? list.response.field : "";
  const issues = data.items.flatMap((entry, index) => {
    const message = referenceFault(kind, Object(entry).reference);
    return message === undefined ? [] : [{ path: [field, index, "reference"], message }];
  });
  if (issues.length === 0) return;
  const response = { status, headers: {}, body: undefined };
  throw new ResponseValidationError({ issues, response, endpoint: nameOf(list) });
}
