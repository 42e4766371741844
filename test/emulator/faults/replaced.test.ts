import { type Emulator, type Fault, type RunningEmulator, startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import { rejection } from "../../support/exchange.ts";

/** Each fault that holds a response until the client leaves. */
const holding: readonly Fault[] = [
  { fault: "stall" },
  { fault: "trickle", ms: 3_600_000 },
  { fault: "slow", ms: 3_600_000 },
  { fault: "slow", ms: 3_600_000, when: "before" },
  { fault: "gateway", ms: 3_600_000, processing: 7_200_000 },
];

/** Each way to end the state that a response belongs to. */
const ways: readonly [string, (world: Emulator & { remove(): void }, running: RunningEmulator) => unknown][] = [
  ["reset", (world) => world.reset()],
  ["load", (world) => world.load(world.world())],
  ["rewind", (world) => world.rewind()],
  ["removal", (world) => world.remove()],
  ["end", (_world, running) => running.close()],
];

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
};

describe.each(ways)("the %s of a world", (_name, end) => {
  it.each(holding)("ends the response that the fault $fault holds", async (fault) => {
    await using running = await startEmulator();
    const world = running.worlds.create();
    world.checkpoint();
    world.faults.add(fault);
    const headers = { "X-Service-Secret-Key": world.secretKey };
    const body = fetch(`${world.baseUrl}/stores`, { headers }).then((response) => response.text());
    const lost = rejection(body);
    await until(() => world.requests.length === 1);
    await end(world, running);
    expect(await lost).toBeInstanceOf(TypeError);
  });
});

it("the reset of a world ends the response that a fault holds in this process, too", async () => {
  await using emulator = await startEmulator();
  emulator.faults.add({ fault: "stall" });
  const headers = { "X-Service-Secret-Key": emulator.secretKey };
  const response = await emulator.fetch(`${emulator.baseUrl}/stores`, { headers });
  const lost = rejection(response.text());
  emulator.reset();
  expect(await lost).toMatchObject({ message: "terminated" });
  expect(emulator.requests[0]?.outcome).toBe("dropped");
});
