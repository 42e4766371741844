import type { ApiCall } from "../../http/call/call.ts";
import type { Send } from "../../http/call/core.ts";
import type { RequestOptions } from "../../http/endpoint/request-options.ts";
import { validateKey } from "./auth.endpoints.ts";
import type { KeyValidation } from "./auth.schema.ts";

/** The secret key (specification 4.1, 5). */
export class AuthResource {
  readonly #send: Send;

  /** @internal */
  constructor(send: Send) {
    this.#send = send;
  }

  /**
   * Asks the service whether the key is valid.
   *
   * @throws `AuthenticationError` when it is not.
   */
  validate(options?: RequestOptions): ApiCall<KeyValidation> {
    return this.#send(validateKey, {}, options);
  }
}
