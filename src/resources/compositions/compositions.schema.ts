import * as z from "zod/mini";
import type { CompositionReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A valid combination of scene, product and perspective (specification 2.9). Other fields are not shown and returned unchanged. */
export interface Composition {
  readonly reference: CompositionReference;
  /** Number of rendertokens that one render of the composition costs. */
  readonly tokenCost: number;
}
export const composition = () => open<Composition>({ reference: reference("Composition"), tokenCost: z.int() });
