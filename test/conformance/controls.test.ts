import { expect, it } from "vitest";
import { effectsOnCatalog } from "./controls/of-catalog.ts";
import { effectsOnOrders } from "./controls/of-orders.ts";
import { effectsOnWorlds } from "./controls/of-worlds.ts";
import { controlsOf, tryControl } from "./support/controls.ts";
import { startService } from "./support/service.ts";

const effects = { ...effectsOnOrders, ...effectsOnCatalog, ...effectsOnWorlds };

it.each(Object.entries(effects))("POST /_emulator/%s has its effect", async (_, test) => await test());

it("every control has a test of its effect, and no other name", async () => {
  await using service = await startService();
  const { controls } = (await (await fetch(controlsOf(service))).json()) as { controls: { name: string }[] };
  expect(Object.keys(effects).sort()).toEqual(controls.map(({ name }) => name).sort());
});

it.each(Object.keys(effects))("POST /_emulator/%s refuses an unknown field", async (name) => {
  await using service = await startService();
  const { status, body } = await tryControl(service, name, { unknownField: true });
  expect([status, body.code]).toEqual([400, "invalid_input"]);
});
