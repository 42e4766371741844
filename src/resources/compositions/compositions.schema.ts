import * as z from "zod/mini";
import type { CompositionReference } from "../../references/references.ts";
import { reference } from "../../references/schema.ts";
import { open } from "../../schemas/shape.ts";

/** A valid combination of scene, product and perspective (specification 2.9). Further fields are not shown. */
export interface Composition {
  readonly reference: CompositionReference;
  /** Rendertokens that one render of it consumes. */
  readonly tokenCost: number;
}
export const composition = () => open<Composition>({ reference: reference("Composition"), tokenCost: z.int() });
