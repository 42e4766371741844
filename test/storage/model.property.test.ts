import fc from "fast-check";
import type { KeyValueStorage } from "pod-partner";
import { expect, it } from "vitest";
import { describeEachStorage, keysOf } from "./storages.ts";

interface Entry {
  readonly value: Uint8Array;
  readonly until: number;
}

/** The lifetimes end between two steps of the time, so that the time which the test takes does not matter. */
const step = 100_000;

const key = fc.constantFrom("a", "a:1", "a:2", "ab", "b", "b*", "b?[x-z]");
const value = fc.constantFrom(new Uint8Array(), Uint8Array.of(0), Uint8Array.of(0xff, 0), Uint8Array.of(0xff, 0, 1));
const expected = fc.oneof(fc.constant(undefined), fc.constant(null), value);
const ttl = fc.option(
  fc.integer({ min: 0, max: 3 }).map((steps) => steps * step + step / 2),
  { nil: undefined },
);
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("set" as const), key, value, expected, ttl }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("get" as const), key }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("delete" as const), key, expected }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("keys" as const), prefix: fc.constantFrom("", "a", "a:", "b", "b*") }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("pass" as const), steps: fc.integer({ min: 1, max: 2 }) }) },
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

/** What the interface promises, in the simplest way. */
class Model {
  readonly #entries = new Map<string, Entry>();
  now = 0;

  run(command: Exclude<Command, { type: "pass" }>): unknown {
    if (command.type === "keys")
      return [...this.#entries.keys()].filter((key) => this.#meets(command.prefix, key)).sort();
    const held = this.#held(command.key);
    if (command.type === "get") return held;
    const { expected } = command;
    const meets =
      expected === undefined ||
      (expected === null ? held === undefined : `${expected}` === `${held}` && held !== undefined);
    if (command.type === "delete") return meets && held !== undefined && this.#entries.delete(command.key);
    if (meets)
      this.#entries.set(command.key, {
        value: command.value,
        until: this.now + (command.ttl ?? Number.POSITIVE_INFINITY),
      });
    return meets;
  }

  #held(key: string): Uint8Array | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.until > this.now ? entry.value : undefined;
  }

  #meets(prefix: string, key: string): boolean {
    return key.startsWith(prefix) && this.#held(key) !== undefined;
  }
}

function run(storage: KeyValueStorage, root: string, command: Exclude<Command, { type: "pass" }>): Promise<unknown> {
  if (command.type === "get") return storage.get(root + command.key);
  if (command.type === "delete") return storage.delete(root + command.key, command);
  if (command.type === "set") return storage.set(root + command.key, command.value, command);
  return keysOf(storage, root + command.prefix).then((keys) => keys.map((name) => name.slice(root.length)));
}

let runs = 0;

describeEachStorage("a storage is a map with lifetimes", ({ open, pass }, kind) => {
  // PGlite takes long to start, and runs the statements that Postgres runs.
  it.skipIf(kind === "pglite")("for any sequence of operations of two processes", async () => {
    const stores = [open(), open()];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), command), { maxLength: 40 }), async (commands) => {
        const model = new Model();
        runs += 1;
        for (const [index, each] of commands) {
          if (each.type === "pass") {
            model.now += each.steps * step;
            await pass(each.steps * step);
          } else {
            expect(await run(stores[index] ?? open(), `${runs}/`, each)).toEqual(model.run(each));
          }
        }
        for (const name of await keysOf(open(), `${runs}/`)) await open().delete(name);
      }),
      { numRuns: kind === "memory" ? 300 : 20 },
    );
  });
});
