import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type StubService, startStubService } from "./stub-service.ts";

export const secretKey = "test-key-5up3r53cr3t-4d5f6";

/** A client of a service that only its `fetch` knows. */
export const partnerWith = (options: PodPartnerOptions = {}): PodPartner =>
  new PodPartner({ baseUrl: "https://partner.example/v2", secretKey, ...options });

/** One stub and one client, with these options, for the tests of a file. The stub forgets its requests and responses before each test. */
export function useService(options: PodPartnerOptions = {}): {
  readonly service: StubService;
  /** It does not retry. */
  readonly partner: PodPartner;
  /** Another client of the stub. */
  readonly connect: (options?: PodPartnerOptions) => PodPartner;
} {
  let service: StubService | undefined;
  let partner: PodPartner | undefined;

  beforeAll(async () => {
    service = await startStubService();
  });
  beforeEach(() => {
    service?.reset();
    // A new client each time: it must not keep the limits that it learned in another test.
    if (service !== undefined) partner = connect({ retry: { retries: 0 }, ...options });
  });
  afterAll(() => service?.close());

  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("useService() works only inside a test");
    return value;
  };
  const connect = (more: PodPartnerOptions = {}) =>
    new PodPartner({ baseUrl: started(service).baseUrl, secretKey, ...more });
  return {
    connect,
    get service() {
      return started(service);
    },
    get partner() {
      return started(partner);
    },
  };
}
