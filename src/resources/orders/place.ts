import { ulid } from "ulid";
import * as z from "zod/mini";
import { ConflictError, hasErrorObject, NotFoundError } from "../../errors/api.ts";
import type { CallSite } from "../../errors/call-site.ts";
import type { Issue } from "../../errors/validation.ts";
import type { Call } from "../../http/call.ts";
import {
  type Created,
  createOnce,
  type Doubts,
  findOrCreate,
  lookUpOf,
  maxInDoubt,
  type Recovery,
  type Sending,
} from "../../http/create-once.ts";
import { lookUpUntil } from "../../http/look-up.ts";
import { refusesContent } from "../../http/outcome.ts";
import { snapshot } from "../../http/redact.ts";
import type { EncodedRequest } from "../../http/request.ts";
import { custom, optionFaults, type RequestOptions, withRequestOptions } from "../../http/request-options.ts";
import { type ApiCall, type CallContext, sendAndRead } from "../../http/send.ts";
import type { OrderReference } from "../../references/references.ts";
import type { Assumptions } from "../../schemas/assumptions.ts";
import type { Schema } from "../../schemas/shape.ts";
import { dateOf, type Moment, type PartnerClock } from "../../util/clock.ts";
import { KeyedMutex, type Outcome } from "../../util/concurrency.ts";
import { copied, splitFields, withFields } from "../../util/fields.ts";
import { propertyOf } from "../../util/foreign.ts";
import { Latest } from "../../util/latest.ts";
import { webCrypto } from "../../util/runtime.ts";
import { checkedMany, type ManyOptions, type ManyRows, many, manyRows, type Rows } from "../many.ts";
import { needsStorage, once } from "../once.ts";
import { assertSameOrder, type CompareMode } from "./order-differences.ts";
import { type CreatedOrder, createOrder, type lookupOrderBy, type OrderInput } from "./orders.endpoints.ts";
import { RecentOrders } from "./recent-orders.ts";

/** A placed order. */
export interface PlacedOrder {
  /** The order's reference. Store it: all other calls about the order need it. */
  readonly reference: OrderReference;
  /** Your identifier, or the ULID that the SDK generated. */
  readonly customIdentifier: string;
  /** True if `ensure` found the order, so that this call placed none. */
  readonly existed: boolean;
  /** True if this call placed the order, but its response was lost, and a look-up found the order. */
  readonly recovered: boolean;
}

/** A new order with your own identifier, by which `ensure` finds it after a restart. */
export type IdentifiedOrderInput = OrderInput & { readonly customIdentifier: string };

/** Options of {@link OrdersResource.ensure}. */
export interface EnsureOptions extends RequestOptions {
  /**
   * Milliseconds for which the look-up is repeated before the order is placed. Default 0: one look-up. You do not need it with a `storage`.
   *
   * Without a storage, set it if another process, such as a killed worker, may have sent the order a moment ago. The service may still be
   * processing that request, and one look-up can come too early. `assumptions.processingTime` is long enough: 30 000 by default. The
   * `deadline` of the call or of the client must be longer.
   */
  readonly lookFor?: number | undefined;
  /**
   * Whether the order is looked up before it is placed. Default true.
   *
   * Set it to `false` if every earlier attempt used this client's `storage`. An order that the storage does not know is then placed with one
   * request. Needs the client's option `storage`.
   */
  readonly lookFirst?: boolean | undefined;
  /**
   * The parts of an existing order to compare with the requested order. A difference throws `OrderMismatchError`. Default `"all"`.
   *
   * - `"all"`: the lines with their annotations, and the address. Costs two more requests, or one for a combined order. An address that
   *   cannot be read is not compared.
   * - `"lines"`: the lines (product, image, quantity), for orders whose address may have been replaced. Costs one more request.
   * - `false`: nothing.
   */
  readonly compare?: "all" | "lines" | false | undefined;
}

/** What a client remembers of the orders that it places and changes. */
export interface OrdersMemory {
  readonly recent: RecentOrders;
  readonly mutex: KeyedMutex;
  /** The changes whose outcomes are unknown, by endpoint, URL and body. */
  readonly inDoubt: Doubts;
}

export const createOrdersMemory = (clock: PartnerClock, processingTime: number): OrdersMemory => ({
  recent: new RecentOrders(clock, processingTime),
  mutex: new KeyedMutex(),
  inDoubt: new Latest(maxInDoubt),
});

/** What placing and changing an order needs of the client. */
export interface OrdersContext extends CallContext, OrdersMemory {
  readonly assumptions: Assumptions;
  readonly lookupEndpoint: ReturnType<typeof lookupOrderBy>;
}

/** A random number from 0 to 1. By default, ulid uses the global `crypto`, which a program may have replaced. */
const random = (): number => (webCrypto().getRandomValues(new Uint8Array(1))[0] ?? 0) / 256;

