import { claimed, createRender, readOrder } from "./inputs.ts";
import type { Service } from "./service.ts";

/** A response of each endpoint that only reads, with its path. The service has an order, a shipment, a claim and a render. */
export async function bodiesOf(service: Service): Promise<readonly (readonly [path: string, body: unknown])[]> {
  const { demo, emulator } = service;
  const { order, shipment, claim } = await claimed(service);
  const render = await createRender(service);
  emulator.completeRender(render);
  const { compositionReference } = (await service.get(`/renders/${render}`)).body.render;
  const { dropshipAddressReference } = await readOrder(service, order);
  const paths = [
    ...["/organization", "/accounts", "/stores", "/brands", "/products", "/packagings", "/productgroups", "/items"],
    ...["/images", "/scenes", "/perspectives", "/rendertokens", "/orders", "/claims", "/claimcategories"],
    `/products/${demo.products.slimCase}`,
    `/addresses/${dropshipAddressReference}`,
    `/scenes/${demo.scenes.studio}`,
    `/perspectives/${demo.perspectives.front}`,
    `/compositions/${compositionReference}`,
    `/renders/${render}`,
    `/orders/${order}`,
    `/shipments/${shipment}`,
    `/claims/${claim}`,
  ];
  return Promise.all(paths.map(async (path) => [path, (await service.get(path)).body] as const));
}
