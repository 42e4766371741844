import { type ClientName, clientNames } from "../clients.ts";
import { base, medianOf, ratioOf, type Samples } from "../samples.ts";

/** One column of the table and one panel of the chart. */
export interface Measurement {
  readonly title: string;
  readonly unit: "µs" | "ms";
  /** The median of the client that the ratios refer to. */
  readonly base: number;
  readonly ratios: ReadonlyMap<ClientName, number>;
}

/** The measurements are kept as ratios, because they hold on other machines too. */
export const measurement = (title: string, unit: Measurement["unit"], samples: Samples): Measurement => ({
  title,
  unit,
  base: medianOf(samples, base),
  ratios: new Map(clientNames.map((name) => [name, ratioOf(samples, name)])),
});

/** Whether a client is one of ours. */
export const isOwn = (name: ClientName): boolean => name.startsWith("pod-partner");
