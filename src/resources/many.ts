import { type CallSite, captureCallSite, withRow } from "../errors/call-site.ts";
import { AlreadyReadError } from "../errors/response.ts";
import { RequestValidationError } from "../errors/validation.ts";
import type { Priority } from "../http/pacing/queue.ts";
import { checkedOptions, custom, type RequestOptions, withRequestOptions } from "../http/request-options.ts";
import type { CallContext } from "../http/send.ts";
import type { Schema } from "../schemas/shape.ts";
import { eitherSignal, unlessAborted } from "../util/abort-signals.ts";
import { concurrently, type Outcome } from "../util/concurrency.ts";
import type { Overrides } from "../util/fields.ts";
import { attempt, isFunction, isObject } from "../util/foreign.ts";

/** Any number of rows, read as they are needed. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** A row that is used as the input: it has the input's fields and no others. */
export type ExactRow<Row, Input> = Row & { readonly [Field in Exclude<keyof Row, keyof Input>]?: never };

/** Options of a call for many rows: the options of each row's requests, and the number of rows at a time. */
export interface ManyOptions extends RequestOptions {
  /** The number of rows at a time. */
  readonly concurrency?: number | undefined;
}

/** A promise, of which the compiler knows that it has no field of an input: so its messages about an input name the field. */
export type Later<Input> = PromiseLike<Input> &
  ([Input] extends [object] ? Partial<Record<keyof Input, never>> : unknown);

/** How a row of your own type becomes the input of a call. */
export interface RowMapping<Row, Input> {
  /** Makes the input of a row. It may be asynchronous. If it throws, that is the `error` of the row's outcome. */
  readonly map: (row: Row) => Input | Later<Input>;
}

/** The option `map`, which rows that are inputs themselves do not need. */
export type MapRows<Row, Input> = [Row] extends [Input & ExactRow<Row, Input>]
  ? { readonly map?: RowMapping<Row, Input>["map"] | undefined }
  : RowMapping<Row, Input>;

/** The options as the implementation receives them: without `map`, each row is the input. */
export type ManyRows<Input, Options extends ManyOptions> = Options & Overrides<RowMapping<unknown, Input>>;

/** The schemas of the options that every call for many rows has. */
export const manyRows = () => ({
  map: custom(isFunction, "expected a function that makes an input of a row"),
  // With 0 rows at a time the call would never end.
  concurrency: custom((value) => typeof value === "number" && value >= 1, "expected a number from 1"),
});

/** A row that is worked on. */
export interface StartedRow {
  readonly row: unknown;
  /** Aborts when the caller stops the iteration or aborts his signal. */
  readonly left: AbortSignal;
  /** Says that the work only waits from now on, so that another row can start. */
  readonly waits: () => void;
  /** Adds the row, and the line where the call began, to an error. */
  readonly located: (error: unknown) => unknown;
}

/** A call for many rows. */
interface Many<Input, Value, Options extends ManyOptions> {
  /** The default number of rows at a time. */
  readonly concurrency: number;
  /** The maximum number of rows at a time, with those that only wait. Default: no maximum. */
  readonly most?: number | undefined;
  /** The client's priority. */
  readonly priority: Priority | undefined;
  readonly work: (input: Input, options: Omit<Options, "concurrency" | "map">, started: StartedRow) => Promise<Value>;
  /** Where the caller called the method. */
  readonly callSite: CallSite;
}

const isIterable = (rows: unknown): boolean =>
  isObject(rows) && attempt(() => Symbol.iterator in rows || Symbol.asyncIterator in rows) === true;

const isThenable = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  isObject(value) && attempt(() => "then" in value) === true;

/** Returns a copy of the options, or throws if the options or the rows of a call are invalid. */
export function checkedMany<Options>(kind: Schema, rows: unknown, options: Options): Options {
  const checked = checkedOptions(kind, options);
  if (isIterable(rows)) return checked;
  throw new RequestValidationError({ issues: [{ path: ["rows"], message: "expected an iterable, such as an array" }] });
}

/** The outcomes of a call for many rows. A second loop throws: the rows may be gone, and an empty loop would look like success. */
export function iterateOnce<Yielded>(name: string, outcomes: AsyncIterable<Yielded>): AsyncIterable<Yielded> {
  let isTaken = false;
  return {
    [Symbol.asyncIterator]() {
      if (isTaken) throw new AlreadyReadError({ endpoint: name, what: "outcomes", use: "read" });
      isTaken = true;
      return outcomes[Symbol.asyncIterator]();
    },
  };
}

/** Makes a call for each row, with low priority by default, and yields each outcome when it is known. */
export async function* many<Input, Value, Options extends ManyOptions>(
  rows: Rows<unknown>,
  options: ManyRows<Input, Options>,
  { concurrency, most, priority, work, callSite }: Many<Input, Value, Options>,
): AsyncGenerator<Outcome<unknown, Value>, void, undefined> {
  const { concurrency: atATime = concurrency, map = (row) => row as Input, ...rest } = options;
  const { callId, signal } = rest;
  const optionsOf = (index: number) => ({
    ...rest,
    priority: rest.priority ?? priority ?? "low",
    ...(callId !== undefined && { callId: `${callId.slice(0, 180)}/${index}` }),
  });
  let count = 0;
  const one = async (row: unknown, leaving: AbortSignal, waits: () => void): Promise<Value> => {
    const index = count++;
    const located = (error: unknown) => withRow(error, index, callSite);
    const left = eitherSignal(signal, leaving);
    try {
      // An input that is not a promise is used at once: a source may reuse the same row object.
      const made = map(row);
      const input = isThenable(made) ? await unlessAborted(made, left) : made;
      return await work(input, optionsOf(index), { row, left, waits, located });
    } catch (error) {
      throw located(error);
    }
  };
  yield* concurrently(rows, atATime, one, signal, most);
}

const manyOptions = withRequestOptions(manyRows);

/** Reads many resources by their references, one request each. */
export interface GetMany<Reference, Value> {
  /** Reads the resource of each reference. */
  (references: Rows<Reference>): AsyncIterable<Outcome<Reference, Value>>;
  /** Reads the resource of each row. `map` gives the reference of a row of your own. */
  <Row>(rows: Rows<Row>, options: ManyOptions & MapRows<Row, Reference>): AsyncIterable<Outcome<Row, Value>>;
}

/** Makes the method that reads many resources. */
export function getMany<Reference, Value>(
  name: string,
  context: CallContext,
  get: (reference: Reference, options: RequestOptions) => Promise<Value>,
): GetMany<Reference, Value>;
export function getMany(
  name: string,
  { priority }: CallContext,
  get: (reference: unknown, options: RequestOptions) => Promise<unknown>,
): (rows: Rows<unknown>, options?: ManyRows<unknown, ManyOptions>) => AsyncIterable<Outcome<unknown, unknown>> {
  return function getMany(rows, options = {}) {
    const callSite = captureCallSite(getMany);
    async function* outcomes() {
      yield* many(rows, checkedMany(manyOptions, rows, options), { concurrency: 16, priority, work: get, callSite });
    }
    return iterateOnce(name, outcomes());
  };
}
