import type { CompositionReference } from "../../references/references.ts";
import type { Perspective } from "../../resources/perspectives/perspectives.endpoints.ts";
import type { Scene } from "../../resources/scenes/scenes.endpoints.ts";
import type { StoredProduct } from "./products.ts";

export interface StoredComposition {
  readonly reference: CompositionReference;
  readonly tokenCost: number;
  readonly scene: Scene;
  readonly product: StoredProduct;
  readonly perspective: Perspective;
}

type MakeOf = (product: StoredProduct) => readonly StoredComposition[];

/** The compositions of a catalog by reference. They are made at the first use, because their references are most of those of a catalog. */
export class Compositions {
  readonly #products: StoredProduct[];
  readonly #makeOf: MakeOf;
  #made: Map<string, StoredComposition> | undefined;

  constructor(products: readonly StoredProduct[], makeOf: MakeOf) {
    this.#products = [...products];
    this.#makeOf = makeOf;
  }

  get(reference: string): StoredComposition | undefined {
    return this.#all().get(reference);
  }

  values(): Iterable<StoredComposition> {
    return this.#all().values();
  }

  /** Adds the compositions that show a product. */
  add(product: StoredProduct): void {
    this.#products.push(product);
    this.#made = undefined;
  }

  /** Those that have nothing private. */
  shared(): Compositions {
    return new Compositions(
      this.#products.filter(({ group }) => !group.private),
      (product) => this.#makeOf(product).filter(({ scene }) => !scene.private),
    );
  }

  #all(): Map<string, StoredComposition> {
    this.#made ??= new Map(
      this.#products.flatMap(this.#makeOf).map((composition) => [composition.reference, composition]),
    );
    return this.#made;
  }
}
