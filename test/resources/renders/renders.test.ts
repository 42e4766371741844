import { type Download, NotReadyError, RenderFailedError, RendertokenLimitError } from "pod-partner";
import { createManualClock } from "pod-partner/testing";
import { describe, expect, it, vi } from "vitest";
import { expectSent, missing, rejection, useExchange } from "../../support/exchange.ts";
import { partnerWith } from "../../support/partner.ts";
import { jpeg } from "../../support/pictures.ts";
import { ref } from "../../support/references.ts";
import { settle } from "../../support/settle.ts";
import type { Recorded, StubResponse } from "../../support/stub-service.ts";

const completed = {
  reference: ref("Render", "1"),
  compositionReference: ref("Composition", "1"),
  imageReference: ref("Image", "1"),
  status: "completed",
  thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
  media: { mimeType: "image/jpeg", extension: "jpg", size: 120_345, later: 1 },
  thumbnail: { mimeType: "image/webp", extension: "webp", size: 1200 },
  created: "2026-11-20T09:00:00.000Z",
  completed: "2026-11-20T09:00:12.000Z",
  later: "kept",
};
const pending = {
  reference: ref("Render", "1"),
  compositionReference: ref("Composition", "1"),
  imageReference: ref("Image", "1"),
  status: "pending",
  created: "2026-11-20T09:00:00.000Z",
};
const input = { compositionReference: ref("Composition", "1"), imageReference: ref("Image", "1") };

