import { type OrderReference, type PodPartner, PodPartnerError } from "pod-partner";
import { createEmulator, createManualClock, type Emulator, type Fault, validAddress } from "pod-partner/testing";
import { PodPartner as Client } from "../../../src/index.ts";
import { harsh } from "../../support/harsh.ts";
import { settle } from "../../support/settle.ts";
import type { Settled } from "./subjects.ts";

/** What the order shows at the end: the canceled units of its four, or whose address it has. */
type Shown = number | "old address" | "new address" | "another address";

/** The outcome of the call, and what the order shows at the end. */
type Cell = readonly [outcome: string, shown: Shown];

/** How a response is lost: the fault if the service has carried the request out, and if it has not. */
interface Loss {
  readonly name: string;
  readonly after: Fault;
  readonly before: Fault;
}

const hour = 3_600_000;
const html = { fault: "body", body: "<title>Sign in</title>", type: "text/html" } as const;

export const losses: readonly Loss[] = [
  ...[500, 502, 503, 504, 408].map((status): Loss => {
    const fault = { fault: "status", status } as const;
    return { name: String(status), after: fault, before: { ...fault, when: "before" } };
  }),
  { name: "a broken connection", after: { fault: "drop" }, before: { fault: "drop", when: "before" } },
  {
    name: "a timeout",
    after: { fault: "slow", ms: hour },
    before: { fault: "slow", ms: hour, when: "before" },
  },
  ...([301, 302, 303] as const).map((status): Loss => {
    const fault = { fault: "redirect", location: "/v2/elsewhere", status } as const;
    return { name: String(status), after: fault, before: { ...fault, when: "before" } };
  }),
  { name: "200 with HTML", after: html, before: { ...html, when: "before" } },
];

/** What happens to the order between the two attempts. */
interface Move {
  readonly name: string;
  readonly happen: (emulator: Emulator, order: OrderReference, other: PodPartner) => unknown;
}

const shipRest = (emulator: Emulator, order: OrderReference) => {
  try {
    emulator.ship(order);
  } catch {
    // Everything is canceled.
  }
};
const cancelRest = (_: Emulator, order: OrderReference, other: PodPartner) => other.orders.cancelRemaining(order);
const another = validAddress({ streetname: "Rokin", housenumber: "9" });

const moves: Readonly<Record<string, Move>> = {
  nothing: { name: "nothing", happen: () => undefined },
  ships: { name: "it ships", happen: shipRest },
  shipsInPart: {
    name: "a unit of it ships, if one is open",
    happen: async (emulator, order, other) => {
      const [line] = (await other.orders.get(order)).orderlines;
      if (line !== undefined && line.canceledQuantity < line.quantity)
        emulator.ship(order, { lines: [{ index: 1, quantity: 1 }] });
    },
  },
  produced: { name: "it goes into production", happen: (emulator, order) => emulator.startProduction(order) },
  canceled: { name: "another client cancels the rest", happen: cancelRest },
  replaced: {
    name: "another client replaces the address, and it ships",
    happen: async (emulator, order, other) => {
      await other.orders.replaceDropshipAddress(order, another).catch(() => undefined);
      shipRest(emulator, order);
    },
  },
};

/** A change of an order of four units. */
export interface ChangeSubject {
  readonly name: string;
  readonly on: string;
  readonly call: (partner: PodPartner, order: OrderReference) => { withResponse(): Promise<Settled> };
  readonly show: (partner: PodPartner, order: OrderReference) => Promise<Shown>;
}

const canceledUnits = async (partner: PodPartner, order: OrderReference) =>
  (await partner.orders.get(order)).orderlines[0]?.canceledQuantity ?? Number.NaN;

const streets: ReadonlyMap<string | undefined, Shown> = new Map([
  ["Damrak", "old address"],
  ["Singel", "new address"],
  ["Rokin", "another address"],
]);

export const changeSubjects: readonly ChangeSubject[] = [
  {
    name: "orders.cancel, two units",
    on: "orders.cancel",
    call: ({ orders }, order) => orders.cancel(order, [{ index: 1, canceledQuantity: 2 }]),
    show: canceledUnits,
  },
  {
    name: "orders.cancelRemaining",
    on: "orders.cancel",
    call: ({ orders }, order) => orders.cancelRemaining(order),
    show: canceledUnits,
  },
  {
    name: "orders.replaceDropshipAddress",
    on: "orders.replaceDropshipAddress",
    call: ({ orders }, order) => orders.replaceDropshipAddress(order, validAddress({ streetname: "Singel" })),
    show: async ({ orders, addresses }, order) => {
      const { dropshipAddressReference } = await orders.get(order);
      if (!dropshipAddressReference) throw new Error("The order has no address");
      const { streetname } = await addresses.get(dropshipAddressReference);
      return streets.get(streetname ?? "") ?? Number.NaN;
    },
  },
];

