import * as z from "zod/mini";
import { open } from "../../schemas/shape.ts";

/** The answer to a check of the key (specification 4.1). */
export interface KeyValidation {
  /** The service's words for a valid key. */
  readonly message: string;
}

export const keyValidation = () => open<KeyValidation>({ message: z.string() });
