import podPartner = require("pod-partner");
import callbacks = require("pod-partner/callbacks");
import testing = require("pod-partner/testing");

const partner = new podPartner.PodPartner({ baseUrl: "https://partner.example/v2", secretKey: "a-secret-key" });

async function readOrder(text: string): Promise<podPartner.Order | undefined> {
  if (podPartner.isReference("Order", text)) return partner.orders.get(text);
  const product = podPartner.parseReference("Product", text);
  // @ts-expect-error A call for an order does not accept a product's reference.
  await partner.orders.get(product);
  // @ts-expect-error A call for an order does not accept an unchecked string.
  await partner.orders.get(text);
  return undefined;
}

const receiver = callbacks.createOrderUpdatedReceiver({
  partner,
  token: false,
  onOrderUpdated: ({ order }) => order.reference,
});

const emulator: ReturnType<typeof testing.startEmulator> = testing.startEmulator();

export = { readOrder, receiver, emulator };
