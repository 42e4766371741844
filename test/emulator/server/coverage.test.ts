import { startEmulator } from "pod-partner/testing";
import { expect, it } from "vitest";

interface Switch {
  readonly options: readonly string[];
  readonly controls: readonly string[];
}

interface Coverage {
  readonly everyEndpoint: { readonly models: string; readonly switch: Switch };
  readonly endpoints: readonly {
    readonly call: string;
    readonly method: string;
    readonly path: string;
    readonly models: string;
    readonly switch: Switch;
  }[];
  readonly notShown: readonly {
    readonly number: number;
    readonly section: string;
    readonly notShown: string;
    readonly emulator: string;
    readonly switch: Switch;
  }[];
}

const read = async (base: string) => (await (await fetch(`${base}/_emulator/coverage`)).json()) as Coverage;

it("GET /_emulator/coverage says what is modelled of each endpoint, and what changes it", async () => {
  await using emulator = await startEmulator();
  const { everyEndpoint, endpoints, notShown } = await read(new URL(emulator.baseUrl).origin);
  expect(endpoints.find(({ path }) => path === "/orders/{orderReference}/cancel")).toEqual({
    call: "orders.cancel",
    method: "POST",
    path: "/orders/{orderReference}/cancel",
    models: "total canceled quantities, all or nothing",
    switch: { options: [], controls: ["startProduction", "ship", "setStoreIntegration"] },
  });
  expect(everyEndpoint.switch.controls).toContain("drain");
  expect(notShown.find(({ section }) => section === "7 rule 2")).toEqual({
    number: 102,
    section: "7 rule 2",
    notShown: "which endpoints are not available, and the body of a 501",
    emulator: "none; the error object with `not_implemented`",
    switch: { options: ["unavailable"], controls: [] },
  });
  expect(endpoints.filter(({ models }) => models === "")).toEqual([]);
});

it("GET /_emulator/coverage is refused to a page of another site, and is in each isolated world", async () => {
  await using emulator = await startEmulator();
  const { origin } = new URL(emulator.baseUrl);
  const headers = { Origin: "https://elsewhere.example" };
  expect((await fetch(`${origin}/_emulator/coverage`, { headers })).status).toBe(403);
  emulator.worlds.create({ name: "a" });
  expect((await read(`${origin}/worlds/a`)).endpoints.length).toBeGreaterThan(40);
});

it("GET /_emulator/gaps returns what the specification does not show, with what the SDK assumes", async () => {
  await using emulator = await startEmulator();
  const response = await fetch(new URL("/_emulator/gaps", emulator.baseUrl));
  const { gaps } = (await response.json()) as { gaps: readonly { readonly number: number }[] };
  expect(gaps.find(({ number }) => number === 89)).toMatchObject({
    section: "4.12 gap 7",
    notShown: "the query parameter of the look-up by custom identifier",
    sdk: "`customIdentifier`",
    emulator: "`customIdentifier`",
    code: ["src/schemas/assumptions.ts"],
  });
});
