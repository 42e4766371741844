// Receives callbacks of one order, and prints the statuses and what was handled.
import { PodPartner } from "pod-partner";
import { createOrderUpdatedReceiver } from "pod-partner/callbacks";

const { baseUrl, secretKey, order, unknown } = JSON.parse(process.env.INPUT);
const token = "0d5b3c9a7e1f4826";
const handled = [];
let handlers = 0;

const receiver = createOrderUpdatedReceiver({
  partner: new PodPartner({ baseUrl, secretKey }),
  token,
  environment: "test",
  onOrderUpdated: ({ order }) => {
    handled.push(order.reference);
    if (handlers++ === 0) throw new RangeError("the first one fails");
  },
  onError: () => {},
});

const receive = async (changes) => {
  const parameters = { token, environment: "test", order_reference_v2: order, store_code: "shop", ...changes };
  const request = new Request(`https://shop.example/callbacks?${new URLSearchParams(parameters)}`);
  return (await receiver.fetch(request)).status;
};

const failed = await receive();
const shared = await Promise.all([receive(), receive(), receive()]);
const statuses = {
  failed,
  shared,
  forged: await receive({ token: "forged" }),
  invalid: await receive({ environment: "live" }),
  unknown: await receive({ order_reference_v2: unknown }),
};
await receiver.close();
console.log(JSON.stringify({ ...statuses, closed: await receive(), handled }));
