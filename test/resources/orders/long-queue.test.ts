import { createManualClock } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { fetchFailed } from "../../support/fetch-failed.ts";
import { combinedOrder } from "../../support/orders.ts";
import { partnerWith } from "../../support/partner.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";

/** A bucket whose next token comes in ten seconds. */
const drained = { "x-ratelimit": '"default";r=0;t=10', "x-ratelimit-policy": '"default";q=1;w=10' };

const lost = () => Promise.reject(fetchFailed("ECONNRESET", "read"));
const nowhere = (headers = {}) => Response.json({ code: "not_found", message: "None." }, { status: 404, headers });

/** Places an order whose first response is lost. The look-up with number `last` empties the bucket; later look-ups find the order. */
async function place(last: number) {
  const clock = createManualClock();
  let posts = 0;
  let looks = 0;
  const fetch = async (request: Request) => {
    if (request.method === "POST") {
      posts += 1;
      return posts === 1 ? lost() : Response.json({ order: { reference: ref("Order", "2") } }, { status: 201 });
    }
    looks += 1;
    if (looks > last) return Response.json({ orderReference: ref("Order") });
    return nowhere(looks === last ? drained : {});
  };
  const retry = { retries: 1, baseDelay: 0, maxDelay: 0 };
  const partner = partnerWith({ clock, fetch, retry });
  const { recovered } = await settle(clock, partner.orders.create(combinedOrder));
  return { posts, looks, recovered };
}

describe("an order that waits long for the token of its second attempt", () => {
  it("is looked up again before it is sent, and found", async () => {
    const { posts, looks } = await place(Number.POSITIVE_INFINITY);
    expect(posts).toBe(2);
    expect(await place(looks)).toEqual({ posts: 1, looks: looks + 1, recovered: true });
  });
});
