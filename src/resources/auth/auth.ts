import * as z from "zod/mini";
import { endpoint } from "../../http/endpoint.ts";
import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, CallContext } from "../../http/send.ts";
import { open, text } from "../../schemas/shape.ts";

/** The result of a key validation (specification 4.1). */
export interface KeyValidation {
  /** The service's message for a valid key. */
  readonly message?: string | null;
}

const keyValidation = () => open<KeyValidation>({ message: z.nullish(text()) });

export const validateKey = endpoint<"/auth/validate", KeyValidation>({
  call: "auth.validate",
  method: "POST",
  path: "/auth/validate",
  response: { kind: "whole", schema: keyValidation },
  repeat: "safe",
});

/** Validates the secret key (specification 4.1, 5). */
export class AuthResource {
  readonly #context: CallContext;

  /** @internal */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Checks the secret key with one request (specification 4.1).
   *
   * @throws `AuthenticationError` if the key is invalid.
   * @example
   * await partner.auth.validate();
   */
  validate(options?: RequestOptions): ApiCall<KeyValidation> {
    return this.#context.send(validateKey, {}, options);
  }
}
