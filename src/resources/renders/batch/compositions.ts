import { GoneError, NotFoundError } from "../../../errors/api.ts";
import { check } from "../../../schemas/check.ts";
import type { ClientStore } from "../../../stores/client-store.ts";
import { fromJson, toJson } from "../../../stores/json.ts";
import { type Composition, composition } from "../../compositions/compositions.schema.ts";
import type { BatchCalls } from "./calls.ts";
import type { MockupInput } from "./input.ts";
import { Latest } from "./latest.ts";
import type { RowWork } from "./row-work.ts";

/** Compositions that one batch keeps in memory. */
const most = 2_000;
/** Milliseconds after which a composition is looked up again: its `tokenCost` may change. */
const lifetime = 24 * 3_600_000;

const keyOf = ({ compositionReference, sceneReference, productReference, perspectiveReference }: MockupInput): string =>
  `composition:${compositionReference ?? `${sceneReference}:${productReference}:${perspectiveReference}`}`;

/** Whether the service said that a composition cannot be used. */
const isFinal = (error: unknown): boolean => error instanceof NotFoundError || error instanceof GoneError;

/** Looks up each composition once and remembers it. That one does not exist is remembered for the batch only, because it may change. */
export class Compositions {
  readonly #calls: BatchCalls;
  readonly #store: ClientStore;
  readonly #known = new Latest<Promise<Composition>>(most);

  constructor(calls: BatchCalls, store: ClientStore) {
    this.#calls = calls;
    this.#store = store;
  }

  /** Resolves to the composition of an input. Rows that need it at the same time share the look-up. */
  of(input: MockupInput, row: RowWork): Promise<Composition> {
    const key = keyOf(input);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = this.#find(key, input, row);
    this.#known.set(key, found);
    found.catch((error: unknown) => {
      if (!isFinal(error)) this.#known.forget(key, found);
    });
    return found;
  }

  async #find(key: string, input: MockupInput, row: RowWork): Promise<Composition> {
    const stored = check(composition, fromJson(await this.#store.get(key)), []);
    if (stored.ok) return stored.value as Composition;
    const { reference, tokenCost } = await (input.compositionReference === undefined
      ? this.#calls.lookup(input, row.reading())
      : this.#calls.composition(input.compositionReference, row.reading()));
    await this.#store.set(key, toJson({ reference, tokenCost }), { ttl: lifetime });
    return { reference, tokenCost };
  }
}
