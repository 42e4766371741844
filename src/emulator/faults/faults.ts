import * as z from "zod/mini";
import type { Endpoint } from "../../http/endpoint.ts";
import { isHeader } from "../../http/request-options.ts";
import { check } from "../../schemas/check.ts";
import { nearest } from "../../schemas/messages.ts";
import { wordsOf } from "../../util/foreign.ts";
import { endpointsNamed, namesOf } from "../base/endpoint-names.ts";
import type { Fault } from "./fault.ts";

const headerValue = () => z.string().check(z.refine((value) => isHeader("x", value), "is not a valid header value"));

const headers = () =>
  z
    .record(z.string(), z.string())
    .check(
      z.refine((all) => Object.entries(all).every(([name, value]) => isHeader(name, value)), "has an invalid header"),
    );

const ms = () => z.number().check(z.gte(0));
const when = () => z.optional(z.enum(["before", "after"]));
const status = (least: number, most: number) => z.int().check(z.gte(least), z.lte(most));

const target = () => ({
  on: z.optional(z.string()),
  nth: z.optional(z.int("expected a whole number, or in a program a function").check(z.gte(1))),
});

/** The fields of each kind. */
const kinds = {
  drop: () => ({ when: when() }),
  status: () => ({
    when: when(),
    status: status(400, 599),
    code: z.optional(z.string()),
    retryAfter: z.optional(z.union([z.number(), headerValue()])),
  }),
  redirect: () => ({
    when: when(),
    location: headerValue(),
    status: z.optional(z.literal([301, 302, 303, 307, 308])),
  }),
  body: () => ({
    when: when(),
    body: z.custom<unknown>((value) => value !== undefined, "is required"),
    status: z.optional(status(200, 599)),
    type: z.optional(headerValue()),
  }),
  headers: () => ({ headers: headers() }),
  slow: () => ({ when: when(), ms: ms() }),
  gateway: () => ({
    ms: ms(),
    processing: ms(),
    status: z.optional(z.union([status(400, 599), z.literal("drop")])),
  }),
  stall: () => ({}),
  trickle: () => ({ ms: ms() }),
  truncate: () => ({}),
  failRender: () => ({ on: z.optional(z.enum(["renders.create", "POST /renders"])) }),
} as const satisfies Readonly<Record<Fault["fault"], () => z.core.$ZodShape>>;

/** The kinds of faults. */
export const faultKinds = Object.keys(kinds) as [Fault["fault"], ...Fault["fault"][]];

const schemaOf = (kind: Fault["fault"]) => z.strictObject({ fault: z.literal(kind), ...target(), ...kinds[kind]() });

/** Checks the fields of a fault by its kind; of `nth` only the number. */
export function faultSchema() {
  const [first, ...others] = faultKinds;
  return z.discriminatedUnion("fault", [schemaOf(first), ...others.map(schemaOf)]);
}

/** A fault that was added. */
export interface AddedFault {
  /** Names the fault in the control `faults.remove`. */
  readonly id: number;
  /** The number of requests that it was applied to. */
  readonly hits: number;
  /** Removes the fault. */
  remove(): void;
}

/** The faults between clients and the emulator. */
export interface Faults {
  /**
   * Adds a fault. When several match the same request, the one that was added first applies.
   *
   * @example
   * emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" }); // the order is created, its response is lost
   * @throws TypeError or RangeError when the fault is invalid, or names an endpoint that does not exist.
   */
  add(fault: Fault): AddedFault;
  /** Removes all faults. */
  clear(): void;
}

/** A fault in a saved world. */
export interface SavedFault {
  readonly id: number;
  readonly fault: Fault;
  /** The number of requests that matched `on`. */
  readonly seen: number;
  /** The number of requests that the fault was applied to. */
  readonly hits: number;
}

/** The faults, with a look-up of the one that applies to a request. */
export interface FaultList extends Faults {
  /** The calls that a fault can apply to: `orders.create`. */
  readonly calls: readonly string[];
  /** All faults, in the order in which they were added. */
  list(): readonly SavedFault[];
  /** Removes a fault. Throws when it does not exist. */
  remove(id: number): void;
  /** Replaces all faults. */
  load(faults: readonly SavedFault[]): void;
  /** Counts a request to an endpoint, and returns the fault that applies to it. */
  faultFor(endpoint: Endpoint | undefined): Fault | undefined;
}

