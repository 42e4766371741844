/**
 * AWS Lambda: places the orders of an SQS queue. The set-up:
 *
 * - a FIFO queue with the `customIdentifier` as `MessageGroupId`: no two instances have the same order at the same time
 * - `ReportBatchItemFailures`, and a dead-letter queue after 5 receives: an order that failed comes again, the others do not
 * - `MaximumConcurrency` 10: instances do not know each other's requests
 * - a timeout of 60 seconds for the function, and 6 minutes for the visibility of a message
 */
import type { SQSBatchItemFailure, SQSHandler, SQSRecord } from "aws-lambda";
import { type IdentifiedOrderInput, PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";

// Outside of the handler: an instance keeps the client, with what it knows of the limits. While an instance is frozen, its connections may
// end, so `nodeTransport` sends each write on a new one. The client reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY.
const partner = new PodPartner({ transport: nodeTransport() });

async function place({ messageId, body, attributes }: SQSRecord, deadline: number): Promise<SQSBatchItemFailure[]> {
  // The instance that had this message before may have been ended in the middle: look the order up while the service may work on it.
  const lookFor = Number(attributes.ApproximateReceiveCount) > 1 ? 30_000 : 0;
  try {
    const order: IdentifiedOrderInput = JSON.parse(body); // the SDK checks it before it sends anything
    const { reference, existed } = await partner.orders.ensure(order, { deadline, lookFor });
    console.log(order.customIdentifier, reference, existed ? "was there already" : "was placed");
    return [];
  } catch (error) {
    console.error(messageId, error);
    return [{ itemIdentifier: messageId }];
  }
}

export const handler: SQSHandler = async ({ Records }, context) => {
  // Two seconds less than the function has: a slow order becomes an error with a timeline, and the instance is not ended in the middle.
  const deadline = context.getRemainingTimeInMillis() - 2_000;
  const failures = await Promise.all(Records.map((record) => place(record, deadline)));
  return { batchItemFailures: failures.flat() };
};
