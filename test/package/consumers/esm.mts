import { isReference, type Order, PodPartner, parseReference } from "pod-partner";
import { createOrderUpdatedReceiver, parseOrderUpdated } from "pod-partner/callbacks";
import { startEmulator } from "pod-partner/testing";

const partner = new PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

export async function readOrder(text: string): Promise<Order | undefined> {
  if (isReference("Order", text)) return partner.orders.get(text);
  const product = parseReference("Product", text);
  // @ts-expect-error A product's reference does not fit an order's call.
  await partner.orders.get(product);
  // @ts-expect-error A call for an order does not accept an unchecked string.
  await partner.orders.get(text);
  return undefined;
}

export async function countProducts(): Promise<number> {
  let products = 0;
  for await (const { reference } of partner.catalog.products.list()) products += reference.length > 0 ? 1 : 0;
  return products;
}

export const { fetch: GET, node } = createOrderUpdatedReceiver({
  partner,
  token: false,
  onOrderUpdated: ({ orderReference }): Promise<Order> => partner.orders.get(orderReference),
});

export const orderOf = (url: URL): Promise<Order> => partner.orders.get(parseOrderUpdated(url).orderReference);

export const emulator: ReturnType<typeof startEmulator> = startEmulator();
