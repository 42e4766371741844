import { type Endpoint, pathWith, promised } from "./endpoints.ts";
import { claimed, createRender, readOrder } from "./inputs.ts";
import type { Service } from "./service.ts";

/** A reference of each kind that the service has a record of, by kind: the first of the demo catalog, or one of a day's work. */
export async function recordsOf(service: Service): Promise<ReadonlyMap<string, string>> {
  const { demo, emulator } = service;
  const { order, shipment, claim } = await claimed(service);
  const render = await createRender(service);
  emulator.completeRender(render);
  const { dropshipAddressReference } = await readOrder(service, order);
  const tables: readonly Readonly<Record<string, string>>[] = Object.values(demo);
  const ofCatalog = tables.flatMap((table) => Object.values(table).slice(0, 1));
  const made: readonly string[] = [order, shipment, claim, render, dropshipAddressReference, demo.products.slimCase];
  return new Map([...ofCatalog, ...made].map((reference) => [reference.replace(/_.*/, ""), reference]));
}

/** The response of each endpoint that reads what the specification shows. The service has a record of each kind. */
export async function bodiesOf(service: Service): Promise<readonly (readonly [endpoint: Endpoint, body: unknown])[]> {
  const records = await recordsOf(service);
  const referenceOf = (kind: string) => records.get(kind) ?? `no ${kind}`;
  return Promise.all(
    promised.map(
      async ([, endpoint]) => [endpoint, (await service.get(pathWith(endpoint, referenceOf))).body] as const,
    ),
  );
}
