import * as z from "zod/mini";
import { open } from "../../schemas/shape.ts";

/** The result of a key validation (specification 4.1). */
export interface KeyValidation {
  /** The service's message for a valid key. */
  readonly message?: string | null;
}

export const keyValidation = () => open<KeyValidation>({ message: z.nullish(z.string()) });