type StoredFault = { -readonly [Field in keyof SavedFault]: SavedFault[Field] };

const matches = ({ nth }: Fault, n: number): boolean =>
  nth === undefined || (typeof nth === "number" ? nth === n : nth(n));

/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** 1 to 999 is probably meant as seconds, and the header `Retry-After` cannot express less than a second. */
const isRetryAfter = (ms: number): boolean => ms === 0 || (ms >= 1000 && Number.isFinite(ms));

/** Throws for a fault that can never apply: a test with such a fault would pass without testing anything. */
function validate(fault: Fault, endpoints: readonly Endpoint[]): void {
  const { on, nth } = fault;
  if (on !== undefined) endpointsNamed(on, endpoints);
  if (!faultKinds.includes(fault.fault)) {
    const likely = typeof fault.fault === "string" ? nearest(fault.fault, faultKinds) : undefined;
    const suggested = likely === undefined ? "" : `; did you mean \`${likely}\`?`;
    throw new TypeError(`A fault's kind must be one of ${faultKinds.join(", ")}; got ${fault.fault}${suggested}`);
  }
  checkSpecialValues(fault);
  const plain = typeof nth === "function" ? { ...fault, nth: undefined } : fault;
  const checked = check(faultSchema, plain, [], { message: "is not a field of this kind of fault" });
  if (checked.ok) return;
  throw new TypeError(checked.issues.map(({ path, message }) => `A fault's ${path.join(".")}: ${message}`).join("\n"));
}

/** Throws for values that the schema would accept. */
function checkSpecialValues(fault: Fault): void {
  if (fault.fault === "body" && fault.body !== "" && bodiless.has(fault.status ?? 200)) {
    throw new RangeError(`A fault's body must be "" with the status ${fault.status}, which has no body`);
  }
  if (fault.fault === "status" && typeof fault.retryAfter === "number" && !isRetryAfter(fault.retryAfter)) {
    throw new RangeError(
      `A fault's retryAfter must be in milliseconds, 0 or at least 1000, because the header has whole seconds; got ${fault.retryAfter}`,
    );
  }
}

/** What is wrong with a fault of a saved world. */
export function faultIssue(fault: Fault, endpoints: readonly Endpoint[]): string | undefined {
  try {
    validate(fault, endpoints);
    return undefined;
  } catch (error) {
    return wordsOf(error);
  }
}

/** Counts a request for each fault that it matches. The first one whose turn it is applies. */
function strike(entries: Iterable<StoredFault>, endpoint: Endpoint | undefined): Fault | undefined {
  const names = endpoint === undefined ? [] : namesOf(endpoint);
  let first: StoredFault | undefined;
  for (const entry of entries) {
    const { on } = entry.fault;
    if (on !== undefined && !names.includes(on)) continue;
    entry.seen += 1;
    if (matches(entry.fault, entry.seen)) first ??= entry;
  }
  if (first === undefined) return undefined;
  first.hits += 1;
  return first.fault;
}

/** A fault that concerns one endpoint needs no `on`. */
const targeted = (fault: Fault): Fault => (fault.fault === "failRender" ? { on: "renders.create", ...fault } : fault);

/** Makes an empty list of faults for the given endpoints. Calls `onChange` after each change by a program. */
export function createFaults(endpoints: readonly Endpoint[], onChange = () => {}): FaultList {
  const entries = new Map<number, StoredFault>();
  let latest = 0;

  const remove = (id: number) => {
    if (!entries.delete(id)) throw new RangeError(`The emulator has no fault ${id}`);
    onChange();
  };

  return {
    calls: endpoints.map(({ call }) => call),
    add: (fault) => {
      validate(fault, endpoints);
      latest += 1;
      const entry: StoredFault = { id: latest, fault: targeted(fault), seen: 0, hits: 0 };
      entries.set(entry.id, entry);
      onChange();
      return {
        id: entry.id,
        get hits() {
          return entry.hits;
        },
        remove: () => {
          if (entries.delete(entry.id)) onChange();
        },
      };
    },
    list: () => [...entries.values()],
    remove,
    load: (faults) => {
      entries.clear();
      latest = 0;
      for (const entry of faults) {
        entries.set(entry.id, { ...entry, fault: targeted(entry.fault) });
        latest = Math.max(latest, entry.id);
      }
    },
    clear: () => {
      entries.clear();
      onChange();
    },
    faultFor: (endpoint) => strike(entries.values(), endpoint),
  };
}
