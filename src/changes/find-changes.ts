import * as z from "zod/mini";
import { RequestValidationError } from "../errors/validation.ts";
import { nameOf } from "../http/endpoint.ts";
import { optionFaults, taking } from "../http/request-options.ts";
import type { CallResult } from "../http/send.ts";
import { propertyOf } from "../util/foreign.ts";
import { Comparison } from "./comparison.ts";
import type { ChangesOptions, ChangingList, ListChanges, Referenced } from "./list-changes.ts";
import { ListRequests, type Means } from "./list-requests.ts";
import { readSnapshot, snapshotFaults, writeSnapshot } from "./snapshot.ts";

// The content of a snapshot is checked where it is read.
const since = () => ({ since: z.optional(z.unknown()) });
const own = taking(since);
const withDetails = taking(() => ({ ...since(), details: z.optional(z.boolean()) }));

/** The most readings of a list whose entries cannot be read one by one. */
const readings = 4;

/** The names of the fields that the specification shows in an entry of a list. */
function knownFields<Listed>({ list }: ChangingList<Listed>): readonly string[] {
  const { response } = list;
  const schema = response.kind === "page" ? response.item()._zod.def : undefined;
  const shape = schema !== undefined && "shape" in schema ? Object.keys(Object(schema.shape)) : [];
  return shape.filter((name) => name !== "reference");
}

/** One reading of a list. */
interface Reading {
  readonly references: ReadonlySet<string>;
  /** Whether no entry came twice. An entry comes twice when others are added before it. */
  readonly steady: boolean;
}

/** One search for the changes of a list. */
class Search<Listed extends Referenced> {
  readonly #requests: ListRequests<Listed>;
  readonly #comparison: Comparison<Listed>;

  constructor(requests: ListRequests<Listed>, comparison: Comparison<Listed>) {
    this.#requests = requests;
    this.#comparison = comparison;
  }

  /** Reads the list once. */
  async read(): Promise<Reading> {
    const references = new Set<string>();
    let entries = 0;
    const onPage = (count: number) => {
      entries += count;
    };
    for await (const { items } of this.#requests.pages(onPage)) {
      for (const entry of items) {
        references.add(entry.reference);
        await this.#comparison.add(entry);
      }
    }
    return { references, steady: references.size === entries };
  }

  /** Reads single entries: an entry that exists only moved between pages while the list was read. */
  async readEach(references: readonly string[], get: NonNullable<ChangingList<Listed>["get"]>): Promise<void> {
    for await (const outcome of this.#requests.each(references, get)) {
      if (outcome.ok) await this.#comparison.addDetail(outcome.input, outcome.value);
      else if (this.#requests.isGone(outcome.error)) this.#comparison.remove(outcome.input);
      else throw outcome.error;
    }
  }

  /**
   * Reads the list again until missing entries are certainly removed. When an entry disappears that was already read, those after it move
   * forward, and the next page begins too late. Then the next reading lacks that entry, or it came and went, and others came twice.
   */
  async readAgain(first: Reading): Promise<void> {
    let last = first;
    for (let count = 1; this.#comparison.missing.length > 0; count++) {
      if (count === readings) {
        for (const reference of this.#comparison.missing) this.#comparison.keep(reference);
        return;
      }
      const next = await this.read();
      if (last.steady && [...last.references].every((reference) => next.references.has(reference))) return;
      last = next;
    }
  }
}

/** Finds the changes of a list since a snapshot. */
export async function findChanges<Listed extends Referenced, Current extends Listed>(
  means: Means,
  list: ChangingList<Listed>,
  given: ChangesOptions<Listed> & { readonly details?: boolean | undefined },
): Promise<CallResult<ListChanges<Listed, Current>>> {
  const { kind, get } = list;
  const faults = optionFaults(given, get === undefined ? own : withDetails);
  const issues = [...faults, ...snapshotFaults(kind, propertyOf(given, "since"))];
  if (issues.length > 0) throw new RequestValidationError({ issues, endpoint: nameOf(list.list) });

  const { since, details, ...options } = given;
  const requests = new ListRequests(means, list, options);
  const comparison = new Comparison<Listed>(knownFields(list), readSnapshot(since));
  const search = new Search(requests, comparison);
  const reading = await search.read();
  if (get === undefined) await search.readAgain(reading);
  else await search.readEach([...comparison.missing, ...(details ? comparison.differing : [])], get);

  const { table, ...changes } = await comparison.result();
  const result = { ...changes, snapshot: writeSnapshot(kind, table) };
  // The comparison gives the current entries as `Listed`, or as `Current` after `readEach`, which its type cannot say.
  return requests.result(result as unknown as ListChanges<Listed, Current>);
}
