import { type ClientName, clientNames } from "./clients.ts";
import { median } from "./table.ts";

/** The client that the ratios refer to. */
export const base: ClientName = "fetch";

/** The measurements of each client, one a round. */
export type Samples = ReadonlyMap<ClientName, number[]>;

/** The median of the ratios to another client, round by round, because within a round the machine is the same for both. */
export function ratioOf(samples: Samples, name: ClientName, to: ClientName = base): number {
  const divisors = samples.get(to) ?? [];
  return median((samples.get(name) ?? []).map((value, round) => value / (divisors[round] ?? Number.NaN)));
}

export const medianOf = (samples: Samples, name: ClientName): number => median(samples.get(name) ?? []);

/** Measures each client once a round. Rounds alternate between clients, so that a drift of the machine cancels out. */
export async function sample(rounds: number, measure: (name: ClientName) => Promise<number>): Promise<Samples> {
  const samples = new Map(clientNames.map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, values] of samples) values.push(await measure(name));
  }
  return samples;
}
