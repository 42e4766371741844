import { NotFoundError, PodPartner, parseReference } from "pod-partner";

const partner = new PodPartner();
const order = await partner.orders.get(parseReference("Order", process.env.FOUND));
const error = await partner.orders.get(parseReference("Order", process.env.MISSING)).catch((reason) => reason);

console.log(
  JSON.stringify({
    reference: order.reference,
    notFound: error instanceof NotFoundError,
  }),
);
