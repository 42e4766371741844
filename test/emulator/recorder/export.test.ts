import { startEmulator } from "pod-partner/testing";
import { describe, expect, it } from "vitest";
import manifest from "../../../package.json" with { type: "json" };
import { respondWithRequests } from "../../../src/emulator/server/control-plane.ts";
import { createParts } from "../../../src/emulator/server/emulator.ts";
import { rejection } from "../../support/exchange.ts";
import { setUp } from "../support.ts";

describe("toHar()", () => {
  it("exports a request as HAR 1.2 says", async () => {
    const { emulator, send, clock } = setUp();
    emulator.faults.add({ fault: "slow", ms: 250 });
    const headers = { "Content-Type": "application/json" };
    const response = send("POST", "/auth/validate?a=1&b=%C3%A9", { headers, body: "{}" });
    await clock.advance(250);
    const text = JSON.stringify((await response).body);
    const { log } = emulator.requests.toHar();
    expect(log).toEqual({
      version: "1.2",
      creator: { name: "pod-partner emulator", version: manifest.version },
      entries: [
        {
          startedDateTime: "2026-11-02T09:00:00.000Z",
          time: 250,
          request: {
            method: "POST",
            url: "http://emulator.test/v2/auth/validate?a=1&b=%C3%A9",
            httpVersion: "HTTP/1.1",
            cookies: [],
            headers: [
              { name: "content-type", value: "application/json" },
              { name: "x-service-secret-key", value: "[redacted]" },
            ],
            queryString: [
              { name: "a", value: "1" },
              { name: "b", value: "é" },
            ],
            headersSize: -1,
            bodySize: 0,
          },
          response: {
            status: 400,
            statusText: "Bad Request",
            httpVersion: "HTTP/1.1",
            cookies: [],
            headers: expect.arrayContaining([{ name: "x-ratelimit", value: '"default";r=2999;t=0' }]),
            content: { size: Buffer.byteLength(text), mimeType: "application/json", text },
            redirectURL: "",
            headersSize: -1,
            bodySize: Buffer.byteLength(text),
          },
          cache: {},
          timings: { send: 0, wait: 250, receive: 0 },
          _id: 1,
          _call: "auth.validate",
          _fault: "slow",
          _outcome: "responded",
          _tokens: { default: 3000, uploads: 5000, downloads: 100_000 },
        },
      ],
    });
  });

  it("exports the body of a request, the target of a redirect, and a picture without its bytes", async () => {
    const { emulator, post, get, upload } = setUp();
    await post("/orders", { order: 1 });
    emulator.faults.add({ fault: "redirect", location: "https://elsewhere.test/", on: "orders.list" });
    await get("/orders");
    await upload("/images");
    const [order, redirect, image] = emulator.requests.toHar().log.entries;
    expect(order?.request.postData).toEqual({ mimeType: "application/json", text: '{"order":1}' });
    expect(redirect?.response).toMatchObject({ status: 302, redirectURL: "https://elsewhere.test/" });
    expect(image?.request.postData).toEqual({ mimeType: "application/octet-stream", text: "" });
    expect(image?.request.bodySize).toBeGreaterThan(0);
  });

  it("exports a request without a response with the status 0", async () => {
    const { emulator, get } = setUp();
    emulator.faults.add({ fault: "drop" });
    await rejection(get("/orders"));
    const [entry] = emulator.requests.toHar().log.entries;
    expect(entry?.response).toMatchObject({ status: 0, statusText: "", content: { size: 0, mimeType: "" } });
    expect(entry).toMatchObject({ _fault: "drop", _outcome: "dropped" });
  });
});