/** A move, whether the lost request was carried out, and the expected result of each subject, whichever way the response was lost. */
export interface MoveRow {
  readonly move: Move;
  readonly carriedOut: boolean;
  readonly cells: readonly [cancel: Cell, cancelRemaining: Cell, replaceAddress: Cell];
}

const unknown = "OutcomeUnknownError";

const rowsOf = (name: string, carriedOut: MoveRow["cells"], not: MoveRow["cells"]): MoveRow[] => {
  const move = moves[name];
  if (move === undefined) throw new Error(`There is no move ${name}`);
  return [
    { move, carriedOut: true, cells: carriedOut },
    { move, carriedOut: false, cells: not },
  ];
};

/** The emulator repeats a cancellation without a conflict, by the rule of specification 4.7, also in production. */
export const moveRows: readonly MoveRow[] = [
  ...rowsOf(
    "nothing",
    [
      ["value", 2],
      ["value", 4],
      ["value", "new address"],
    ],
    [
      ["value", 2],
      ["value", 4],
      ["value", "new address"],
    ],
  ),
  ...rowsOf(
    "ships",
    [
      ["value", 2],
      ["value", 4],
      ["recovered", "new address"],
    ],
    [
      ["ConflictError", 0],
      ["value", 0],
      [unknown, "old address"],
    ],
  ),
  ...rowsOf(
    "shipsInPart",
    [
      ["value", 2],
      ["value", 4],
      ["value", "new address"],
    ],
    [
      ["value", 2],
      ["value", 3],
      ["value", "new address"],
    ],
  ),
  ...rowsOf(
    "produced",
    [
      ["value", 2],
      ["value", 4],
      ["value", "new address"],
    ],
    [
      ["ConflictError", 0],
      ["ConflictError", 0],
      ["value", "new address"],
    ],
  ),
  ...rowsOf(
    "canceled",
    [
      [unknown, 4],
      ["value", 4],
      ["recovered", "new address"],
    ],
    [
      [unknown, 4],
      ["value", 4],
      [unknown, "old address"],
    ],
  ),
  ...rowsOf(
    "replaced",
    [
      ["value", 2],
      ["value", 4],
      [unknown, "another address"],
    ],
    [
      ["ConflictError", 0],
      ["value", 0],
      [unknown, "another address"],
    ],
  ),
];

const outcomeOf = ({ timeline }: Settled): string =>
  timeline.some(({ step, outcome }) => step === "lookup" && outcome === "made") ? "recovered" : "value";

const nameOf = (error: unknown): string =>
  error instanceof PodPartnerError ? error.name : `no error of ours: ${error}`;

/** Loses the response to the first request of a change, moves the order before the second, and returns the result. */
export async function playMove(loss: Loss, { move, carriedOut }: MoveRow, subject: ChangeSubject): Promise<Cell> {
  const clock = createManualClock();
  const emulator = createEmulator({ ...harsh, clock });
  const { baseUrl, secretKey, demo } = emulator;
  const other = new Client({ baseUrl, secretKey, clock, fetch: emulator.fetch });
  const orderlines = [{ productReference: demo.products.screenProtector, quantity: 4 }];
  const order = {
    storeReference: demo.stores.api,
    shippingKind: "dropship" as const,
    dropshipAddress: validAddress(),
    orderlines,
  };
  const { reference } = await settle(clock, other.orders.create(order));
  emulator.faults.add({ ...(carriedOut ? loss.after : loss.before), on: subject.on, nth: 1 });
  let changes = 0;
  const fetch = async (request: Request, init?: RequestInit) => {
    if (request.method !== "GET" && ++changes === 2) await move.happen(emulator, reference, other);
    return emulator.fetch(request, init);
  };
  const partner = new Client({ baseUrl, secretKey, clock, fetch });
  const outcome = await settle(clock, subject.call(partner, reference).withResponse().then(outcomeOf, nameOf));
  return [outcome, await settle(clock, subject.show(other, reference))];
}
