import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type StubService, startStubService } from "./stub-service.ts";

export const secretKey = "test-key-5up3r53cr3t-4d5f6";

/** A client of the stub without retries. */
const partnerOf = (service: StubService, options: PodPartnerOptions) =>
  new PodPartner({ baseUrl: service.baseUrl, secretKey, retry: { retries: 0 }, ...options });

/** One stub and one client, with these options, for the tests of a file. The stub forgets its requests and responses before each test. */
export function useService(options: PodPartnerOptions = {}): {
  readonly service: StubService;
  readonly partner: PodPartner;
} {
  let service: StubService | undefined;
  let partner: PodPartner | undefined;

  beforeAll(async () => {
    service = await startStubService();
  });
  beforeEach(() => {
    service?.reset();
    // A new client each time: it must not keep the limits that it learned in another test.
    if (service !== undefined) partner = partnerOf(service, options);
  });
  afterAll(() => service?.close());

  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error("useService() works only inside a test");
    return value;
  };
  return {
    get service() {
      return started(service);
    },
    get partner() {
      return started(partner);
    },
  };
}
