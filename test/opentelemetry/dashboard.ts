import { readFileSync } from "node:fs";

export interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly [{ readonly expr: string; readonly legendFormat: string }];
  readonly fieldConfig: { readonly defaults: { readonly unit: string; readonly max?: number } };
}

/** The panels of the Grafana dashboard of the docs. */
export const { panels } = JSON.parse(
  readFileSync(new URL("../../docs/grafana-dashboard.json", import.meta.url), "utf8"),
) as { readonly panels: readonly Panel[] };

/** The query of a panel, with the variables of Grafana replaced. */
export const queryOf = ({ targets: [{ expr }] }: Panel, interval: string, range: string): string =>
  expr.replaceAll("$__rate_interval", interval).replaceAll("$__range", range);
