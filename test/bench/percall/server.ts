/** A process of its own: answers every GET with one order, and with a budget that never runs out. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const body = JSON.stringify({
  order: {
    reference: `Order_${"0".repeat(26)}`,
    status: { code: "open" },
    orderlines: [
      {
        index: 1,
        productReference: `Product_${"0".repeat(26)}`,
        imageReference: `Image_${"0".repeat(26)}`,
        quantity: 2,
        canceledQuantity: 0,
        shippedQuantity: 0,
        annotations: [{ key: "shop", value: "42" }],
        legacySku: "SKU-1",
      },
    ],
    onHold: null,
    dropshipAddressReference: `Address_${"0".repeat(26)}`,
    legacyOrderCode: "shop-1",
  },
});
const headers = {
  "content-type": "application/json",
  "content-length": Buffer.byteLength(body),
  "x-ratelimit-policy": '"default";q=1000000000;w=60',
  "x-ratelimit": '"default";r=999999999;t=0',
};

const server = createServer({ keepAliveTimeout: 0 }, (_, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
