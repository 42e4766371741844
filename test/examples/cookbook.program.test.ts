import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Context, SQSEvent } from "aws-lambda";
import { Redis } from "ioredis";
import { type OrderReference, PodPartner } from "pod-partner";
import { type EmulatorOptions, sampleImage, startEmulator, validOrder } from "pod-partner/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { describeWithRedis, useRedis } from "../redis/use-redis.ts";
import { newFolder, root, runExample, sendCallback, startExample, token } from "./process.ts";

const folder = join(root, "examples/cookbook");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** An emulator, a client of it, and the environment of a program that uses it. */
async function service(options: EmulatorOptions = {}) {
  const emulator = await startEmulator({ renderDuration: 0, ...options });
  onTestFinished(() => emulator.close());
  const { baseUrl, secretKey } = emulator;
  const partner = new PodPartner({ baseUrl, secretKey });
  const environment = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey, PORT: "0" };
  const stored = () => emulator.world().organizations[0]?.orders ?? [];
  const sent = (start: string) =>
    emulator.requests.filter(({ method, path }) => `${method} ${path}`.startsWith(start)).length;
  return { emulator, partner, environment, stored, sent };
}

describe("the cookbook", () => {
  const files = readdirSync(folder);

  it.each(files)("%s has less than 60 lines, and is in docs/cookbook.md", (name) => {
    expect(read(`examples/cookbook/${name}`).split("\n").length).toBeLessThan(60);
    expect(read("docs/cookbook.md")).toContain(`(../examples/cookbook/${name})`);
  });
});

describe("shopify-webhook.ts", () => {
  const secret = "hush";
  const webhook = JSON.stringify({
    id: 450_789_469,
    email: "bob@example.com",
    shipping_address: {
      first_name: "Bob",
      last_name: "Norman",
      company: null,
      address1: "Chestnut Street 92",
      address2: "",
      zip: "40202",
      city: "Louisville",
      province_code: "KY",
      country_code: "US",
    },
    line_items: [
      { sku: "ADA-1", quantity: 2 },
      { sku: "GIFT-CARD", quantity: 1 },
    ],
  });
  const sign = (body: string) => createHmac("sha256", secret).update(body).digest("base64");

  async function shop() {
    // An identifier that is sent twice makes two orders: only the program prevents it.
    const { emulator, partner, environment, stored, sent } = await service({ repeatedIdentifier: "create" });
    const { reference: image } = await partner.images.upload(sampleImage());
    const home = await newFolder();
    await writeFile(
      join(home, "skus.json"),
      JSON.stringify({ "ADA-1": { product: emulator.demo.products.slimCase, image } }),
    );
    const variables = { ...environment, SHOPIFY_SECRET: secret, STORE_REFERENCE: emulator.demo.stores.api };
    const start = () => startExample("cookbook/shopify-webhook.ts", variables, home);
    const send = async (origin: string, signature = sign(webhook)) => {
      const headers = { "X-Shopify-Hmac-Sha256": signature, "Content-Type": "application/json" };
      const { status } = await fetch(`${origin}/webhooks/orders`, { method: "POST", headers, body: webhook });
      return status;
    };
    return {
      emulator,
      stored,
      sent,
      start,
      send,
      results: () => new DatabaseSync(join(home, "shopify.db")).prepare("SELECT result FROM inbox").all(),
    };
  }

  it("places the order of a webhook that comes three times once, and refuses a forged one", async () => {
    const { stored, start, send, results } = await shop();
    const program = start();
    const origin = await program.origin();
    expect(await send(origin, sign(`${webhook} `))).toBe(401);
    expect(await send(origin, "")).toBe(401);
    expect(await Promise.all([send(origin), send(origin), send(origin)])).toEqual([200, 200, 200]);
    expect(await program.end("SIGTERM")).toEqual([0, null]);
    expect(stored()).toMatchObject([{ customIdentifier: "shopify-450789469", lines: [{ quantity: 2 }] }]);
    expect(results()).toEqual([{ result: stored()[0]?.reference }]);
  });

  it("places the order once that two processes receive at the same time, and places nothing again when one starts anew", async () => {
    const { emulator, stored, sent, start, send, results } = await shop();
    emulator.faults.add({ on: "orders.create", fault: "slow", ms: 300, when: "before" });
    const programs = [start(), start()];
    const origins = await Promise.all(programs.map((program) => program.origin()));
    expect(await Promise.all(origins.map((origin) => send(origin)))).toEqual([200, 200]);
    // The second one finds the order in the inbox and places it, too.
    const third = start();
    await third.origin();
    for (const program of [...programs, third]) expect(await program.end("SIGTERM")).toEqual([0, null]);
    expect(sent("POST /orders")).toBe(1);
    expect(stored()).toHaveLength(1);
    expect(results()).toEqual([{ result: stored()[0]?.reference }]);
  });

  it("places the order once when it is killed while the service works on it", async () => {
    const { emulator, stored, sent, start, send, results } = await shop();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 1_000, when: "before" });
    const killed = start();
    expect(await send(await killed.origin())).toBe(200);
    await expect.poll(() => sent("POST /orders")).toBe(1);
    await killed.end("SIGKILL");
    expect(stored()).toEqual([]);
    const next = start();
    await next.origin();
    expect(await next.end("SIGTERM")).toEqual([0, null]);
    expect(sent("POST /orders")).toBe(1);
    expect(results()).toEqual([{ result: stored()[0]?.reference }]);
  });
});