/** Adds a ULID to an order without an identifier. */
function identified(order: OrderInput, clock: PartnerClock): OrderInput {
  if (propertyOf(order, "customIdentifier") !== undefined) return order;
  const customIdentifier = ulid(Math.max(1, Math.floor(dateOf(clock))), random);
  return withFields(order, (fields) => Object.assign(fields, { customIdentifier }));
}

/** Places a new order, at most once. */
export function create(context: OrdersContext, order: OrderInput, options?: RequestOptions): ApiCall<PlacedOrder> {
  return place(context, copied(order), options);
}

/** Looks up an order, and places it if it does not exist. */
export function ensure(
  context: OrdersContext,
  order: IdentifiedOrderInput,
  options: EnsureOptions = {},
): ApiCall<PlacedOrder> {
  const [own, rest] = splitFields(options, "lookFor", "lookFirst", "compare");
  const { lookFor = 0, lookFirst = true, compare = "all" } = own;
  // The caller's object may change while the call waits.
  const copy = copied(order);
  const missing = copy !== order && copy.customIdentifier === undefined ? [missingIdentifier] : [];
  const alone = lookFirst === false && context.shared === undefined ? [needsStorage("lookFirst")] : [];
  const faults = [...missing, ...alone, ...optionFaults(own, ensureOptions)];
  return place(context, copy, rest, { lookFor, lookFirst, compare, faults });
}

/** How `ensure` places an order. */
interface Ensuring {
  readonly lookFor: number;
  readonly lookFirst: boolean;
  readonly compare: CompareMode | false;
  readonly faults: readonly Issue[];
}

/** Places an order at most once. With `ensuring`, the order is looked up first, and an existing one is compared. */
function place(
  context: OrdersContext,
  order: OrderInput,
  options: RequestOptions | undefined,
  ensuring?: Ensuring,
): ApiCall<PlacedOrder> {
  const { recent, mutex } = context;
  return context.start(createOrder, options, async (call) => {
    if (ensuring) noteDoubt(context, order, ensuring, call.core.clock.now());
    const body = ensuring ? order : identified(order, call.core.clock);
    const request = call.encode({ body, faults: ensuring ? faultsOf(call, ensuring) : [] });
    const sent = call.contentOf(request);
    const customIdentifier = String(propertyOf(sent, "customIdentifier"));
    const recovery = orderRecovery(context, customIdentifier, ensuring !== undefined);
    // No other process knows an identifier that was just generated.
    const shared = propertyOf(order, "customIdentifier") === undefined ? undefined : context.shared;
    const make = async (sending: Sending, sent: Moment | undefined) => {
      const doubt = recent.doubt(customIdentifier);
      const isKnownNew = sending.note !== undefined && ensuring?.lookFirst === false;
      const looks = doubt !== undefined || sent !== undefined || (ensuring !== undefined && !isKnownNew);
      return looks
        ? findOrPlace(call, request, recovery, doubt ?? 0, sending)
        : createOnce(call, request, recovery, sending);
    };
    const run = async () => {
      try {
        const identity = { kind: "order", identifier: customIdentifier, content: sent, isKept: true } as const;
        const placed = await once(call, shared, { ...identity, recovery, make });
        const { data, response, existed, recovered, known } = placed;
        const compare = ensuring ? ensuring.compare : existed && "all";
        if (compare && (existed || recovered) && known !== "same") {
          await assertSameOrder(call, context.send, data.reference, { customIdentifier, order: sent }, compare);
        }
        recent.record(customIdentifier, { data, response });
        // Unknown fields of the response are kept.
        return { data: { ...data, customIdentifier, existed, recovered }, response };
      } catch (error) {
        const { doubt } = call.attempts;
        if (doubt !== undefined) recent.suspect(customIdentifier, doubt.until);
        throw error;
      }
    };
    // Calls with the same identifier, of `create` and of `ensure`, run one at a time: the second finds the order of the first.
    return mutex.take(customIdentifier, run, (turn) => call.within(turn));
  });
}

/** Records until when another process's order may still be created, also for later calls that place the order. */
function noteDoubt({ recent }: OrdersContext, order: OrderInput, { lookFor, faults }: Ensuring, now: number): void {
  const customIdentifier = propertyOf(order, "customIdentifier");
  if (faults.length > 0 || lookFor === 0 || typeof customIdentifier !== "string") return;
  recent.suspect(customIdentifier, now + lookFor);
}

/** The faults of the options of `ensure`. Whether `lookFor` is a number was checked before. */
function faultsOf({ scope }: Call, { faults, lookFor }: Ensuring): readonly Issue[] {
  const isTooLong = faults.length === 0 && lookFor > 0 && lookFor >= scope.remaining();
  return isTooLong ? [neverPlaced] : faults;
}

