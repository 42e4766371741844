// Places orders one after the other, each after a call that leaves an open connection.
import { PodPartner } from "pod-partner";

const { baseUrl, secretKey, orders } = JSON.parse(process.env.INPUT);
const partner = new PodPartner({ baseUrl, secretKey });

const references = [];
for (const order of orders) {
  await partner.organization.get();
  references.push((await partner.orders.create(order)).reference);
}
console.log(JSON.stringify(references));
