import { expect, it } from "vitest";
import { soakBehind } from "../soak/behind.ts";
import { behindEachGateway } from "./setup.ts";

const job = {
  orders: 80,
  claims: 20,
  concurrency: 32,
  gatewayTimeout: 1_000,
  slowest: 4_000,
  reloadEvery: 500,
  transport: "fetch",
} as const;

behindEachGateway((kind) => {
  it("each order and claim is created once while the gateway reloads, and times out in 5 % of requests", async () => {
    const { orders, claims, wrong } = await soakBehind(kind, job);
    expect(wrong).toEqual([]);
    expect(orders).toMatchObject({ asked: 80, made: 80, failed: 0 });
    expect(claims).toMatchObject({ asked: 20, made: 20, failed: 0 });
  });
});
