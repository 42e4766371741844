import { referencesIn } from "../../support/references.ts";
import { type Endpoint, emulated, pathWith } from "./endpoints.ts";
import { claimed, createRender } from "./inputs.ts";
import type { Service } from "./service.ts";

/** Makes one order, shipment, claim and render, and returns a reference of each kind that the service then has, by kind. */
export async function recordsOf(service: Service): Promise<ReadonlyMap<string, string>> {
  const { demo, emulator } = service;
  await claimed(service);
  emulator.completeRender(await createRender(service));
  return referencesIn([demo.products.slimCase, emulator.world(), demo]);
}

/** The response of each endpoint whose response the specification shows. The service has a record of each kind. */
export async function bodiesOf(service: Service): Promise<readonly (readonly [endpoint: Endpoint, body: unknown])[]> {
  const records = await recordsOf(service);
  const referenceOf = (kind: string) => records.get(kind) ?? `no ${kind}`;
  return Promise.all(
    emulated.map(
      async ([, endpoint]) => [endpoint, (await service.get(pathWith(endpoint, referenceOf))).body] as const,
    ),
  );
}
