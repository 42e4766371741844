import * as z from "zod/mini";
import { endpoint } from "../../http/endpoint.ts";
import { open } from "../../schemas/shape.ts";

/** The result of a key validation (specification 4.1). */
export interface KeyValidation {
  /** The service's message for a valid key. */
  readonly message?: string | null;
}

const keyValidation = () => open<KeyValidation>({ message: z.nullish(z.string()) });

export const validateKey = endpoint<"/auth/validate", KeyValidation>({
  call: "auth.validate",
  method: "POST",
  path: "/auth/validate",
  response: { kind: "whole", schema: keyValidation },
  repeat: "safe",
});
