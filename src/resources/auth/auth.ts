import type { RequestOptions } from "../../http/request-options.ts";
import type { ApiCall, Send } from "../../http/send.ts";
import { type KeyValidation, validateKey } from "./auth.endpoints.ts";

/** Validates the secret key (specification 4.1, 5). */
export class AuthResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Checks the secret key with one request (specification 4.1).
   *
   * @throws `AuthenticationError` if the key is invalid.
   * @example
   * await partner.auth.validate();
   */
  validate(options?: RequestOptions): ApiCall<KeyValidation> {
    return this.#send(validateKey, {}, options);
  }
}
