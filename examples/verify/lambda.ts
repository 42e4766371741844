/** Five messages for the function of examples/cookbook/lambda.ts: `REDIS_URL=… npx pod-partner verify -- node lambda.ts`. */
import type { Context, SQSEvent } from "aws-lambda";
import { fiveOrders } from "./orders.ts";
import { redisOfRow } from "./redis.ts";

process.env.REDIS_URL = await redisOfRow();
const { orders } = await fiveOrders();
const { handler } = await import("../cookbook/lambda.ts");

const context: Pick<Context, "getRemainingTimeInMillis"> = { getRemainingTimeInMillis: () => 60_000 };
let messages = orders.map((order) => ({ messageId: order.customIdentifier, body: JSON.stringify(order) }));
while (messages.length > 0) {
  // What failed comes again, as SQS does it.
  const result = await handler({ Records: messages } as SQSEvent, context as Context, () => undefined);
  const failed = new Set(result?.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  messages = messages.filter(({ messageId }) => failed.has(messageId));
}
process.exit(); // an instance keeps its connections
