import { inspect } from "node:util";
import { type Outcome, type PlacedOrder, PodPartner, type PodPartnerOptions } from "pod-partner";
import { type EmulatorOptions, type RunningEmulator, startEmulator } from "pod-partner/testing";
import { describe, expect } from "vitest";
import { concurrently } from "../../src/util/concurrency.ts";
import { orderOf } from "../http/matrix/subjects.ts";
import { harsh } from "../support/harsh.ts";
import { secretKey } from "../support/partner.ts";
import { transports } from "../support/transports.ts";
import { type Gateway, type GatewayKind, gatewayKinds, isInstalled, startGateway } from "./gateway/gateway.ts";
import { type Relay, startRelay } from "./gateway/relay.ts";
import type { Rules } from "./gateway/rules.ts";

/** The timeout of a test, in milliseconds: a creation whose response is lost late is looked up for half a minute. */
const timeout = 90_000;

interface Behind {
  readonly kinds?: readonly GatewayKind[];
  /** Whether tests run concurrently. Default true: they mostly wait. */
  readonly concurrent?: boolean;
}

/** Registers tests for each gateway and each transport, as {@link behindEachGateway}. */
export function overEachTransport(tests: (setUp: SetUp) => void, options: Behind = {}): void {
  describe.each(transports)("over $name", ({ over }) =>
    behindEachGateway((kind) => tests((rules, given) => setUp(kind, rules, given, over)), options),
  );
}

/** Registers tests for each gateway. Those of a gateway that is not installed are skipped, but not in CI. */
export function behindEachGateway(tests: (kind: GatewayKind) => void, options: Behind = {}): void {
  const { kinds = gatewayKinds, concurrent = true } = options;
  for (const kind of kinds) {
    const leftOut = !isInstalled(kind) && process.env.CI === undefined;
    describe.skipIf(leftOut)(`behind ${kind}`, { concurrent, timeout }, () => tests(kind));
  }
}

/** An emulator behind a gateway. */
export interface GatewaySetup extends AsyncDisposable {
  readonly emulator: RunningEmulator;
  readonly gateway: Gateway;
  /** The wire between the two. */
  readonly relay: Relay;
  /** A client that goes through the gateway. */
  partner(options?: PodPartnerOptions): PodPartner;
  /** Places this many orders, some concurrently, and returns their outcomes. */
  place(count: number, concurrency: number, partner?: PodPartner): Promise<Outcome<unknown, PlacedOrder>[]>;
  /** The numbers of orders and claims, counted by the service itself. */
  made(): Promise<{ readonly orders: number; readonly claims: number }>;
}

/** Sets up a gateway of a kind, for a client with a transport. */
export type SetUp = (rules?: Omit<Rules, "upstream">, options?: EmulatorOptions) => Promise<GatewaySetup>;

export async function setUp(
  kind: GatewayKind,
  rules: Omit<Rules, "upstream"> = {},
  options: EmulatorOptions = {},
  over: PodPartnerOptions = {},
): Promise<GatewaySetup> {
  const emulator = await startEmulator({
    secretKey,
    ...harsh,
    limits: { default: { quota: 100_000, window: 60_000 } },
    ...options,
  });
  const relay = await startRelay(Number(new URL(emulator.baseUrl).port));
  const gateway = await startGateway(kind, { ...rules, upstream: relay.port });
  const partner = (more: PodPartnerOptions = {}) =>
    new PodPartner({ baseUrl: `${gateway.origin}/v2`, secretKey, ...over, ...more });
  const insider = new PodPartner({ baseUrl: emulator.baseUrl, secretKey, fetch: emulator.fetch });
  return {
    emulator,
    gateway,
    relay,
    partner,
    place: async (count, concurrency, client = partner()) => {
      const orders = Array.from({ length: count }, (_, number) => orderOf(emulator, `shop-${number}`));
      const outcomes: Outcome<unknown, PlacedOrder>[] = [];
      const placing = concurrently(orders, concurrency, (order) => client.orders.create(order));
      for await (const outcome of placing) outcomes.push(outcome);
      return outcomes;
    },
    made: async () => ({
      orders: (await insider.orders.list().toArray()).length,
      claims: (await insider.claims.list().toArray()).length,
    }),
    [Symbol.asyncDispose]: async () => {
      await gateway[Symbol.asyncDispose]();
      await relay.cut();
      await emulator.close();
    },
  };
}

/** The names of the errors among outcomes. None of them may show the key. */
export function failuresOf(outcomes: readonly Outcome<unknown, unknown>[]): string[] {
  const errors = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error]));
  for (const error of errors) expectNoKey(error);
  return errors.map((error) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error)));
}

export function expectNoKey(error: unknown): void {
  const stack = error instanceof Error ? error.stack : undefined;
  const shown = [inspect(error, { depth: 10, showHidden: true }), JSON.stringify(error), String(error), stack];
  expect(shown.filter((text) => text?.includes(secretKey))).toEqual([]);
}
