import { AuthenticationError, ResponseValidationError } from "pod-partner";
import { describe, expect, it } from "vitest";
import { rejection, useExchange } from "../../support/exchange.ts";

describe("auth (specification 4.1)", () => {
  const { context, exchange } = useExchange();

  it("auth.validate sends POST /auth/validate without a body and returns the whole response", async () => {
    const wire = { message: "The key is valid.", later: { added: 1 } };
    const result = await exchange(
      (partner) => partner.auth.validate(),
      { line: "POST /auth/validate" },
      { body: wire },
    );
    expect(result).toStrictEqual(wire);
  });

  it("auth.validate throws an AuthenticationError when the credentials are wrong", async () => {
    context.service.respond({ status: 401, body: { code: "invalid_key", message: "No such key." } });
    const error = await rejection(context.partner.auth.validate());
    expect(AuthenticationError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ status: 401, code: "invalid_key", endpoint: "POST /auth/validate" });
  });

  it.each([{}, { message: null }])("auth.validate accepts a valid key without a message: %j", async (body) => {
    context.service.respond({ body });
    expect(await context.partner.auth.validate()).toStrictEqual(body);
  });

  it("auth.validate refuses a message that is not a string", async () => {
    context.service.respond({ body: { message: 5 } });
    const error = await rejection(context.partner.auth.validate());
    if (!ResponseValidationError.isInstance(error)) throw error;
    expect(error.issues.map(({ path }) => path)).toStrictEqual([["message"]]);
  });
});
