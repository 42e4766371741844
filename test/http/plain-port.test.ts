import { PodPartner } from "pod-partner";
import { expect, it } from "vitest";
import { rejection } from "../support/exchange.ts";
import { secretKey, useService } from "../support/partner.ts";

const context = useService();

it("says that a port does not speak TLS, in place of OpenSSL's words", async () => {
  const baseUrl = context.service.baseUrl.replace("http:", "https:");
  const partner = new PodPartner({ baseUrl, secretKey, retry: { retries: 0 } });
  await expect(rejection(partner.auth.validate())).resolves.toMatchObject({
    name: "ConnectionError",
    sent: false,
    message:
      "No response from POST /auth/validate: the server does not speak TLS. The request was not sent.\n" +
      "  Check the port. A service without TLS, such as an emulator, has a base URL that begins with http:",
  });
});
