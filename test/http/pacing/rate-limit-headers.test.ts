import { describe, expect, it } from "vitest";
import { useService } from "../../support/partner.ts";
import { jpeg } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";

/** The two headers of specification 8, as structured-field lists. */
const headers = (policy: string, limit: string) => ({ "x-ratelimit-policy": policy, "x-ratelimit": limit });
const validated = { message: "Yes." };

describe("the rate limits are read from the live headers (specification 8)", () => {
  const context = useService();
  const validate = () => context.partner.auth.validate();

  it("are those of the specification before the first response", () => {
    expect(context.partner.rateLimits.policies).toMatchObject({
      default: { quota: 3000, window: 60_000 },
      uploads: { quota: 5000, window: 86_400_000 },
      downloads: { quota: 100_000, window: 86_400_000 },
    });
  });

  it("have quota, window and remaining tokens, with times in milliseconds", async () => {
    context.service.respond({ headers: headers('"default";q=600;w=30', '"default";r=17;t=0'), body: validated });
    await validate();
    const { quota, window, remaining, nextTokenIn } = context.partner.rateLimits.policies.default ?? {};
    expect({ quota, window, nextTokenIn }).toStrictEqual({ quota: 600, window: 30_000, nextTokenIn: 0 });
    // The bucket refills continuously, at 20 tokens a second.
    expect(remaining).toBeGreaterThanOrEqual(17);
    expect(remaining).toBeLessThan(60);
  });

  it("have each policy of a list", async () => {
    context.service.respond({
      headers: headers('"default";q=3000;w=60, "uploads";q=5;w=3600', '"default";r=2998;t=0, "uploads";r=4;t=0'),
      body: { image: { reference: ref("Image") } },
    });
    await context.partner.images.upload(jpeg);
    expect(context.partner.rateLimits.policies).toMatchObject({
      default: { quota: 3000 },
      uploads: { quota: 5, window: 3_600_000 },
    });
    expect(Math.floor(context.partner.rateLimits.policies.uploads?.remaining ?? 0)).toBe(4);
  });

  it.each([
    ["tokens instead of quoted names", "default;q=600;w=30", "default;r=17;t=0"],
    ["unknown parameters", '"default";q=600;w=30;pk=:cHM=:', '"default";r=17;t=0;x="y"'],
    ["a decimal as the time of the next token", '"default";q=600;w=30', '"default";r=17;t=0.5'],
    ["spaces in the list", '"default"; q=600; w=30 ,  "burst";q=10;w=1', '"default"; r=17; t=0'],
  ])("are read with %s", async (_, policy, limit) => {
    context.service.respond({ headers: headers(policy, limit), body: validated });
    await validate();
    expect(context.partner.rateLimits.policies.default).toMatchObject({ quota: 600, window: 30_000 });
  });

  it.each([
    ["broken", '"default";q=;;', "{"],
    ["empty", "", ""],
    ["absurd", '"default";q=-5;w=0', '"default";r=-1;t=-1'],
    ["of another kind", "100", "17"],
  ])("are not changed by headers that are %s", async (_, policy, limit) => {
    context.service.respondAlways({ headers: headers(policy, limit), body: validated });
    await validate();
    expect(await validate()).toStrictEqual(validated);
    expect(context.partner.rateLimits.policies.default).toMatchObject({ quota: 3000, window: 60_000 });
  });

  it("are part of withResponse(), beside the response and the timeline", async () => {
    context.service.respond({
      status: 200,
      headers: { ...headers('"default";q=600;w=30', '"default";r=17;t=0'), "x-more": "1" },
      body: validated,
    });
    const { data, response, timeline, rateLimits } = await validate().withResponse();
    expect(data).toStrictEqual(validated);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-more")).toBe("1");
    expect(timeline).toMatchObject([{ step: "attempt", outcome: "200" }]);
    expect(rateLimits.policies.default).toMatchObject({ quota: 600, window: 30_000 });
  });
});
