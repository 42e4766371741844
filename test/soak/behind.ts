/** Orders and claims through a real gateway that reloads, and times out before the service has finished. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type GatewayKind, startGateway } from "../proxies/gateway/gateway.ts";
import type { CallReport, ClientJob, LateService, Made, ServiceJob, Slowness } from "./behind-messages.ts";
import { ask, start } from "./children.ts";
import type { TransportKind } from "./transport.ts";

export interface BehindJob extends Slowness {
  readonly orders: number;
  readonly claims: number;
  readonly concurrency: number;
  readonly transport: TransportKind;
  /** Milliseconds between two reloads of the gateway. */
  readonly reloadEvery: number;
}

/** The expected orders and claims, and their outcomes. */
export interface Tally {
  readonly asked: number;
  readonly made: number;
  readonly failed: number;
  readonly recovered: number;
}

export interface BehindResult {
  readonly orders: Tally;
  readonly claims: Tally;
  readonly seconds: number;
  readonly reloads: number;
  /** What was created more than once, and what failed, each with its timeline. */
  readonly wrong: readonly CallReport[];
}

const repeated = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.filter((name, at) => names.indexOf(name) !== at));

function tally(asked: number, made: readonly string[], reports: readonly CallReport[]): Tally {
  const failed = reports.filter(({ failure }) => failure !== undefined).length;
  return { asked, made: made.length, failed, recovered: reports.filter(({ recovered }) => recovered).length };
}

/** Runs the client until it has reported every outcome. */
async function runClient(job: ClientJob): Promise<readonly CallReport[]> {
  const client = start(new URL("./behind-worker.ts", import.meta.url));
  const exit = once(client, "exit");
  const reports: CallReport[] = [];
  client.on("message", (one: CallReport) => reports.push(one));
  client.send(job);
  await exit;
  return reports;
}

export async function soakBehind(kind: GatewayKind, job: BehindJob): Promise<BehindResult> {
  const { gatewayTimeout, slowest, concurrency, transport } = job;
  const child = start(new URL("./late-service.ts", import.meta.url));
  const service = await ask<LateService>(child, { claims: job.claims, gatewayTimeout, slowest } satisfies ServiceJob);
  const rules = { upstream: Number(new URL(service.baseUrl).port), serviceTimeout: gatewayTimeout };
  await using gateway = await startGateway(kind, rules);
  using reloading = gateway.reloadEvery(job.reloadEvery);
  const began = performance.now();
  const baseUrl = `${gateway.origin}/v2`;
  const reports = await runClient({ ...service, baseUrl, orders: job.orders, concurrency, transport });
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  // The service also completes the requests that the gateway no longer waits for.
  await sleep(slowest);
  const made = await ask<Made>(child, "count");
  child.disconnect();
  const claimed = new Set<string>(service.claims.map(({ orderReference }) => orderReference));
  const twice = new Set([...repeated(made.orders), ...repeated(made.claims)]);
  const [orders, claims] = [
    reports.filter(({ name }) => !claimed.has(name)),
    reports.filter(({ name }) => claimed.has(name)),
  ];
  return {
    orders: tally(job.orders, made.orders, orders),
    claims: tally(job.claims, made.claims, claims),
    seconds,
    reloads: reloading.count,
    wrong: reports.filter(({ name, failure }) => failure !== undefined || twice.has(name)),
  };
}
