import type { Emulator, SavedWorld } from "pod-partner/testing";
import { expect } from "vitest";

type Organization = SavedWorld["organizations"][number];

/** What a state may not lose on the way to the next one. */
export interface Past {
  readonly quantities: ReadonlyMap<string, readonly (readonly [number, number])[]>;
  readonly closedClaims: ReadonlyMap<string, string>;
}

const quantitiesOf = (organization: Organization) =>
  new Map(
    organization.orders.map(({ reference, lines }) => [
      reference as string,
      lines.map((line) => [line.shippedQuantity, line.canceledQuantity] as const),
    ]),
  );

const closedOf = (organization: Organization) =>
  new Map(
    organization.claims
      .filter(({ decision, retracted }) => decision !== null || retracted !== null)
      .map(({ reference, decision, retracted }) => [reference as string, JSON.stringify([decision, retracted])]),
  );

/** Shipped and canceled items stay, and together are at most what was ordered (specification 3.4, 4.7). */
function checkOrders(organization: Organization, past: Past): void {
  for (const { reference, lines } of organization.orders) {
    for (const [position, { quantity, shippedQuantity, canceledQuantity }] of lines.entries()) {
      const [shippedBefore, canceledBefore] = past.quantities.get(reference)?.[position] ?? [0, 0];
      expect(shippedQuantity + canceledQuantity).toBeLessThanOrEqual(quantity);
      expect(shippedQuantity).toBeGreaterThanOrEqual(shippedBefore);
      expect(canceledQuantity).toBeGreaterThanOrEqual(canceledBefore);
    }
  }
}

/** What the shipments have is what the orders have shipped, and an address is kept while an order or a shipment uses it (4.4). */
function checkShipments({ orders, shipments, addresses }: Organization): void {
  const shipped = new Map<string, number>();
  for (const { parcels } of shipments) {
    for (const { orderReference, lines } of parcels) {
      for (const { index, quantity } of lines) {
        const line = `${orderReference}/${index}`;
        shipped.set(line, (shipped.get(line) ?? 0) + quantity);
      }
    }
  }
  for (const { reference, lines } of orders) {
    for (const line of lines) expect(line.shippedQuantity).toBe(shipped.get(`${reference}/${line.index}`) ?? 0);
  }
  const used = [...orders.map((one) => one.dropshipAddressReference), ...shipments.map((one) => one.addressReference)];
  const count = (reference: string) => used.filter((one) => one === reference).length;
  expect(addresses.map(({ reference, uses }) => [reference, uses])).toEqual(
    addresses.map(({ reference }) => [reference, count(reference)]),
  );
  for (const reference of used) {
    if (reference !== null) expect(addresses.map((address) => address.reference)).toContain(reference);
  }
}

/** A final state is final (3.1), and no item is claimed more often than it was shipped (4.9). */
function checkClaims(organization: Organization, past: Past): void {
  const closed = closedOf(organization);
  for (const [reference, state] of past.closedClaims) expect(closed.get(reference)).toBe(state);
  const claimed = new Map<string, number>();
  for (const { shipmentReference, lines, retracted, decision } of organization.claims) {
    expect(retracted === null || decision === null).toBe(true);
    if (retracted !== null || JSON.stringify(decision).includes("rejection")) continue;
    for (const { orderReference, orderlineIndex, quantity } of lines) {
      const line = `${shipmentReference}/${orderReference}/${orderlineIndex}`;
      claimed.set(line, (claimed.get(line) ?? 0) + quantity);
    }
  }
  for (const { reference, parcels } of organization.shipments) {
    for (const { orderReference, lines } of parcels) {
      for (const { index, quantity } of lines) {
        expect(claimed.get(`${reference}/${orderReference}/${index}`) ?? 0).toBeLessThanOrEqual(quantity);
      }
    }
  }
}

/** No bucket is below zero or above its quota (8), and no more rendertokens are used than there are (4.6). */
function checkLimits({ rateLimits, limits, rendertokens, rendertokenLimit }: Organization): void {
  for (const [policy, tokens] of Object.entries(rateLimits)) {
    expect(tokens).toBeGreaterThanOrEqual(0);
    expect(tokens).toBeLessThanOrEqual(limits[policy as keyof typeof limits].quota);
  }
  expect(rendertokens.used).toBeGreaterThanOrEqual(0);
  expect(rendertokens.used).toBeLessThanOrEqual(rendertokenLimit);
}

/** Checks the state of an emulator against what the specification allows. Returns what the next state may not lose. */
export function checkState(emulator: Emulator, past: Past): Past {
  const { organizations } = emulator.world();
  const quantities = new Map<string, readonly (readonly [number, number])[]>();
  const closedClaims = new Map<string, string>();
  for (const organization of organizations) {
    checkOrders(organization, past);
    checkShipments(organization);
    checkClaims(organization, past);
    checkLimits(organization);
    for (const entry of quantitiesOf(organization)) quantities.set(...entry);
    for (const entry of closedOf(organization)) closedClaims.set(...entry);
  }
  return { quantities, closedClaims };
}

/** The body of a list. */
interface Lists {
  readonly orders?: readonly { readonly reference: string }[];
  readonly claims?: readonly { readonly reference: string }[];
  readonly nextCursor: string | null;
}

/** Each item of each list can be read, and the lists have every record once (4.11). */
export async function checkLists(get: (path: string) => Promise<{ status: number; body: Lists }>): Promise<void> {
  for (const list of ["orders", "claims"] as const) {
    const seen = new Set<string>();
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? "" : `?cursor=${cursor}`;
      const { body }: { body: Lists } = await get(`/${list}${query}`);
      for (const { reference } of body[list] ?? []) {
        expect(seen.has(reference)).toBe(false);
        seen.add(reference);
        expect((await get(`/${list}/${reference}`)).status).toBe(200);
      }
      cursor = body.nextCursor;
    } while (cursor !== null);
  }
}
