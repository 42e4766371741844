import * as z from "zod/mini";
import { endpoint, field } from "../../http/endpoint.ts";
import type {
  CompositionReference,
  PerspectiveReference,
  ProductReference,
  SceneReference,
} from "../../references/references.ts";
import { open, reference } from "../../schemas/shape.ts";

/** The three references that identify a composition (specification 2.9). All are required. */
export interface CompositionParts {
  readonly sceneReference: SceneReference;
  readonly productReference: ProductReference;
  readonly perspectiveReference: PerspectiveReference;
}

/** A valid combination of scene, product and perspective (specification 2.9). Other fields are not shown and returned unchanged. */
export interface Composition {
  readonly reference: CompositionReference;
  /** Number of rendertokens that one render of the composition costs. */
  readonly tokenCost: number;
}
export const composition = () => open<Composition>({ reference: reference("Composition"), tokenCost: z.int() });

export const lookupComposition = endpoint({
  call: "compositions.lookup",
  method: "GET",
  path: "/lookup-composition",
  query: {
    sceneReference: () => reference("Scene"),
    productReference: () => reference("Product"),
    perspectiveReference: () => reference("Perspective"),
  },
  response: field("composition", composition),
  repeat: "safe",
});

export const getComposition = endpoint({
  call: "compositions.get",
  method: "GET",
  path: "/compositions/{compositionReference}",
  response: field("composition", composition),
  repeat: "safe",
});
