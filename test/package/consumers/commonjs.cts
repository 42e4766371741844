import podPartner = require("pod-partner");
import testing = require("pod-partner/testing");

const partner = new podPartner.PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

async function readOrder(text: string): Promise<podPartner.Order | undefined> {
  if (podPartner.isReference("Order", text)) return partner.orders.get(text);
  const product = podPartner.parseReference("Product", text);
  // @ts-expect-error A product's reference does not fit an order's call.
  await partner.orders.get(product);
  // @ts-expect-error Nor does a text that nobody has looked at.
  await partner.orders.get(text);
  return undefined;
}

const emulator: ReturnType<typeof testing.startEmulator> = testing.startEmulator();

export = { readOrder, emulator };
