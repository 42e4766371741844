import { connect } from "node:http2";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { orderOf } from "../http/matrix/subjects.ts";
import { rejection } from "../support/exchange.ts";
import { type Authority, createAuthority } from "./gateway/authority.ts";
import { expectNoKey, failuresOf, type GatewaySetup, overEachTransport } from "./setup.ts";

/** The certificates that a process trusts apply to all its requests. */
const sequential = { concurrent: false };

/** The protocol in the response to a client that requests HTTP/2, as the gateway reports it. */
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

overEachTransport((setUp) => {
  const trusted = getCACertificates("default");
  let authority: Authority | undefined;

  /** A gateway with a certificate of the test's authority, which the process trusts or not. */
  async function setUpTls(name: string, trusts: boolean): Promise<GatewaySetup> {
    if (authority === undefined) throw new Error("There is no authority.");
    if (trusts) setDefaultCACertificates([authority.certificate]);
    return setUp({ tls: await authority.issue(name) });
  }

  beforeAll(async () => {
    authority = await createAuthority();
  });
  afterEach(() => setDefaultCACertificates(trusted));
  afterAll(() => authority?.[Symbol.asyncDispose]());

  it("orders use TLS with a certificate of a private authority, also while the gateway reloads", async () => {
    await using setup = await setUpTls("IP:127.0.0.1", true);
    setup.emulator.faults.add({ fault: "slow", ms: 40, when: "before" });
    using reloading = setup.gateway.reloadEvery(400, 4);
    expect(failuresOf(await setup.place(40, 2))).toEqual([]);
    expect((await setup.made()).orders).toBe(40);
    expect(reloading.count).toBeGreaterThan(1);
  });

  it("ALPN selects HTTP/1.1 with a gateway that also supports HTTP/2", async () => {
    await using setup = await setUpTls("IP:127.0.0.1", true);
    const { response } = await setup.partner().organization.get().withResponse();
    expect(response.headers.get("x-protocol")).toBe("HTTP/1.1");
    expect(await protocolOfHttp2(setup.gateway.origin, authority?.certificate ?? "")).toMatch(/^HTTP\/2/);
  });

  it.each([
    { what: "an authority that is not trusted", name: "IP:127.0.0.1", trusts: false },
    { what: "a certificate for another host", name: "DNS:gateway.test", trusts: true },
  ])("nothing is sent to $what", async ({ name, trusts }) => {
    await using setup = await setUpTls(name, trusts);
    const partner = setup.partner({ retry: { retries: 1, baseDelay: 0 } });
    const error = await rejection(partner.orders.create(orderOf(setup.emulator, "shop-1")));
    expect(error).toMatchObject({ name: "ConnectionError", sent: false });
    expectNoKey(error);
    expect(setup.emulator.requests).toEqual([]);
  });
}, sequential);
