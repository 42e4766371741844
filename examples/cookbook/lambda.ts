/**
 * AWS Lambda: places the orders of an SQS queue. The set-up:
 *
 * - a Redis that the instances can reach, with `appendonly yes` and `noeviction`: they share what they have sent, and the rate limits
 * - `ReportBatchItemFailures`, and a dead-letter queue after 5 receives: an order that failed comes again, the others do not
 * - a timeout of 60 seconds for the function, and 6 minutes for the visibility of a message
 */
import type { SQSBatchItemFailure, SQSHandler, SQSRecord } from "aws-lambda";
import { Redis } from "ioredis";
import { type IdentifiedOrderInput, PodPartner } from "pod-partner";
import { nodeTransport } from "pod-partner/node";
import { redisPacing, redisStorage } from "pod-partner/redis";

// Outside of the handler: an instance keeps the client and its connections. While an instance is frozen, they may end, so `nodeTransport`
// sends each write on a new one. The client reads POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY.
const redis = new Redis(process.env.REDIS_URL ?? "");
const partner = new PodPartner({
  transport: nodeTransport(),
  storage: redisStorage(redis),
  pacing: { shared: redisPacing(redis) },
});

async function place({ messageId, body }: SQSRecord, deadline: number): Promise<SQSBatchItemFailure[]> {
  try {
    const order: IdentifiedOrderInput = JSON.parse(body); // the SDK checks it before it sends anything
    // Once, also if the message comes twice at the same time, or an instance was ended in the middle.
    const { reference, existed } = await partner.orders.ensure(order, { deadline });
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