/** Looks up an order for `time` milliseconds, and places it if it does not exist. */
async function findOrPlace(
  call: Call<never, CreatedOrder>,
  request: EncodedRequest,
  recovery: Recovery<CreatedOrder>,
  time: number,
  sending: Sending,
): Promise<Created<CreatedOrder>> {
  try {
    return await findOrCreate(call, request, recovery, time, sending);
  } catch (error) {
    // The error of a look-up has another endpoint.
    const isOwn = error instanceof ConflictError && (error.endpoint ?? call.name) === call.name;
    if (!isOwn || refusesContent(error)) throw error;
    // Another process may have placed the order since the look-up, or a gateway may have sent the request twice.
    const found = await lookUpUntil(call, call.core.lookupTime, lookUpOf(call, recovery));
    if (!found) throw error;
    return { ...found, existed: true, recovered: false };
  }
}

const lookupQuery = ({ assumptions }: OrdersContext, by: { readonly customIdentifier: string }) =>
  withFields(by, ({ customIdentifier, ...unknown }) => ({
    [assumptions.customIdentifierParameter]: customIdentifier,
    ...unknown,
  }));

/** Looks up an order by its custom identifier. */
export function lookup(
  context: OrdersContext,
  by: { readonly customIdentifier: string },
  options?: RequestOptions,
): ApiCall<OrderReference> {
  return context.start(context.lookupEndpoint, options, async (call) => {
    const { data, response } = await sendAndRead(call, { query: lookupQuery(context, by) });
    if (data !== null) return { data, response };
    throw new NotFoundError({
      endpoint: call.name,
      message: "no order has this customIdentifier",
      response: snapshot(response.status, response.headers, "", call.core.redact),
    });
  });
}

/** Whether the error of a look-up means that there is no order. A 404 without an error object can come from a proxy, and proves nothing. */
function saysNoOrder(error: unknown, { noOrder }: Assumptions): boolean {
  if (!(error instanceof NotFoundError)) return false;
  return error.response.body === undefined
    ? noOrder.includes("bare-404")
    : noOrder.includes("404") && hasErrorObject(error);
}

/** Finds an order by its custom identifier after the response was lost. */
const orderRecovery = (
  context: OrdersContext,
  customIdentifier: string,
  repeatable: boolean,
): Recovery<CreatedOrder> => ({
  lookUp: async (options) => {
    const { send, lookupEndpoint, assumptions, recent } = context;
    const query = lookupQuery(context, { customIdentifier });
    try {
      const { data, response } = await send(lookupEndpoint, { query }, options, { internal: true }).withResponse();
      if (data !== null) return { data: { reference: data }, response };
    } catch (error) {
      if (!saysNoOrder(error, assumptions)) throw error;
    }
    return recent.known(customIdentifier);
  },
  repeatable,
  identifiers: { customIdentifier },
  how: `Call \`orders.ensure\` with the same customIdentifier (${customIdentifier}): it looks up the order before it creates one.`,
});

const missingIdentifier: Issue = {
  path: ["order", "customIdentifier"],
  message: "is required: `ensure` uses it to find the order. Set your own identifier, unique per order",
};

const ensuringOptions = () => ({
  lookFirst: z.optional(z.boolean()),
  lookFor: z.optional(z.number().check(z.nonnegative({ error: "expected a number of milliseconds from 0" }))),
  compare: custom(
    (value) => value === "all" || value === "lines" || value === false,
    'expected "all", "lines" or false',
  ),
});

const ensureOptions: Schema = () => z.strictObject(ensuringOptions());

const neverPlaced: Issue = {
  path: ["lookFor"],
  message: "must be shorter than the `deadline` of the call: it would end before the order is placed",
};

/** Options of {@link OrdersResource.ensureMany}. */
export interface EnsureManyOptions extends ManyOptions, EnsureOptions {
  /** Maximum number of orders at the same time. Default 8. */
  readonly concurrency?: number | undefined;
}

const ensureManyOptions = withRequestOptions(() => ({ ...ensuringOptions(), ...manyRows() }));

/** Ensures that the order of each row exists. */
export async function* ensureRows(
  context: OrdersContext,
  rows: Rows<unknown>,
  options: ManyRows<IdentifiedOrderInput, EnsureManyOptions>,
  callSite: CallSite,
): AsyncGenerator<Outcome<unknown, PlacedOrder>, void, undefined> {
  const checked = checkedMany(ensureManyOptions, rows, options);
  // No signal of the loop: a started creation is finished even if the caller leaves the loop.
  const work = (order: IdentifiedOrderInput, each: EnsureOptions) => ensure(context, order, each);
  yield* many(rows, checked, { concurrency: 8, priority: context.priority, work, callSite });
}
