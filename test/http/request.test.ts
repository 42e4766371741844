import { RequestValidationError, ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";

describe("partner.request, for endpoints that the SDK does not know", () => {
  const context = useService();
  const refused = async (method: never, path: string) => {
    const error = await context.partner.request(method, path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RequestValidationError);
    expect(context.service.requests).toHaveLength(0);
    return error;
  };

  it.each([{ "X-Service-Secret-Key": "another" }, [["x-service-secret-key", "another"]] as const])(
    "refuses the key of the client among the headers, before it sends a request: %j",
    async (headers) => {
      const error = await rejection(context.partner.request("GET", "/things", { headers }));
      expect(error).toMatchObject({ name: "RequestValidationError" });
      expect(String(error)).toContain("is the key of the client");
      expect(context.service.requests).toEqual([]);
    },
  );

  it("sends the method, path and input with the key, and returns the JSON unchanged", async () => {
    context.service.respond({ status: 201, body: { thing: { id: 1 } } });
    const response = await context.partner.request("PATCH", "/things/a%2Fb", {
      query: { page: 2, none: undefined, tag: ["x", "y"] },
      body: { a: 1 },
    });
    expect(response).toEqual({ thing: { id: 1 } });
    const [request] = context.service.requests;
    expect(request).toMatchObject({ method: "PATCH", path: "/v2/things/a%2Fb?page=2&tag=x&tag=y" });
    expect(request?.headers).toMatchObject({ "x-service-secret-key": secretKey, "content-type": "application/json" });
    expect(JSON.parse(String(request?.body))).toEqual({ a: 1 });
  });

  it("returns undefined for a response without a body", async () => {
    context.service.respond({ status: 204 });
    expect(await context.partner.request("DELETE", "/things/1")).toBeUndefined();
  });

  it("checks the response with a schema of any Standard Schema library", async () => {
    const schema = z.object({ thing: z.object({ id: z.number() }) });
    context.service.respond({ body: { thing: { id: 1 } } }, { body: { thing: { id: "one" } } });
    const { thing } = await context.partner.request("GET", "/things/1", { schema });
    expect(thing.id).toBe(1);
    const error = await context.partner.request("GET", "/things/1", { schema }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ResponseValidationError);
    expect(error).toMatchObject({ issues: [{ path: ["thing", "id"] }] });
  });

  it("names the field that a schema refuses, in each form of Standard Schema", async () => {
    const issues = [
      { message: "whole" },
      { message: "keys", path: ["things", 0, Symbol("odd")] },
      { message: "objects", path: [{ key: "things" }, { key: 1 }] },
      { message: "no key", path: ["things", {}, undefined] as never },
    ];
    const schema = { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } } as const;
    context.service.respond({ body: {} });
    expect(await rejection(context.partner.request("GET", "/things", { schema }))).toMatchObject({
      issues: [
        { path: [], message: "whole" },
        { path: ["things", 0, "Symbol(odd)"], message: "keys" },
        { path: ["things", 1], message: "objects" },
        { path: ["things", "undefined", "undefined"], message: "no key" },
      ],
    });
  });

  it("refuses the result of an asynchronous schema", async () => {
    const validate = async () => Promise.reject(new Error("later"));
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
    context.service.respond({ body: {} });
    expect(await rejection(context.partner.request("GET", "/things", { schema }))).toMatchObject({
      name: "ResponseValidationError",
      message: expect.stringContaining("the schema is asynchronous, which is not supported: use one that checks synch"),
    });
  });

  it.each([
    ...["orders", "//evil.example/x", "/a/../b", "/a/%2e%2e/b", "/a/./b", "/a?b=c", "/a#b", "/a\\b", "/a b"],
    // `new URL` removes these characters, at the end or anywhere: the result could be another path.
    ...[
      "/orders/..\u0000",
      "/orders/.\u0001.",
      "/a/.\t./b",
      "/a/.\n.",
      "/a\u0000",
      "/a\u0000b",
      "/a\u007f",
      "/a\u0085b",
    ],
    // `new URL` encodes these characters.
    ...["/é", '/a"b', "/a<b>", "/a`b", "/a\ud800", "/\u2028"],
    ...["/a?", "/a#", "/a/%2E%2E", "/a/.%2e/b", "", ":", ":x", "@evil.example"],
    ...["http://evil.example/", ":80@evil.example/", ".evil.example/", "\\\\evil.example", "/\\evil.example"],
  ])("refuses the path %j", async (path) => {
    expect(await refused("PUT" as never, path)).toMatchObject({
      issues: [
        {
          path: ["path"],
          message:
            'expected a path such as "/orders": URL-encoded, without "." or ".." segments, and without a query: use the option `query`',
        },
      ],
    });
  });

  it.each(["/a/%00", "/a/..;/b", "/a/...", "/a//b", "/a/%2F..%2F", "/a:b@c/~!$&'()*+,;=", "/"])(
    "sends the path %j unchanged",
    async (path) => {
      context.service.respond({ body: {} });
      await context.partner.request("GET", path);
      expect(context.service.requests[0]?.path).toBe(`/v2${path}`);
    },
  );

  it.each([
    [Symbol("GET"), "/a"],
    [{ toString: null }, "/a"],
    ["GET", Symbol("/a")],
    ["GET", { toString: null }],
    [null, null],
  ])("refuses an invalid method or path, such as %o and %o", async (method, path) => {
    await refused(method as never, path as never);
  });

  it("refuses a method that the service does not have, and names the path", async () => {
    expect(await refused("TRACE" as never, "orders")).toMatchObject({
      issues: [{ path: ["method"] }, { path: ["path"] }],
    });
  });

  it("keeps braces in a path", async () => {
    context.service.respond({ body: {} });
    await context.partner.request("GET", "/things/{orderReference}");
    expect(context.service.requests[0]?.path).toBe("/v2/things/%7BorderReference%7D");
  });

  it.each(["GET", "PUT", "DELETE"] as const)("retries a %s whose response was lost", async (method) => {
    context.service.respond({ status: 502, body: "bad gateway" }, { body: {} });
    const partner = context.connect({ retry: { retries: 3, baseDelay: 0 } });
    await partner.request(method, "/things");
    expect(context.service.requests).toHaveLength(2);
  });
});
