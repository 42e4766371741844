import { describe, expect, it } from "vitest";
import { Turns } from "../../src/util/turns.ts";

describe("turns", () => {
  const wait = (turn: Promise<unknown>) => turn;

  it("lets work of one name wait for the one before, also when that fails, and of another name pass", async () => {
    const turns = new Turns();
    const order: string[] = [];
    const work =
      (name: string, fails = false) =>
      async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      };
    const first = turns.take("x", work("first", true), wait).catch((error: unknown) => String(error));
    const second = turns.take("x", work("second"), wait);
    const other = turns.take("y", work("other"), wait);
    expect(await Promise.all([first, second, other])).toEqual(["Error: first", "second", "other"]);
    expect(order.indexOf("second begins")).toBeGreaterThan(order.indexOf("first ends"));
    expect(order.indexOf("other begins")).toBeLessThan(order.indexOf("first ends"));
  });

  it("lets whoever gives up leave the line at once, and the next still wait for the first", async () => {
    const turns = new Turns();
    const leaving = Promise.withResolvers<never>();
    const gate = Promise.withResolvers<string>();
    const first = turns.take("x", () => gate.promise, wait);
    const second = turns.take(
      "x",
      async () => "second",
      () => leaving.promise,
    );
    let thirdBegan = false;
    const third = turns.take(
      "x",
      async () => {
        thirdBegan = true;
      },
      wait,
    );
    leaving.reject("gone");
    await expect(second).rejects.toBe("gone");
    expect(thirdBegan).toBe(false);
    gate.resolve("first");
    expect(await first).toBe("first");
    await third;
  });
});