describe("orders-to-postgres.ts", () => {
  it("copies every order, and reads only the open ones the next night", async () => {
    const { emulator, partner, environment, stored, sent } = await service({ seed: { orders: 5 } });
    const [first, , third] = (await partner.orders.list().toArray()).map(({ reference }) => reference);
    if (!first || !third) throw new Error("There are no orders");
    emulator.ship(first);
    const database = join(await newFolder(), "postgres");
    const night = () =>
      runExample("cookbook/orders-to-postgres.ts", {
        environment: { ...environment, DATABASE: database },
        node: ["--liftoff-only"], // compiles PGlite in half the time
      });
    emulator.faults.add({
      on: "orders.get",
      nth: 2,
      fault: "status",
      status: 404,
      code: "not_found",
    });

    const failed = await night();
    expect(failed).toMatchObject({ code: 1, output: expect.stringMatching(/^4 orders read, 1 failed$/m) });
    emulator.faults.clear();
    emulator.ship(third);
    const from = sent("GET /orders/");
    const { code, output, errors } = await night();
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(output).toMatch(/^4 orders read, 0 failed$/m);
    expect(sent("GET /orders/") - from).toBe(4);
    const open = stored().filter(({ reference }) => reference !== first && reference !== third);
    const units = open.flatMap(({ lines }) => lines).reduce((sum, { quantity }) => sum + quantity, 0);
    const counted = [...output.matchAll(/^Product_\w+ (\d+) units are open$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
    expect(counted).toBe(units);
  });
});

describe("sync-catalog.ts", () => {
  it("stores what is new, changed and gone, and after a night that failed what it missed", async () => {
    const { emulator, environment } = await service();
    const database = join(await newFolder(), "catalog.db");
    const night = () => runExample("cookbook/sync-catalog.ts", { environment: { ...environment, DATABASE: database } });
    const products = () =>
      new DatabaseSync(database).prepare("SELECT reference, status, available FROM products").all();

    expect(await night()).toMatchObject({ code: 0, output: "14 added, 0 changed, 0 removed\n" });
    expect(products()).toHaveLength(14);
    const { slimCase, toughCase } = emulator.demo.products;
    emulator.updateProduct(slimCase, { status: "sunsetted", availableQuantity: 3 });
    emulator.updateProduct(toughCase, { status: "archived" });
    emulator.faults.add({ on: "catalog.products.list", nth: 1, fault: "body", body: "<html>" });
    const failed = await night();
    expect(failed.code).toBe(1);
    expect(failed.errors).toContain("ResponseValidationError");
    expect(products()).toHaveLength(14);

    const { code, output } = await night();
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/changed: status, availableQuantity\n.+ is gone\n0 added, 1 changed, 1 removed\n$/),
    });
    expect(products()).toHaveLength(13);
    expect(products()).toContainEqual({ reference: slimCase, status: "sunsetted", available: 3 });
    expect(await night()).toMatchObject({ output: "0 added, 0 changed, 0 removed\n" });
  });
});

