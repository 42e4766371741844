import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PodPartner } from "pod-partner";
import { instrument } from "pod-partner/opentelemetry";
import { createEmulator } from "pod-partner/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { type Prometheus, prometheusInstalled, startPrometheus } from "../support/prometheus.ts";
import { panels, queryOf } from "./dashboard.ts";

const alerts = fileURLToPath(new URL("../../docs/prometheus-alerts.yml", import.meta.url));

// In CI, `.ci/run` installs it.
describe.runIf(prometheusInstalled || process.env.CI)("with a real Prometheus", () => {
  let prometheus: Prometheus;
  beforeAll(async () => {
    prometheus = await startPrometheus(100);
    // Twenty tokens a second: calls wait. A 429, a lost response, an error and an unknown outcome.
    const emulator = createEmulator({ limits: { default: { quota: 20, window: 1_000 } } });
    const partner = new PodPartner({
      ...emulator.clientOptions,
      retry: { retries: 1, baseDelay: 1 },
      assumptions: { processingTime: 200 },
    });
    instrument(partner, { meterProvider: prometheus.meterProvider });
    const work = async (round: number) => {
      await Promise.all([1, 2, 3, 4].map(() => partner.auth.validate()));
      emulator.drain("default");
      await partner.auth.validate();
      emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
      await partner.orders.ensure(orderOf(emulator, `kept-${round}`));
      await rejection(partner.orders.get("Order_00000000000000000000000000"));
      const broken = [
        emulator.faults.add({ on: "POST /orders", fault: "status", status: 503, when: "before" }),
        emulator.faults.add({ on: "orders.lookup", fault: "status", status: 503 }),
      ];
      await rejection(partner.orders.create(orderOf(emulator, `unknown-${round}`)));
      for (const fault of broken) fault.remove();
    };
    // A rate needs an increase between two readings.
    for (const round of [1, 2]) {
      await work(round);
      await vi.waitUntil(async () => (await attemptsRead()) === emulator.requests.length, { timeout: 20_000 });
    }
  });
  afterAll(() => prometheus?.stop());

  async function attemptsRead(): Promise<number> {
    const [series] = await prometheus.query("query", { query: "sum(pod_partner_attempts_total)" });
    return Number(series?.value?.[1] ?? 0);
  }

  it.each(panels)("the dashboard's panel $title shows values", async (panel) => {
    const series = await prometheus.query("query", { query: queryOf(panel, "1m", "1m") });
    expect(series.length).toBeGreaterThan(0);
    // A series without an increase has no percentile.
    const values = series.map(({ value }) => Number(value?.[1])).filter((value) => Number.isFinite(value));
    expect(values.some((value) => value > 0)).toBe(panel.title !== "Queue");
    // Each label that the legend names is one of the series.
    for (const [, label = ""] of panel.targets[0].legendFormat.matchAll(/{{(\w+)}}/g)) {
      expect(series.some(({ metric }) => metric[label] !== undefined)).toBe(true);
    }
  });

  it("shows 429s and look-ups by the labels that the alerts use", async () => {
    const valueOfQuery = async (query: string) => {
      const [series] = await prometheus.query("query", { query });
      return Number(series?.value?.[1]);
    };
    expect(await valueOfQuery('sum(pod_partner_attempts_total{http_response_status_code="429"})')).toBeGreaterThan(0);
    expect(await valueOfQuery('sum(pod_partner_lookups_total{pod_partner_outcome="found"})')).toBe(2);
    expect(await valueOfQuery("sum(pod_partner_outcome_unknown_total)")).toBe(2);
    expect(await valueOfQuery('sum(pod_partner_call_duration_count{error_type="404"})')).toBe(2);
  });
});

/** One series of a promtool test, by hand: the names are those of the page. */
const series = (name: string, values: string) => ({ series: name, values });

/** Each alert with series that raise it, and with series that must not. */
const cases: readonly (readonly [alert: string, at: string, raised: object[], quiet: object[]])[] = [
  [
    "PodPartnerOutcomeUnknown",
    "5m",
    [series("pod_partner_outcome_unknown_total", "0 0 0 1 1 1")],
    [series("pod_partner_outcome_unknown_total", "1x10")],
  ],
  [
    "PodPartnerStorageLost",
    "5m",
    [
      series('pod_partner_storage_lost{instance="1"}', "0x10"),
      series('pod_partner_storage_lost{instance="2"}', "1x10"),
    ],
    [series("pod_partner_storage_lost", "0 0 0 0 0 1 0")],
  ],
  [
    "PodPartnerFailing",
    "15m",
    [
      series('pod_partner_call_duration_seconds_count{url_template="/orders",error_type="503"}', "0+6x20"),
      series('pod_partner_call_duration_seconds_count{url_template="/orders"}', "0+60x20"),
    ],
    [
      series('pod_partner_call_duration_seconds_count{url_template="/orders",error_type="409"}', "0+6x20"),
      series('pod_partner_call_duration_seconds_count{url_template="/orders",error_type="503"}', "0+1x20"),
      series('pod_partner_call_duration_seconds_count{url_template="/orders"}', "0+60x20"),
    ],
  ],
  [
    "PodPartnerKeyRefused",
    "5m",
    [series('pod_partner_call_duration_seconds_count{error_type="401"}', "0+1x5")],
    [series('pod_partner_call_duration_seconds_count{error_type="404"}', "0+1x5")],
  ],
  [
    "PodPartnerQueueNeverEmpty",
    "20m",
    [series('pod_partner_queue_length{pod_partner_policy="default"}', "40x25")],
    [series('pod_partner_queue_length{pod_partner_policy="default"}', "40x12 0 40x12")],
  ],
  [
    "PodPartnerTokensNearlySpent",
    "15m",
    [
      series('pod_partner_tokens_remaining{pod_partner_policy="uploads"}', "400x20"),
      series('pod_partner_tokens_quota{pod_partner_policy="uploads"}', "5000x20"),
    ],
    [
      series('pod_partner_tokens_remaining{pod_partner_policy="uploads"}', "600x20"),
      series('pod_partner_tokens_quota{pod_partner_policy="uploads"}', "5000x20"),
    ],
  ],
  [
    "PodPartnerRefused",
    "25m",
    [series('pod_partner_attempts_total{http_response_status_code="429"}', "0+1x30")],
    [series('pod_partner_attempts_total{http_response_status_code="200"}', "0+9x30")],
  ],
];

describe.runIf(prometheusInstalled || process.env.CI)("the alerts", () => {
  it("are all tested", () => {
    const names = [...readFileSync(alerts, "utf8").matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
    expect(names).toEqual(cases.map(([name]) => name));
  });

  it.each(cases)("%s is raised when it should be, and only then", (alertname, at, raised, quiet) => {
    const folder = mkdtempSync(join(tmpdir(), "alerts-"));
    try {
      for (const [input_series, expected] of [
        [raised, 1],
        [quiet, 0],
      ] as const) {
        // JSON is YAML. The expected labels are not compared: an expression counts the raised alerts.
        const promql_expr_test = [
          {
            expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"}) or vector(0)`,
            eval_time: at,
            exp_samples: [{ labels: "{}", value: expected }],
          },
        ];
        const tests = [{ interval: "1m", input_series, promql_expr_test }];
        const file = join(folder, "test.json");
        writeFileSync(file, JSON.stringify({ rule_files: [alerts], evaluation_interval: "1m", tests }));
        execFileSync("promtool", ["test", "rules", file], { stdio: "pipe" });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
