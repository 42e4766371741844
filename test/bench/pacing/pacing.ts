import { redisInstalled, startRedis } from "../../support/redis.ts";
import { baseline } from "../clients.ts";
import { start } from "../percall/process.ts";
import { prepare } from "../prepare.ts";
import { printTable } from "../table.ts";
import { type Ceiling, type ClientName, ceiling } from "./clients.ts";
import type { Count, Setting } from "./server.ts";
import type { Done, Job } from "./worker.ts";

interface Scenario extends Setting {
  readonly title: string;
  readonly client?: ClientName;
  /** Each makes an equal part of the calls. */
  readonly processes?: number;
  readonly calls: number;
  readonly parallel: number;
  /** The client's own ceiling. */
  readonly ceiling?: Ceiling;
  /** The events in Redis, by the milliseconds after the start. */
  readonly redis?: Readonly<Record<number, "kill" | "start">>;
}

const burst = { quota: 10, perSecond: 5, calls: 60, parallel: 60 };
const large = { quota: 300, perSecond: 50, calls: 1300, parallel: 64 };

const ceiled = { quota: 300, perSecond: 50, calls: 220, parallel: 64, ceiling };

const scenarios: readonly Scenario[] = [
  { title: "60 calls on 10 + 5/s", ...burst },
  { title: "  the same, openai", client: "openai", ...burst },
  { title: "  the same, stripe", client: "stripe", ...burst },
  { title: "  the same, octokit + throttling + retry", client: "octokit", ...burst },
  { title: "1,300 calls on 300 + 50/s", ...large },
  { title: "  responses take 200 ms", ...large, delay: 200 },
  { title: "  another client takes 25/s", ...large, otherClients: 25 },
  { title: "  4 processes, uncoordinated", ...large, processes: 4 },
  { title: "  4 processes through Redis", client: "pod-partner, node-redis", ...large, processes: 4 },
  { title: "  the same, ioredis", client: "pod-partner, ioredis", ...large, processes: 4 },
  {
    title: "  Redis killed at 8 s, back at 11 s",
    client: "pod-partner, node-redis",
    ...large,
    processes: 4,
    redis: { 8000: "kill", 11000: "start" },
  },
  { title: "220 calls, a ceiling of 20/s", client: "pod-partner, perSecond", ...ceiled },
  { title: "  the same, fetch + p-throttle", client: "fetch + p-throttle", ...ceiled },
  { title: "  a fleet of 4 with this ceiling", client: "pod-partner, node-redis, perSecond", ...ceiled, processes: 4 },
];

const serverCore = 0;
const clientCore = 1;
const file = (name: string) => new URL(name, import.meta.url).href;

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN;

/** The difference of each process from an equal part of the calls that were served while all of them had calls left. */
function unfairness(workers: readonly Done[]): string {
  if (workers.length === 1) return "";
  const until = Math.min(...workers.map(({ at }) => Math.max(...at)));
  const parts = workers.map(({ at }) => at.filter((time) => time <= until).length);
  const fair = parts.reduce((sum, part) => sum + part, 0) / parts.length;
  return `${Math.round(100 * Math.max(...parts.map((part) => Math.abs(part / fair - 1))))} %`;
}

/** The minimum time that the bucket and the latency of the last response allow, in seconds. */
const idealOf = ({ calls, quota, perSecond, otherClients = 0, delay = 0, ceiling }: Scenario): number =>
  Math.max(
    (calls - quota) / (perSecond - otherClients),
    ceiling ? ((Math.ceil(calls / ceiling.burst) - 1) * ceiling.burst) / ceiling.perSecond : 0,
  ) +
  delay / 1000;

function row(
  scenario: Scenario,
  began: number,
  workers: readonly Done[],
  { served, refused, firstAt, mostInSecond }: Count,
): string[] {
  const at = workers.flatMap((worker) => worker.at);
  const failed = workers.reduce((sum, worker) => sum + worker.failed, 0);
  const wall = (Math.max(...at) - began) / 1000;
  const ideal = idealOf(scenario);
  return [
    scenario.title,
    `${at.length} of ${scenario.calls}`,
    ((firstAt - began) / 1000).toFixed(2),
    wall.toFixed(2),
    ideal.toFixed(2),
    failed > 0 ? "–" : (wall / ideal).toFixed(3),
    String(refused),
    `${((100 * refused) / (served + refused)).toFixed(1)} %`,
    (
      quantile(
        workers.flatMap(({ took }) => took),
        0.99,
      ) / 1000
    ).toFixed(2),
    unfairness(workers),
    scenario.ceiling ? `${mostInSecond} of ${scenario.ceiling.perSecond}` : "",
  ];
}

/** A scenario of this build, and the same with the baseline. */
const withBaseline = (scenario: Scenario): readonly Scenario[] =>
  baseline === undefined || scenario.client !== undefined
    ? [scenario]
    : [scenario, { ...scenario, title: `${scenario.title}, before`, client: "before" }];

/** Each scenario against a service with a token bucket in a separate process. `--only=text` runs those with this text in their title. */
export async function run(): Promise<void> {
  prepare();
  const only = process.argv.find((argument) => argument.startsWith("--only="))?.slice(7) ?? "";
  const server = start(file("server.ts"), serverCore);
  const origin = `http://127.0.0.1:${await server.ready}`;
  const redis = redisInstalled ? await startRedis() : undefined;
  if (redis === undefined) console.log("Without redis-server on this machine its rows are skipped.");
  const rows: string[][] = [];
  try {
    const possible = scenarios.filter(({ client }) => redis !== undefined || !client?.includes("redis"));
    for (const scenario of possible.filter(({ title }) => title.includes(only)).flatMap(withBaseline)) {
      const { client = "pod-partner", processes = 1, calls, parallel } = scenario;
      const workers = Array.from({ length: processes }, () =>
        start(file("worker.ts"), clientCore, [client, origin, redis?.url ?? ""]),
      );
      await Promise.all(workers.map(({ ready }) => ready));
      await server.ask(scenario);
      const began = performance.timeOrigin + performance.now();
      const timers = Object.entries(scenario.redis ?? {}).map(([ms, what]) =>
        setTimeout(() => void redis?.[what](), Number(ms)),
      );
      const job: Job = { calls: calls / processes, parallel };
      const done = (await Promise.all(workers.map((worker) => worker.ask(job)))) as Done[];
      rows.push(row(scenario, began, done, (await server.ask(scenario)) as Count));
      for (const worker of workers) worker.stop();
      for (const timer of timers) clearTimeout(timer);
    }
  } finally {
    server.stop();
    await redis?.kill();
  }
  printTable(
    [
      "",
      "done",
      "first request s",
      "s",
      "ideal s",
      "s / ideal",
      "429s",
      "429s, share",
      "p99 s",
      "unfairness",
      "most in a second",
    ],
    rows,
  );
}