/** A server that takes mails by SMTP (RFC 5321). */
async function mailServer() {
  const mails: string[] = [];
  const server = createServer((socket) => {
    let mail: string[] | undefined;
    socket.write("220 mail.example\r\n");
    createInterface(socket).on("line", (line) => {
      if (mail === undefined) {
        if (line === "DATA") mail = [];
        socket.write(line === "DATA" ? "354 go on\r\n" : line === "QUIT" ? "221 bye\r\n" : "250 ok\r\n");
      } else if (line === ".") {
        mails.push(mail.join("\n"));
        mail = undefined;
        socket.write("250 ok\r\n");
      } else mail.push(line);
    });
    socket.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { mails, url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("tracking-mails.ts", () => {
  it("mails each shipping once, with the links of the shipments that the response names", async () => {
    const { emulator, partner, environment, stored } = await service({
      seed: { orders: [{ dropshipMinimalShippingLevel: "tracked" }, { dropshipMinimalShippingLevel: "tracked" }] },
    });
    const [plain, named] = stored().map(({ reference }) => ({ reference, shipment: emulator.ship(reference) }));
    if (!plain || !named) throw new Error("There are no orders");
    const { mails, url } = await mailServer();
    const home = await newFolder();
    const start = async () => {
      const variables = { ...environment, CALLBACK_TOKEN: token, SMTP_URL: url, MAIL_FROM: "shop@example.com" };
      const program = startExample("cookbook/tracking-mails.ts", variables, home);
      const callbackUrl = `${await program.origin()}/?token=${token}`;
      return { end: program.end, call: (reference: OrderReference) => sendCallback(callbackUrl, reference) };
    };
    const first = await start();
    expect([await first.call(plain.reference), await first.call(plain.reference)]).toEqual([204, 204]);
    const order = await partner.orders.get(plain.reference);
    const { email } = await partner.addresses.get(order.dropshipAddressReference ?? expect.fail("no address"));
    expect(mails).toEqual([expect.stringContaining(`To: ${email}`)]);
    expect(mails[0]).toMatch(/^(\d+) of \1 items are on their way\.$/m);
    expect(mails[0]).not.toContain("http");
    expect(await first.end("SIGTERM")).toEqual([0, null]);

    // Without what the follower remembers, the same change comes again.
    await rm(join(home, "partner.db"));
    const second = await start();
    expect(await second.call(plain.reference)).toBe(204);
    expect(mails).toHaveLength(1);
    const body = {
      order: { ...(await partner.orders.get(named.reference)), shipments: [{ reference: named.shipment }] },
    };
    emulator.faults.add({ on: "orders.get", fault: "body", body });
    expect(await second.call(named.reference)).toBe(204);
    const { trackingUrl } = await partner.shipments.get(named.shipment);
    expect(mails[1]).toContain(`\n${trackingUrl}`);
    expect(await second.end("SIGTERM")).toEqual([0, null]);
  });
});

describe("shop-page.ts", () => {
  it("shows mockups that are paid for once", async () => {
    const { emulator, environment, sent } = await service();
    const { scenes, products, perspectives } = emulator.demo;
    const home = await newFolder();
    await writeFile(join(home, "rings.png"), sampleImage("rings"));
    const row = {
      title: "Rings <b>",
      image: "rings.png",
      scene: scenes.studio,
      product: products.slimCase,
      perspective: perspectives.front,
    };
    await writeFile(
      join(home, "shop.json"),
      JSON.stringify([row, { ...row, title: "Tough rings", product: products.toughCase }]),
    );

    for (const start of [1, 2]) {
      const program = startExample("cookbook/shop-page.ts", environment, home);
      const origin = await program.origin();
      await program.printed(/^2 of 2 mockups$/);
      const page = await (await fetch(origin)).text();
      const [, picture, ...others] = [...page.matchAll(/<img src="([^"]+)"/g)].map(([, path]) => path);
      expect(page).toContain("Rings &lt;b&gt;");
      expect(page).toContain("url(data:image/png;base64,");
      expect(others).toEqual([]);
      const response = await fetch(`${origin}${picture}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect((await response.bytes()).length).toBeGreaterThan(1_000);
      expect((await fetch(`${origin}/mockups/2/x`)).status).toBe(404);
      expect(await program.end("SIGTERM")).toEqual([0, null]);
      expect([start, sent("POST /renders"), sent("POST /images"), sent("GET /renders/")]).toEqual([
        start,
        2,
        1,
        expect.any(Number),
      ]);
    }
  });
});

describeWithRedis("lambda.ts", () => {
  const context = useRedis();

  it("places each message once, and returns the ones that failed", async () => {
    const { emulator, environment, stored } = await service({ repeatedIdentifier: "create" });
    const variables = { ...environment, REDIS_URL: context.server.url };
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const report = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const connect = vi.spyOn(Redis.prototype, "connect");
    onTestFinished(() => {
      for (const client of connect.mock.contexts) if (client instanceof Redis) client.disconnect();
      connect.mockRestore();
      vi.unstubAllEnvs();
      vi.resetModules();
      log.mockRestore();
      report.mockRestore();
    });
    /** An instance has the module for itself. */
    const startInstance = async () => {
      vi.resetModules();
      const { handler } = await import("../../examples/cookbook/lambda.ts");
      return (left: number, ...Records: object[]) => {
        const context: Pick<Context, "getRemainingTimeInMillis"> = { getRemainingTimeInMillis: () => left };
        return handler({ Records } as SQSEvent, context as Context, () => undefined);
      };
    };
    const invoke = await startInstance();
    const message = (messageId: string, order: object) => ({ messageId, body: JSON.stringify(order) });
    const order = validOrder(emulator, { customIdentifier: "shop-1" });
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "drop" });
    expect(
      await invoke(60_000, message("a", order), message("b", { ...order, customIdentifier: "shop-2", orderlines: [] })),
    ).toEqual({
      batchItemFailures: [{ itemIdentifier: "b" }],
    });
    expect(report).toHaveBeenCalledWith("b", expect.objectContaining({ name: "RequestValidationError" }));
    const other = await startInstance();
    expect(await other(60_000, message("a", order))).toEqual({ batchItemFailures: [] });
    expect(stored().map(({ customIdentifier }) => customIdentifier)).toEqual(["shop-1"]);
    expect(log).toHaveBeenLastCalledWith("shop-1", stored()[0]?.reference, "was there already");

    // The time of the first instance ends while the service works: the message comes again, to another one.
    emulator.faults.clear();
    emulator.faults.add({ on: "orders.create", nth: 1, fault: "slow", ms: 2_000, when: "before" });
    const third = message("c", { ...order, customIdentifier: "shop-3" });
    expect(await invoke(3_000, third)).toEqual({ batchItemFailures: [{ itemIdentifier: "c" }] });
    expect(await other(60_000, third)).toEqual({ batchItemFailures: [] });
    expect(stored()).toHaveLength(2);
  });
});

describe("claims-desk.ts", () => {
  it("files a claim with a photo, shows it with its decision, and retracts another", async () => {
    const { emulator, environment, stored } = await service({ seed: { orders: 2 } });
    const program = startExample("cookbook/claims-desk.ts", environment);
    const origin = await program.origin();
    const post = (path: string, fields: Readonly<Record<string, string | Blob>>) => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return fetch(`${origin}${path}`, { method: "POST", headers: { origin }, body });
    };
    const [first, second] = stored().map(({ reference }) => ({ order: reference, shipment: emulator.ship(reference) }));
    if (!first || !second) throw new Error("There are no orders");
    const { damaged, wrongItem } = emulator.demo.claimcategories;
    const fields = { index: "1", quantity: "1", comment: "The <corner> is broken", category: damaged };

    const refused = await post("/claims", { ...first, ...fields });
    expect(refused.status).toBe(422);
    expect(await refused.text()).toMatch(/role="alert">[^<]*evidence_required/);
    const photos = new Blob([sampleImage("a corner") as Uint8Array<ArrayBuffer>], { type: "image/png" });
    const page = await (await post("/claims", { ...first, ...fields, photos })).text();
    expect(page).toContain("The &lt;corner&gt; is broken");
    const [, photo] = /<img src="([^"]+)"/.exec(page) ?? [];
    const picture = await fetch(`${origin}${photo}`);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);

    const [, claim = ""] = /(Claim_\w+)/.exec(page) ?? [];
    emulator.reviewClaim(claim as Parameters<typeof emulator.reviewClaim>[0], {
      decision: "replacement",
      comment: "Sorry",
    });
    const both = await (await post("/claims", { ...second, ...fields, category: wrongItem })).text();
    expect(both).toMatch(/resolved<\/strong><p>Sorry/);
    const [, retract = ""] = /action="(\/claims\/Claim_\w+\/retract)"/.exec(both) ?? [];
    expect(await (await post(retract, {})).text()).toContain("retracted");
    expect(
      (
        await fetch(`${origin}${retract}`, {
          method: "POST",
          headers: { origin: "https://evil.example" },
          body: new FormData(),
        })
      ).status,
    ).toBe(403);
    expect(await program.end("SIGTERM")).toEqual([0, null]);
  });
});
