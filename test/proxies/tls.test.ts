import { connect } from "node:http2";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { orderOf } from "../flows/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { type Authority, createAuthority } from "./gateway/authority.ts";
import { behindEach, expectNoKey, failuresOf, type Stage, setUp } from "./stage.ts";

/** What a process trusts is one thing for all that it does. */
const sequential = { concurrent: false };

/** The protocol that a client which asks for HTTP/2 is answered with, as the gateway tells it. */
async function protocolOfHttp2(origin: string, ca: string): Promise<unknown> {
  const session = connect(origin, { ca });
  const response = await new Promise<unknown>((resolve, reject) => {
    session.on("error", reject);
    const request = session.request({ ":path": "/v2/organization" });
    request.on("error", reject).on("response", (headers) => resolve(headers["x-protocol"]));
    request.resume().end();
  });
  session.close();
  return response;
}

behindEach((kind) => {
  const trusted = getCACertificates("default");
  let authority: Authority | undefined;

  /** A gateway with a certificate of the test's authority, which the process trusts or not. */
  async function setUpTls(name: string, trusts: boolean): Promise<Stage> {
    if (authority === undefined) throw new Error("There is no authority.");
    if (trusts) setDefaultCACertificates([...trusted, authority.certificate]);
    return setUp(kind, { tls: await authority.issue(name) });
  }

  beforeAll(async () => {
    authority = await createAuthority();
  });
  afterEach(() => setDefaultCACertificates(trusted));
  afterAll(() => authority?.[Symbol.asyncDispose]());

  it("orders go over TLS with a certificate of one's own authority, reloads or not", async () => {
    await using stage = await setUpTls("IP:127.0.0.1", true);
    stage.emulator.faults.add({ fault: "slow", ms: 40, when: "before" });
    using reloading = stage.gateway.reloadEvery(400, 4);
    expect(failuresOf(await stage.place(80, 4))).toEqual([]);
    expect((await stage.made()).orders).toBe(80);
    expect(reloading.count).toBeGreaterThan(1);
  });

  it("a gateway that also speaks HTTP/2 is spoken to in HTTP/1.1, which ALPN settles", async () => {
    await using stage = await setUpTls("IP:127.0.0.1", true);
    const { response } = await stage.partner().organization.get().withResponse();
    expect(response.headers.get("x-protocol")).toBe("HTTP/1.1");
    expect(await protocolOfHttp2(stage.gateway.origin, authority?.certificate ?? "")).toMatch(/^HTTP\/2/);
  });

  it.each([
    { what: "an authority that is not trusted", name: "IP:127.0.0.1", trusts: false },
    { what: "a certificate for another host", name: "DNS:gateway.test", trusts: true },
  ])("to $what nothing is sent", async ({ name, trusts }) => {
    await using stage = await setUpTls(name, trusts);
    const partner = stage.partner({ retry: { retries: 1, baseDelay: 0 } });
    const error = await rejection(partner.orders.create(orderOf(stage.emulator, "shop-1")));
    expect(error).toMatchObject({ name: "ConnectionError", sent: false });
    expectNoKey(error);
    expect(stage.emulator.requests).toEqual([]);
  });
}, sequential);
