import type { OrderReference } from "../references/references.ts";
import type { Order } from "../resources/orders/orders.schema.ts";
import { propertyOf, safely, textOf } from "../util/foreign.ts";
import { OrderFollowerError } from "./follower/errors.ts";
import { saysGone } from "./gone.ts";
import { callHandler, deadlockHint } from "./handlers.ts";
import { MissLimit } from "./misses.ts";
import type { OrderUpdated, ReceiverSettings } from "./options.ts";
import type { OrderUpdatedParameters } from "./parameters.ts";
import { acknowledged, type CallbackResponse, failed, overloaded } from "./response.ts";
import { withTimeout } from "./timeout.ts";

/** A field of the order, which is certain; otherwise what the callback claims. */
const fieldOr = (order: Order, name: "customIdentifier" | "viaStoreCode", claim: string | undefined) =>
  propertyOf(order, name) === undefined ? claim : textOf(order, name);

/** The store's code as the order's v1 code contains it: `<store_code>-<number>` (specification 2.4). */
const storeCodeOf = ({ legacyOrderCode }: Order): string | undefined => /^(.+)-\d+$/.exec(legacyOrderCode)?.[1];

type HandlerSettings = Extract<ReceiverSettings, { readonly partner: unknown }>;

const missingError = (reference: OrderReference) =>
  new OrderFollowerError({
    fault: "missing",
    message: `The service has no order ${reference}, and it is not followed.`,
  });

/** Fetches the order of a callback and hands it over. */
export class Delivery {
  readonly #settings: ReceiverSettings;
  readonly #misses: MissLimit;

  constructor(settings: ReceiverSettings) {
    this.#settings = settings;
    this.#misses = new MissLimit(settings.clock);
  }

  /** Ends within `timeout` and never rejects: what goes wrong is reported. */
  async deliver(claim: OrderUpdatedParameters): Promise<CallbackResponse> {
    if (this.#misses.reached) return overloaded;
    const { clock, timeout } = this.#settings;
    const message = `The order was not fetched and handled within ${timeout} ms (option \`timeout\` of the receiver). ${deadlockHint}`;
    try {
      return await withTimeout(clock, timeout, message, (signal) => {
        const work = this.#handle(claim, signal);
        // A handler that ignores the signal may fail after its response.
        work.catch((error: unknown) => {
          if (signal.aborted && error !== signal.reason) this.report(claim, error, 503);
        });
        return work;
      });
    } catch (error) {
      return this.report(claim, error, 503);
    }
  }

  /** The follower reads the order under its own lock, so that one request is enough. */
  async #handle(claim: OrderUpdatedParameters, signal: AbortSignal): Promise<CallbackResponse> {
    const settings = this.#settings;
    const { orderReference } = claim;
    if (!("follower" in settings)) return this.#fetchAndHandle(settings, claim, signal);
    const found = await callHandler(settings, orderReference, signal, () => settings.follower.update(orderReference));
    if (found === "gone" || found === "missing") this.#misses.count();
    return found === "missing" ? this.report(claim, missingError(orderReference), 204) : acknowledged;
  }

  async #fetchAndHandle(
    { partner, onOrderUpdated, timeout }: HandlerSettings,
    claim: OrderUpdatedParameters,
    signal: AbortSignal,
  ): Promise<CallbackResponse> {
    const { orderReference } = claim;
    let order: Order;
    try {
      order = await partner.orders.get(orderReference, { priority: "high", deadline: timeout, signal });
    } catch (error) {
      if (!saysGone(error)) throw error;
      this.#misses.count();
      return this.report(claim, error, 204);
    }
    signal.throwIfAborted();
    const update = updateOf(order, claim, signal);
    await callHandler(this.#settings, orderReference, signal, () => onOrderUpdated(update));
    return acknowledged;
  }

  /** Reports a callback whose order was not handled. */
  report({ orderReference }: OrderUpdatedParameters, error: unknown, status: 204 | 503): CallbackResponse {
    safely(
      () => this.#settings.onError({ orderReference, error, status }),
      () => undefined,
    );
    return status === 204 ? acknowledged : failed;
  }
}

function updateOf(order: Order, claim: OrderUpdatedParameters, signal: AbortSignal): OrderUpdated {
  return {
    order,
    orderReference: claim.orderReference,
    customIdentifier: fieldOr(order, "customIdentifier", claim.customIdentifier),
    storeCode: storeCodeOf(order) ?? claim.storeCode,
    viaStoreCode: fieldOr(order, "viaStoreCode", claim.viaStoreCode),
    environment: claim.environment,
    signal,
  };
}
