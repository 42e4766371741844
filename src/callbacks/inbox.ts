import { Delivery } from "./delivery.ts";
import { CallbackValidationError } from "./errors.ts";
import { refuseInHandler } from "./handlers.ts";
import type { ReceiverSettings } from "./options.ts";
import { isTooLong, lastOf, type OrderUpdatedParameters, parseOrderUpdated, queryOf } from "./parameters.ts";
import { badRequest, type CallbackResponse, closed, overloaded, tooLong, wrongMethod, wrongToken } from "./response.ts";
import { Rounds } from "./rounds.ts";
import { createTokenCheck } from "./token.ts";

/** The most callbacks that wait or are in work. Each holds a connection and some kilobytes. */
const mostOpen = 1_000;

/** Checks callbacks and decides on their responses, for any kind of server. */
export class Inbox {
  readonly #settings: ReceiverSettings;
  readonly #isToken: ((given: string | undefined) => Promise<boolean>) | undefined;
  readonly #delivery: Delivery;
  readonly #rounds: Rounds<OrderUpdatedParameters, CallbackResponse>;
  readonly #idle = Promise.withResolvers<void>();
  #open = 0;
  #closed = false;

  constructor(settings: ReceiverSettings) {
    const { token, clock, concurrency, timeout } = settings;
    this.#delivery = new Delivery(settings);
    this.#settings = settings;
    this.#isToken = token === undefined ? undefined : createTokenCheck(token);
    this.#rounds = new Rounds({
      clock,
      concurrency,
      maxWait: timeout,
      onLate: () => overloaded,
      work: (claim) => this.#delivery.deliver(claim),
    });
  }

  /** The token comes before the parameters: a caller without it learns nothing about the receiver, and costs nothing. */
  async receive(method: string | undefined, url: string | undefined): Promise<CallbackResponse> {
    if (method !== "GET") return wrongMethod;
    // To read a query of megabytes takes long.
    if (isTooLong(url ?? "")) return tooLong;
    if (this.#isToken !== undefined && !(await this.#isToken(lastOf(queryOf(url), "token")))) return wrongToken;
    const claim = this.#read(url ?? "");
    if ("status" in claim) return claim;
    if (this.#closed) return closed;
    return this.#open >= mostOpen ? overloaded : this.#join(claim);
  }

  /** Refuses new callbacks, and waits for all that were accepted. */
  async close(): Promise<void> {
    refuseInHandler(this.#settings, "`close` of the receiver");
    this.#closed = true;
    this.#checkIdle();
    await this.#idle.promise;
  }

  #read(url: string): OrderUpdatedParameters | CallbackResponse {
    const { environment } = this.#settings;
    try {
      const claim = parseOrderUpdated(url);
      if (environment === undefined || claim.environment === environment) return claim;
      return badRequest(`This receiver accepts only callbacks of the environment ${environment}.`);
    } catch (error) {
      if (CallbackValidationError.isInstance(error)) return badRequest(error.message);
      throw error;
    }
  }

  async #join(claim: OrderUpdatedParameters): Promise<CallbackResponse> {
    this.#open += 1;
    try {
      refuseInHandler(this.#settings, "A callback of this order", claim.orderReference);
      return await this.#rounds.join(claim.orderReference, claim);
    } catch (error) {
      return this.#delivery.report(claim, error, 503);
    } finally {
      this.#open -= 1;
      this.#checkIdle();
    }
  }

  #checkIdle(): void {
    if (this.#closed && this.#open === 0) this.#idle.resolve();
  }
}