describe("the log over HTTP", () => {
  const bench = async () => {
    const { emulator, get } = setUp();
    for (const path of ["/orders", "/stores", "/nowhere", "/orders?cursor=x"]) await get(path);
    const read = async (path: string) => {
      const url = new URL(`http://127.0.0.1:4010/_emulator/${path}`);
      const response = respondWithRequests(emulator.requests, url) ?? expect.fail("not responsible");
      expect(response.headers.get("Content-Type")).toBe("application/json");
      // biome-ignore lint/suspicious/noExplicitAny: the shape is compared
      return { status: response.status, body: (await response.json()) as any };
    };
    const ids = async (query: string) =>
      (await read(`requests?${query}`)).body.requests.map(({ id }: { id: number }) => id);
    return { emulator, read, ids };
  };

  it("lists the newest requests first, without headers and bodies", async () => {
    const { read, ids } = await bench();
    expect(await ids("")).toEqual([4, 3, 2, 1]);
    expect((await read("requests?limit=1&before=4")).body).toEqual({
      requests: [
        {
          id: 3,
          time: Date.parse("2026-11-02T09:00:00Z"),
          call: null,
          method: "GET",
          path: "/nowhere",
          status: 404,
          duration: 0,
          tokens: { default: 2997, uploads: 5000, downloads: 100_000 },
          fault: null,
          code: "not_found",
          subject: null,
          start: expect.any(Number),
          outcome: "responded",
        },
      ],
    });
  });

  it("filters, and pages by id", async () => {
    const { ids } = await bench();
    expect(await ids("on=orders.list")).toEqual([4, 1]);
    expect(await ids("on=GET%20/stores&method=GET")).toEqual([2]);
    expect(await ids("path=/orders&status=400")).toEqual([4]);
    expect(await ids("outcome=dropped")).toEqual([]);
    expect(await ids("limit=2")).toEqual([4, 3]);
    expect(await ids("limit=2&before=3")).toEqual([2, 1]);
  });

  it.each(["limit=0", "limit=x", "limit=1.5", "before=x", "status=x", "on=orders.lst", "fault=none", "stauts=200"])(
    "refuses the query %s",
    async (query) => {
      const { read } = await bench();
      const { status, body } = await read(`requests?${query}`);
      expect([status, body]).toEqual([
        400,
        {
          code: "invalid_input",
          message: expect.stringContaining(query.split("=")[0] === "on" ? "orders.lst" : (query.split("=")[0] ?? "")),
        },
      ]);
    },
  );

  it("returns one request in full, and the archive", async () => {
    const { emulator, read } = await bench();
    expect(await read("requests/2")).toEqual({ status: 200, body: JSON.parse(JSON.stringify(emulator.requests[1])) });
    expect((await read("requests.har")).body).toEqual(JSON.parse(JSON.stringify(emulator.requests.toHar())));
    expect(await read("requests/99")).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await read("requests/x")).toMatchObject({ status: 404, body: { code: "not_found" } });
  });

  it("is served by an emulator on a port, and cleared by a control", async () => {
    await using emulator = await startEmulator();
    await fetch(`${emulator.baseUrl}/orders`);
    const { origin } = new URL(emulator.baseUrl);
    const read = async () => (await fetch(`${origin}/_emulator/requests`)).json();
    expect(await read()).toMatchObject({ requests: [{ id: 1, path: "/orders", status: 401, tokens: null }] });
    await fetch(`${origin}/_emulator/requests.clear`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: "{}",
    });
    expect(await read()).toEqual({ requests: [] });
    expect(emulator.requests).toEqual([]);
  });

  it("leaves other paths to others", () => {
    const { requests } = setUp().emulator;
    expect(respondWithRequests(requests, new URL("http://127.0.0.1/_emulator/requestsabc"))).toBeUndefined();
  });
});

it("a listener is called when a request starts and when it ends, until it is removed", async () => {
  const { emulator, recorder } = createParts({});
  const seen: unknown[] = [];
  const remove = recorder.subscribe(({ id, outcome, status }) => seen.push({ id, outcome, status }));
  const record = () => emulator.fetch(`${emulator.baseUrl}/orders`);
  await record();
  remove();
  await record();
  expect(seen).toEqual([
    { id: 1, outcome: "open", status: undefined },
    { id: 1, outcome: "responded", status: 401 },
  ]);
});
