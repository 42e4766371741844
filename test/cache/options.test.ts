import { ConfigurationError, PodPartner, type PodPartnerOptions } from "pod-partner";
import { describe, expect, it } from "vitest";
import { secretKey } from "../support/partner.ts";

const client = (fileCache: unknown) =>
  new PodPartner({ baseUrl: "https://service.test/v2", secretKey, fileCache } as PodPartnerOptions);

describe("the option fileCache", () => {
  it.each([true, false, undefined, {}, { maxSize: 1 }])("accepts %j", (fileCache) => {
    expect(client(fileCache)).toBeInstanceOf(PodPartner);
  });

  it.each([
    ["yes", ["fileCache"], /expected true, false or \{ maxSize \}/],
    [{ maxSize: 0 }, ["fileCache", "maxSize"], /./],
    [{ maxSize: 1.5 }, ["fileCache", "maxSize"], /./],
    [{ size: 1 }, ["fileCache", "size"], /unknown option/],
  ])("refuses %j", (fileCache, path, message) => {
    try {
      client(fileCache);
    } catch (error) {
      if (!ConfigurationError.isInstance(error)) throw error;
      expect(error.issues).toEqual([{ path, message: expect.stringMatching(message) }]);
      return;
    }
    expect.fail("accepted");
  });
});
