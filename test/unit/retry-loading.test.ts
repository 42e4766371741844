import { describe, expect, it, vi } from "vitest";
import { repeat } from "../../src/http/retry/retry.ts";

const loads = vi.hoisted(() => ({ count: 0 }));

// A package that an update has just removed from the disk cannot be loaded.
vi.mock("p-retry", () => {
  loads.count += 1;
  throw new Error("Cannot find package 'p-retry'");
});

describe("p-retry", () => {
  it("is not loaded for a call that succeeds, or that must not be retried", async () => {
    expect(
      await repeat(
        async () => "done",
        4,
        () => true,
      ),
    ).toBe("done");
    await expect(
      repeat(
        () => Promise.reject("refused"),
        4,
        () => false,
      ),
    ).rejects.toBe("refused");
    await expect(
      repeat(
        () => Promise.reject("no retries"),
        0,
        () => true,
      ),
    ).rejects.toBe("no retries");
    expect(loads.count).toBe(0);
  });

  it("ends the call with the error of the first attempt if it cannot be loaded", async () => {
    const attempts: number[] = [];
    const attempt = async (number: number) => {
      attempts.push(number);
      throw "the response was lost";
    };
    await expect(repeat(attempt, 4, () => true)).rejects.toBe("the response was lost");
    expect(attempts).toEqual([1]);
  });
});
