import * as z from "zod/mini";
import type { RenderReference } from "../../../references/references.ts";
import { reference } from "../../../references/schema.ts";
import { check } from "../../../schemas/check.ts";
import { open } from "../../../schemas/shape.ts";
import { isRecord } from "../../../schemas/type-guards.ts";
import type { ClientStore } from "../../../stores/client-store.ts";
import { fromJson, toJson } from "../../../stores/json.ts";
import { type Lease, takeLease } from "../../../stores/lease.ts";
import { type Render, type RenderInput, render } from "../renders.schema.ts";

/** What is remembered of a pair whose render was created. */
export interface RenderEntry {
  readonly version: 1;
  readonly reference: RenderReference;
  /** When the response to the creation arrived, in milliseconds since 1970. */
  readonly created: number;
  /** The render, once it is completed or failed. */
  readonly render?: Render | undefined;
}

const renderEntry = () =>
  open<RenderEntry>({
    version: z.literal(1),
    reference: reference("Render"),
    created: z.number(),
    render: z.optional(render()),
  });

function entryOf(value: unknown): RenderEntry | undefined {
  // The value itself: the copy of the check lacks the fields that this version does not know.
  if (check(renderEntry, value, []).ok) return value as RenderEntry;
  // With `responses: "report"` the render can be anything. Then only its reference counts, so that it is not created again.
  const checked = check(renderEntry, isRecord(value) ? { ...value, render: undefined } : value, []);
  return checked.ok ? (checked.value as RenderEntry) : undefined;
}

/** The key of a pair of composition and image. */
export const keyOfPair = ({ compositionReference, imageReference }: RenderInput): string =>
  `render:${compositionReference}:${imageReference}`;

/** The renders in the store. While a render is being created, its key holds the lease of the process that creates it. */
export class RenderEntries {
  readonly #store: ClientStore;
  /** The bytes of the entries that were read. */
  readonly #bytes = new WeakMap<RenderEntry, Uint8Array>();

  constructor(store: ClientStore) {
    this.#store = store;
  }

  /** Resolves to the entry of a pair, to "leased" while a process creates the render, and to undefined if it has neither. */
  async read(key: string): Promise<RenderEntry | "leased" | undefined> {
    const bytes = await this.#store.get(key);
    if (bytes === undefined) return undefined;
    const value = fromJson(bytes);
    if (value === undefined) return "leased";
    const entry = entryOf(value);
    if (entry !== undefined) {
      this.#bytes.set(entry, bytes);
      return entry;
    }
    // Another version of the SDK wrote it.
    await this.#store.delete(key, { expected: bytes });
    return undefined;
  }

  async write(key: string, entry: RenderEntry): Promise<void> {
    await this.#store.set(key, toJson(entry));
  }

  /** Forgets an entry that was read, unless another process has changed it. */
  async forget(key: string, entry: RenderEntry): Promise<void> {
    await this.#store.delete(key, { expected: this.#bytes.get(entry) });
  }

  lease(key: string, ttl: number): Promise<Lease | "lost" | undefined> {
    return takeLease(this.#store, key, ttl);
  }
}
