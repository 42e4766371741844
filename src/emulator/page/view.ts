/** What the page shows, as JSON. Points in time are milliseconds since 1970, by the emulator's clock. The page's script reads these types, too. */

/** The newest records of a list, with the number of all. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

export interface ClockView {
  readonly now: number;
  readonly frozen: boolean;
  /** Emulated milliseconds for each real one. */
  readonly speed: number;
}

export interface LimitView {
  readonly policy: string;
  readonly quota: number;
  /** Milliseconds in which an empty bucket refills. */
  readonly window: number;
  readonly remaining: number;
}

export interface RendertokensView {
  readonly used: number;
  readonly limit: number;
  readonly remaining: number;
  readonly resets: string;
}

export interface LineView {
  readonly index: number;
  readonly product: string;
  readonly quantity: number;
  readonly shipped: number;
  readonly canceled: number;
}

export interface ShipmentView {
  readonly reference: string;
  readonly shipped: number;
  readonly units: number;
  readonly carrier: string | null;
  readonly trackingNumber: string | null;
}

export interface OrderView {
  readonly reference: string;
  readonly customIdentifier: string | null;
  readonly legacyOrderCode: string;
  readonly created: number;
  readonly store: string;
  readonly shippingKind: string;
  readonly status: string;
  readonly onHold: string | null;
  readonly inProduction: boolean;
  /** The claim that this order is the replacement of. */
  readonly settles: string | null;
  readonly lines: readonly LineView[];
  readonly shipments: readonly ShipmentView[];
}

export interface RenderView {
  readonly reference: string;
  readonly status: "pending" | "completed" | "failed";
  readonly created: number;
  /** The time at which a pending render finishes by itself, or at which the render was finished. */
  readonly finished: number;
  readonly product: string;
  readonly scene: string;
  readonly tokenCost: number;
  /** The path of the picture; null until the render is completed. */
  readonly picture: string | null;
}

export interface ClaimlineView {
  readonly index: number;
  readonly product: string;
  readonly quantity: number;
  readonly category: string;
  /** The paths of the photos. */
  readonly evidence: readonly string[];
}

export interface ClaimView {
  readonly reference: string;
  readonly order: string;
  readonly orderName: string;
  readonly status: string;
  readonly comment: string;
  readonly created: number;
  readonly closed: number | null;
  readonly award: string | null;
  readonly decisionComment: string;
  readonly replacement: string | null;
  /** The paths of the photos of the whole claim. */
  readonly evidence: readonly string[];
  readonly lines: readonly ClaimlineView[];
}

export interface TryView {
  readonly at: number;
  /** The status of the response, or why there was none. */
  readonly outcome: string;
  readonly ok: boolean;
  /** Milliseconds. */
  readonly duration: number;
  /** The start of the body of a response that was not 2xx. */
  readonly body: string | null;
}

export interface StoreView {
  readonly reference: string;
  readonly name: string;
  readonly integration: string;
  readonly callbackUrl: string | null;
}

export interface CallbackView {
  readonly id: number;
  readonly order: string;
  readonly orderName: string;
  readonly url: string;
  readonly status: "waiting" | "delivered" | "stopped";
  /** The time of the next try; null if no try follows. */
  readonly due: number | null;
  /** The number of all tries. `tries` has the latest. */
  readonly tried: number;
  readonly tries: readonly TryView[];
}

export interface ProductView {
  readonly reference: string;
  readonly name: string;
  readonly status: string;
  readonly available: number | null;
  readonly legacySku: string;
  /** The path of its example picture. */
  readonly picture: string;
}

/** Something that happened beside the requests: a control, a step of the automation, a callback. */
export interface MarkView {
  readonly id: number;
  /** The name of the control; `callback` for a callback. */
  readonly name: string;
  readonly text: string;
  /** The records that it is about. */
  readonly references: readonly string[];
  readonly failed: boolean;
  readonly time: number;
  /** The id of the latest request before it; 0 before the first. */
  readonly after: number;
}

/** What the operator does by itself, in milliseconds after the step before. Null for a step that only a control takes. */
export interface AutomationView {
  readonly production: number | null;
  readonly shipping: number | null;
  readonly review: number | null;
  readonly decision: string | null;
}

export interface FaultView {
  /** As it was added, to add it again. */
  readonly fault: object;
  readonly id: number;
  readonly on: string | null;
  readonly nth: string | null;
  readonly kind: string;
  readonly details: string;
  /** Whether it has struck the one request that it was for. */
  readonly isSpent: boolean;
  readonly hits: number;
}

/** The response to `GET /_emulator/state`. */
export interface PageState {
  /** The name of the organization that the limits, records and stores belong to. */
  readonly organization: string;
  /** The names of all organizations. */
  readonly organizations: readonly string[];
  readonly baseUrl: string;
  readonly environment: string;
  readonly clock: ClockView;
  readonly limits: readonly LimitView[];
  readonly rendertokens: RendertokensView;
  readonly orders: Listed<OrderView>;
  readonly renders: Listed<RenderView>;
  readonly claims: Listed<ClaimView>;
  readonly callbacks: Listed<CallbackView>;
  readonly stores: readonly StoreView[];
  readonly products: Listed<ProductView>;
  readonly automation: AutomationView;
  /** The work that is due next; null without any. */
  readonly next: { readonly at: number; readonly name: string; readonly references: readonly string[] } | null;
  /** What happened beside the requests, oldest first. */
  readonly marks: readonly MarkView[];
  /** The names of the isolated worlds of the same port. */
  readonly worlds: readonly string[];
  readonly faults: readonly FaultView[];
  readonly checkpoints: readonly string[];
  /** The body of a `POST /orders` that the emulator accepts, for a first request to paste; null if no store accepts orders. */
  readonly exampleOrder: object | null;
  /** The calls that a fault can apply to: `orders.create`. */
  readonly calls: readonly string[];
}

/** A control as `GET /_emulator` lists it. */
export interface ControlView {
  readonly name: string;
  readonly about: string;
  readonly on?: string;
  readonly required: readonly string[];
  /** A JSON Schema. */
  readonly input: object;
}