describe("renders (specification 2.9, 3.2, 4.6)", () => {
  const { context, exchange, checksResponses } = useExchange();
  const renders = () => context.partner.renders;
  const reference = ref("Render", "1");

  it.each([200, 201, 202])("renders.create sends POST /renders and returns the reference on a %i", async (status) => {
    const result = await exchange(
      () => renders().create(input),
      {
        line: "POST /renders",
        json: { render: { compositionReference: ref("Composition", "1"), imageReference: ref("Image", "1") } },
      },
      { status, body: { render: { reference, later: 1 } } },
    );
    expect(result).toStrictEqual({ reference, later: 1 });
  });

  it("renders.create throws a RendertokenLimitError with the time of the reset when the week's tokens are used up", async () => {
    context.service.respond({
      status: 429,
      headers: { "retry-after": "86400" },
      body: { code: "rendertoken_limit_exceeded", message: "Not enough tokens." },
    });
    const before = Date.now();
    const error = await rejection(renders().create(input));
    if (!RendertokenLimitError.isInstance(error)) throw error;
    const reset = Date.parse(error.resetsAt ?? "");
    expect(reset).toBeGreaterThanOrEqual(before + 86_400_000 - 1000);
    expect(reset).toBeLessThanOrEqual(Date.now() + 86_400_000 + 1000);
    expect(error.isRetryable).toBe(false);
  });

  it.each([
    ["pending, without the fields of completion", pending],
    ["pending, with nulls", { ...pending, thumbhash: null, media: null, thumbnail: null, completed: null }],
    ["failed", { ...pending, status: "failed" }],
  ])("renders.get returns a render that is %s", async (_, render) => {
    const result = await exchange(
      () => renders().get(reference),
      { line: `GET /renders/${reference}` },
      { body: { render } },
    );
    expect(result).toStrictEqual(render);
  });

  checksResponses("renders.get", {
    call: (partner) => partner.renders.get(reference),
    wire: { render: completed },
    refuses: [
      // RenderStatus is a strict enum (9.6).
      [["render", "status"], "queued"],
      [["render", "status"], "Completed"],
    ],
  });

  checksResponses("renders.create", {
    call: (partner) => partner.renders.create(input),
    wire: { render: { reference } },
    refuses: [
      [["render"], missing],
      [["render", "reference"], missing],
      [["render", "reference"], ref("Composition", "1")],
    ],
  });

  it("renders.wait polls GET /renders/{renderReference} and returns the completed render", async () => {
    const result = await exchange(
      () => renders().wait(reference),
      { line: `GET /renders/${reference}` },
      { body: { render: completed } },
    );
    expect(result).toStrictEqual(completed);
  });

  it("renders.wait throws a RenderFailedError as soon as the render has failed", async () => {
    context.service.respond({ body: { render: { ...pending, status: "failed" } } });
    const error = await rejection(renders().wait(reference));
    if (!RenderFailedError.isInstance(error)) throw error;
    expect(error.reference).toBe(reference);
    expect(context.service.requests).toHaveLength(1);
  });

  it("renders.wait throws a NotFoundError for a render that does not exist", async () => {
    context.service.respond({ status: 404, body: { code: "not_found", message: "No such render." } });
    expect(await rejection(renders().wait(reference))).toMatchObject({ name: "NotFoundError", code: "not_found" });
    expect(context.service.requests).toHaveLength(1);
  });

  it.each<[string, () => void]>([
    [
      "throws",
      () => {
        throw new Error("enough");
      },
    ],
    ["rejects with", () => Promise.reject(new Error("enough"))],
  ])("renders.wait ends with the error that onPending %s", async (_, onPending) => {
    context.service.respondAlways({ body: { render: pending } });
    await expect(rejection(renders().wait(reference, { onPending }))).resolves.toMatchObject({ message: "enough" });
    expect(context.service.requests).toHaveLength(1);
  });

  it("renders.wait stops polling when the status is unknown", async () => {
    context.service.respondAlways({ body: { render: { ...pending, status: "melted" } } });
    await expect(rejection(renders().wait(reference))).resolves.toMatchObject({ name: "ResponseValidationError" });
    expect(context.service.requests).toHaveLength(1);
  });

  /** A partner on a clock that is moved by hand; each request is recorded with its time. */
  function waiting(respond: (path: string) => StubResponse | undefined) {
    const clock = createManualClock();
    const seen: { readonly request: Recorded; readonly at: number }[] = [];
    context.service.respondAlways((request) => {
      seen.push({ request, at: clock.now() });
      return respond(request.path) ?? { body: { render: pending } };
    });
    // Over a real port, an attempt may take any number of steps of the clock.
    const partner = context.connect({ clock, timeout: 3_600_000 });
    return { clock, partner, asked: (file: string) => seen.filter(({ request }) => request.path.endsWith(file)) };
  }

  it.each<[string, object, string | undefined, number]>([
    ["after 60 seconds", {}, undefined, 60_000],
    ["when Retry-After says", {}, "4", 4_000],
    ["a second later at the earliest", {}, "0", 1_000],
    ["after 60 seconds at the latest", {}, "86400", 60_000],
    ["as often as the option `interval` says", { interval: 20_000 }, "4", 20_000],
  ])("renders.wait reads the status again %s", async (_, options, retryAfter, wait) => {
    const responses = [pending, pending, completed];
    const headers = retryAfter === undefined ? {} : { "retry-after": retryAfter };
    const { clock, partner, asked } = waiting(() => ({ headers, body: { render: responses.shift() } }));
    await settle(clock, partner.renders.wait(reference, options), 10);
    const [first = 0, second = 0, third = 0] = asked(reference).map(({ at }) => at);
    for (const waited of [second - first, third - second]) {
      expect(waited).toBeGreaterThanOrEqual(wait);
      expect(waited).toBeLessThan(wait + 5_000);
    }
  });

  it.each<[number | undefined, number]>([
    [59_999, 1],
    [60_000, 0],
    [undefined, 0],
  ])(
    "renders.wait with the interval %s warns %i times: the specification asks for a minute",
    async (interval, times) => {
      const emitted = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
      const { clock, partner } = waiting(() => ({ body: { render: completed } }));
      for (let wait = 0; wait < 2; wait += 1) await settle(clock, partner.renders.wait(reference, { interval }), 10);
      const calls = emitted.mock.calls.slice();
      emitted.mockRestore();
      const text =
        "renders.wait reads the status every 59999 ms. The specification asks for 60 seconds between two reads";
      expect(calls).toEqual(
        Array.from({ length: times }, () => [expect.stringContaining(text), { code: "POD_PARTNER_SHORT_INTERVAL" }]),
      );
    },
  );

  it("renders.wait reads every status with the query and the headers of its options", async () => {
    const responses = [pending, completed];
    const { clock, partner, asked } = waiting(() => ({ body: { render: responses.shift() } }));
    const options = { interval: 1_000, query: { expand: "media" }, headers: { "x-trace": "7" } };
    await settle(clock, partner.renders.wait(reference, options), 1_000);
    const statuses = asked("").map(({ request }) => [request.path, request.headers["x-trace"]]);
    const path = `/v2/renders/${reference}?expand=media`;
    expect(statuses).toEqual([path, path].map((each) => [each, "7"]));
  });

  const files = {
    media: (wait?: true): Promise<Download> =>
      wait ? context.partner.renders.media(reference, { wait }) : context.partner.renders.media(reference),
    thumbnail: (wait?: true): Promise<Download> =>
      wait ? context.partner.renders.thumbnail(reference, { wait }) : context.partner.renders.thumbnail(reference),
  };

  describe.each(["media", "thumbnail"] as const)("renders.%s", (file) => {
    const get = files[file];
    const ready = { headers: { "content-type": "image/jpeg", etag: '"abc"' }, body: jpeg };
    const notReady = (after: string) => ({ status: 202, headers: { "retry-after": after } });
    const line = `GET /renders/${reference}/${file}`;

    it(`renders.${file} sends ${line} and returns the bytes unchanged`, async () => {
      context.service.respond(ready);
      const download = await get();
      expect(download).toMatchObject({ contentType: "image/jpeg", etag: '"abc"', size: jpeg.length });
      expect(Buffer.from(await download.bytes()).equals(jpeg)).toBe(true);
      expect(context.service.requests).toHaveLength(1);
      expectSent(context.service.requests[0], { line });
    });

    it(`renders.${file} throws a NotReadyError on a 202, with the time to wait`, async () => {
      context.service.respond(notReady("60"));
      const error = await rejection(get());
      if (!NotReadyError.isInstance(error)) throw error;
      expect(error).toMatchObject({ status: 202, retryAfter: 60_000, isRetryable: true });
      expect(context.service.requests).toHaveLength(1);
    });

    it(`renders.${file} polls again after a 202 with the option to wait, at the interval of the service`, async () => {
      const responses = [notReady("5"), notReady("7"), ready];
      const { clock, partner, asked } = waiting((path) => (path.endsWith(file) && responses.shift()) || undefined);
      const download = await settle(clock, partner.renders[file](reference, { wait: true }), 10);
      expect(Buffer.from(await download.bytes()).equals(jpeg)).toBe(true);
      const requests = asked(file);
      expect(requests).toHaveLength(3);
      for (const { request } of requests) expectSent(request, { line });
      const [first = Number.NaN, second = Number.NaN, third = Number.NaN] = requests.map(({ at }) => at);
      expect(second - first).toBeGreaterThanOrEqual(5_000);
      expect(third - second).toBeGreaterThanOrEqual(7_000);
    });

    it.each([
      ["reads only the status", pending, 1, "WaitTimeoutError"],
      ["requests it when the status is completed", completed, 2, undefined],
    ])(`renders.${file}, whose deadline ends before Retry-After, %s`, async (_, render, requests, name) => {
      const responses = [notReady("10"), ready];
      const { clock, partner, asked } = waiting((path) =>
        path.endsWith(file) ? responses.shift() : { body: { render } },
      );
      const call = partner.renders[file](reference, { wait: true, deadline: 3_500 }).then(
        (download) => download.cancel(),
        (error: unknown) => error,
      );
      expect(await settle(clock, call, 10)).toEqual(name && expect.objectContaining({ name }));
      expect([asked(file).length, asked(reference).length]).toEqual([requests, 1]);
    });

    it(`renders.${file} polls once a second at most, whatever Retry-After says`, async () => {
      const { clock, partner, asked } = waiting((path) => (path.endsWith(file) ? notReady("0") : undefined));
      const call = partner.renders[file](reference, { wait: true, deadline: 20_000 });
      expect(await settle(clock, rejection(call), 10)).toMatchObject({ name: "WaitTimeoutError" });
      expect(asked(file).length).toBeGreaterThan(10);
      expect(asked(file).length).toBeLessThanOrEqual(21);
    });

    it(`renders.${file} calls onPending for a pending render, and not for one that was completed meanwhile`, async () => {
      for (const [render, calls] of [
        [pending, [pending]],
        [completed, []],
      ] as const) {
        const files = [notReady("5"), notReady("5"), ready];
        const { clock, partner } = waiting((path) => (path.endsWith(file) ? files.shift() : { body: { render } }));
        const seen: unknown[] = [];
        const wait = { interval: 4_000, onPending: (one: object) => seen.push(one) };
        await settle(clock, partner.renders[file](reference, { wait }), 10);
        expect(seen).toEqual(calls);
      }
    });

    it(`renders.${file} reads the status once in an interval, which shows that a render failed`, async () => {
      const render = { ...pending, status: "failed" };
      const { clock, partner, asked } = waiting((path) => (path.endsWith(file) ? notReady("5") : { body: { render } }));
      const began = clock.now();
      const error = await settle(clock, rejection(partner.renders[file](reference, { wait: true })), 10);
      expect(RenderFailedError.isInstance(error)).toBe(true);
      expect(asked(reference)).toHaveLength(1);
      expect(clock.now() - began).toBeGreaterThanOrEqual(60_000);
      expect(clock.now() - began).toBeLessThan(70_000);
    });

    it(`renders.${file} reads no status of a render that is completed within an interval`, async () => {
      const responses = [notReady("3"), ready];
      const { clock, partner, asked } = waiting((path) => (path.endsWith(file) && responses.shift()) || undefined);
      await (await settle(clock, partner.renders[file](reference, { wait: true }), 10)).cancel();
      expect([asked(file).length, asked(reference).length]).toEqual([2, 0]);
    });

    const refusals: readonly StubResponse[] = [
      ...[400, 404, 409, 410, 500].map((status) => ({
        status,
        body: { code: "no_file", message: "There is no file" },
      })),
      { status: 200, headers: { "content-type": "application/json" }, body: { render: { status: "failed" } } },
    ];
    it.each(refusals)(`renders.${file} reports a failed render whose file gives %j`, async (refused) => {
      const { clock, partner } = waiting((path) =>
        path.endsWith(file) ? refused : { body: { render: { ...pending, status: "failed" } } },
      );
      const error = await settle(clock, rejection(partner.renders[file](reference, { wait: true })), 10);
      expect(error).toMatchObject({ name: "RenderFailedError", reference, endpoint: expect.stringContaining(file) });
    });

    // What the file of a failed render gives is not shown.
    const ofFailed: readonly (readonly [status: number, code: string | undefined])[] = [
      ...[400, 404, 409, 410, 422, 500].flatMap((status) =>
        ["render_failed", "not_found", "conflict", undefined].map((code) => [status, code] as const),
      ),
      [403, "render_failed"],
      [202, undefined],
    ];
    const deadlines = [5_000, 30_000, 90_000, undefined];
    it.each(ofFailed.flatMap((one) => deadlines.map((deadline) => [...one, deadline] as const)))(
      `renders.${file} reports a render that fails while it waits, whose file then gives %s %s, with the deadline %s`,
      async (status, code, deadline) => {
        let fails = false;
        const { clock, partner, asked } = waiting((path) => {
          if (!path.endsWith(file)) return { body: { render: fails ? { ...pending, status: "failed" } : pending } };
          if (!fails || status === 202) return notReady("2");
          return { status, body: code === undefined ? "<h1>No</h1>" : { code, message: "There is no file" } };
        });
        const began = clock.now();
        const call = rejection(partner.renders[file](reference, { wait: true, deadline, retry: { retries: 0 } }));
        await settle(clock, new Promise<void>((resolve) => clock.after(1_500, resolve)), 10);
        fails = true;
        const error = await settle(clock, call, 10);
        expect(error).toMatchObject({ name: "RenderFailedError", reference, endpoint: expect.stringContaining(file) });
        // A file that is only not ready does not say that the render failed: the status does, in its interval or before the deadline.
        expect(clock.now() - began).toBeLessThanOrEqual(status === 202 ? Math.min(deadline ?? 70_000, 70_000) : 3_000);
        expect(asked(reference)).toHaveLength(code === "render_failed" ? 0 : 1);
      },
    );

    it(`renders.${file} reports a failed render also without waiting, if the service says so`, async () => {
      context.service.respond({ status: 409, body: { code: "render_failed", message: "The render failed" } });
      expect(await rejection(get())).toMatchObject({
        name: "RenderFailedError",
        reference,
        endpoint: `GET /renders/{renderReference}/${file}`,
        cause: { name: "ConflictError", code: "render_failed" },
      });
      expect(context.service.requests).toHaveLength(1);
    });

    it.each([
      ["is not failed", { body: { render: completed } }],
      ["is refused, too", { status: 404, body: { code: "not_found", message: "No render" } }],
    ])(`renders.${file} throws the refusal of a file when the status %s`, async (_, status) => {
      const refused = { status: 410, body: { code: "file_gone", message: "No longer" } };
      const { clock, partner, asked } = waiting((path) => (path.endsWith(file) ? refused : status));
      const error = await settle(clock, rejection(partner.renders[file](reference, { wait: true })), 10);
      expect(error).toMatchObject({ name: "GoneError", code: "file_gone" });
      expect([asked(file).length, asked(reference).length]).toEqual([1, 1]);
    });

    it.each([401, 403])(`renders.${file} reads no status after a %i`, async (status) => {
      context.service.respondAlways({ status, body: { code: "no", message: "no" } });
      expect(await rejection(get(true))).toMatchObject({ status });
      expect(context.service.requests).toHaveLength(1);
    });
  });

  it("renders.media throws the error of a status that it reads for a file that is not ready", async () => {
    const gone = { status: 410, body: { code: "render_gone", message: "No longer" } };
    const { clock, partner } = waiting((path) => (path.endsWith("media") ? { status: 202 } : gone));
    const error = await settle(clock, rejection(partner.renders.media(reference, { wait: true })), 10);
    expect(error).toMatchObject({ name: "GoneError", code: "render_gone" });
  });

  it("renders.media ends with the caller's reason at an abort while it reads the status of a refused file", async () => {
    const controller = new AbortController();
    const reason = new Error("the customer has left");
    const { partner } = waiting((path) => {
      if (path.endsWith("media")) return { status: 404, body: { code: "not_found", message: "There is no file" } };
      controller.abort(reason);
      return undefined;
    });
    const { signal } = controller;
    expect(await rejection(partner.renders.media(reference, { wait: true, signal }))).toBe(reason);
  });

  it("renders.media reads no status after a broken connection", async () => {
    const sent: string[] = [];
    const fetch = (request: Request) => {
      sent.push(request.url);
      return Promise.reject(new TypeError("fetch failed"));
    };
    const partner = partnerWith({ fetch, retry: { retries: 0 } });
    const error = await rejection(partner.renders.media(reference, { wait: true }));
    expect(error).toMatchObject({ name: "ConnectionError" });
    expect(sent).toHaveLength(1);
  });
});
