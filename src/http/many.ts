import { captureCallSite, manyFrames, withCallSite } from "../errors/call-site.ts";
import { RequestValidationError } from "../errors/validation.ts";
import { concurrently, type Outcome } from "../util/concurrently.ts";
import { attempt } from "../util/foreign.ts";
import { assertOptions, type OptionKind } from "./option-faults.ts";
import type { RequestOptions } from "./request-options.ts";

/** Options of a call for many inputs: those of each, and how many are under way at a time. */
export interface ManyOptions extends RequestOptions {
  /** Inputs under way at a time. */
  readonly concurrency?: number | undefined;
}

/** A call for many inputs. */
interface Many<Input, Value, Options extends ManyOptions> {
  /** The name of the inputs, for the error where they are none. */
  readonly what: string;
  readonly kind: OptionKind;
  /** How many are under way at a time where the caller does not say. */
  readonly concurrency: number;
  /** Works on one of them. `left` aborts when nobody is there any more to take its outcome. */
  readonly work: (input: Input, options: Omit<Options, "concurrency">, left: AbortSignal) => Promise<Value>;
}

const isIterable = (inputs: unknown): boolean =>
  typeof inputs === "object" &&
  inputs !== null &&
  attempt(() => Symbol.iterator in inputs || Symbol.asyncIterator in inputs) === true;

/** Makes a call for each of many inputs, with low priority unless the options say another, and gives each outcome as it comes. */
export async function* many<Input, Value, Options extends ManyOptions>(
  inputs: Iterable<Input> | AsyncIterable<Input>,
  options: Options,
  { what, kind, concurrency, work }: Many<Input, Value, Options>,
): AsyncGenerator<Outcome<Input, Value>, void, undefined> {
  const callSite = captureCallSite(captureCallSite, manyFrames);
  assertOptions(kind, options);
  if (!isIterable(inputs)) {
    throw new RequestValidationError({ issues: [{ path: [what], message: "expected an iterable, such as an array" }] });
  }
  const { concurrency: atATime = concurrency, ...rest } = options;
  const each = { ...rest, priority: rest.priority ?? "low" };
  const one = async (input: Input, left: AbortSignal): Promise<Value> => {
    try {
      return await work(input, each, left);
    } catch (error) {
      throw withCallSite(error, callSite);
    }
  };
  yield* concurrently(inputs, atATime, one, options.signal);
}
