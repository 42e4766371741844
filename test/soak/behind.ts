/** Orders and claims through a real gateway that reloads, and gives up before the service does. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type GatewayKind, startGateway } from "../proxies/gateway/gateway.ts";
import type { ClientJob, LateService, Made, ServiceJob, Slowness, Told } from "./behind-messages.ts";
import { ask, start } from "./children.ts";

export interface BehindJob extends Slowness {
  readonly orders: number;
  readonly claims: number;
  readonly concurrency: number;
  /** Milliseconds between two reloads of the gateway. */
  readonly reloadEvery: number;
}

/** What was asked for, and what became of it. */
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
  /** What was made more than once, and what failed, each with its timeline. */
  readonly wrong: readonly Told[];
}

const repeated = (names: readonly string[]): ReadonlySet<string> =>
  new Set(names.filter((name, at) => names.indexOf(name) !== at));

function tally(asked: number, made: readonly string[], told: readonly Told[]): Tally {
  const failed = told.filter(({ failure }) => failure !== undefined).length;
  return { asked, made: made.length, failed, recovered: told.filter(({ recovered }) => recovered).length };
}

/** Runs the client until it has told of everything. */
async function runClient(job: ClientJob): Promise<readonly Told[]> {
  const client = start(new URL("./behind-worker.ts", import.meta.url));
  const exit = once(client, "exit");
  const told: Told[] = [];
  client.on("message", (one: Told) => told.push(one));
  client.send(job);
  await exit;
  return told;
}

export async function soakBehind(kind: GatewayKind, job: BehindJob): Promise<BehindResult> {
  const { gatewayTimeout, slowest, concurrency } = job;
  const child = start(new URL("./late-service.ts", import.meta.url));
  const service = await ask<LateService>(child, { claims: job.claims, gatewayTimeout, slowest } satisfies ServiceJob);
  const rules = { upstream: Number(new URL(service.baseUrl).port), serviceTimeout: gatewayTimeout };
  await using gateway = await startGateway(kind, rules);
  using reloading = gateway.reloadEvery(job.reloadEvery);
  const began = performance.now();
  const told = await runClient({ ...service, baseUrl: `${gateway.origin}/v2`, orders: job.orders, concurrency });
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  // What nobody waits for any more is carried out, too.
  await sleep(slowest);
  const made = await ask<Made>(child, "count");
  child.disconnect();
  const claimed = new Set<string>(service.claims.map(({ orderReference }) => orderReference));
  const twice = new Set([...repeated(made.orders), ...repeated(made.claims)]);
  const [orders, claims] = [
    told.filter(({ name }) => !claimed.has(name)),
    told.filter(({ name }) => claimed.has(name)),
  ];
  return {
    orders: tally(job.orders, made.orders, orders),
    claims: tally(job.claims, made.claims, claims),
    seconds,
    reloads: reloading.count,
    wrong: told.filter(({ name, failure }) => failure !== undefined || twice.has(name)),
  };
}
