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
import { isFunction, isObject, isThenable, propertyOf } from "../util/foreign.ts";

/** Rows of any number. They are pulled lazily. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** A row that is itself the input: it has only fields of the input. */
export type ExactRow<Row, Input> = Row & { readonly [Field in Exclude<keyof Row, keyof Input>]?: never };

/** Options of a call for many rows: the options of each row's requests, and the number of rows at a time. */
export interface ManyOptions extends RequestOptions {
  /** The number of rows at a time. */
  readonly concurrency?: number | undefined;
}

/** A promise without any field of the input, so that the compiler's messages about a wrong input name the field. */
export type Later<Input> = PromiseLike<Input> &
  ([Input] extends [object] ? Partial<Record<keyof Input, never>> : unknown);

/** Converts rows of your own type to the input of a call. */
export interface RowMapping<Row, Input> {
  /** Returns the input for a row, or a promise of it. What it throws becomes the `error` of the row's outcome. */
  readonly map: (row: Row) => Input | Later<Input>;
}

/** The option `map`. It is optional if the rows are already inputs. */
export type MapRows<Row, Input> = [Row] extends [Input & ExactRow<Row, Input>]
  ? { readonly map?: RowMapping<Row, Input>["map"] | undefined }
  : RowMapping<Row, Input>;

/** The options as the implementation receives them. Without `map`, each row is the input. */
export type ManyRows<Input, Options extends ManyOptions> = Options & Overrides<RowMapping<unknown, Input>>;

/** The schemas of the options that every call for many rows has. */
export const manyRows = () => ({
  map: custom(isFunction, "expected a function that makes an input of a row"),
  // With 0, the call would never end.
  concurrency: custom((value) => typeof value === "number" && value >= 1, "expected a number from 1"),
});

/** A row in progress. */
export interface StartedRow {
  readonly row: unknown;
  /** Aborts when the caller leaves the loop or aborts the signal. */
  readonly left: AbortSignal;
  /** Call it when the rest of the work is only waiting, so that another row can start. */
  readonly waits: () => void;
  /** Adds the row's number, and the caller's line, to an error. */
  readonly located: (error: unknown) => unknown;
}

/** A call for many rows. */
interface Many<Input, Value, Options extends ManyOptions> {
  /** The default number of rows at a time. */
  readonly concurrency: number;
  /** The maximum number of rows at a time, including those that only wait. Default: no maximum. */
  readonly most?: number | undefined;
  /** The client's priority, for rows without one. */
  readonly priority: Priority | undefined;
  readonly work: (input: Input, options: Omit<Options, "concurrency" | "map">, started: StartedRow) => Promise<Value>;
  /** Where the caller called the method. */
  readonly callSite: CallSite;
}

const isIterable = (rows: unknown): boolean =>
  isObject(rows) && [Symbol.iterator, Symbol.asyncIterator].some((name) => isFunction(propertyOf(rows, name)));

/** Returns a copy of the options, or throws if the options or the rows of a call are invalid. */
export function checkedMany<Options>(kind: Schema, rows: unknown, options: Options): Options {
  const checked = checkedOptions(kind, options);
  if (isIterable(rows)) return checked;
  throw new RequestValidationError({ issues: [{ path: ["rows"], message: "expected an iterable, such as an array" }] });
}

/** Makes outcomes that can be iterated once. A second loop throws, because an empty loop would look like success. */
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

/** Works on each row, with low priority by default, and yields each outcome when it is ready. */
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
      // Without an `await` for a plain input: a source may reuse the same row object.
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
  /** Reads the resource of each row. `map` returns the reference for your row. */
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
    // A read in progress ends with the loop.
    const work = (reference: unknown, request: RequestOptions, { left }: StartedRow) =>
      get(reference, { ...request, signal: left });
    async function* outcomes() {
      yield* many(rows, checkedMany(manyOptions, rows, options), { concurrency: 16, priority, work, callSite });
    }
    return iterateOnce(name, outcomes());
  };
}
