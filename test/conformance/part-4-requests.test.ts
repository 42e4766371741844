import { describe, expect, it } from "vitest";
import { claimed, readClaim } from "./support/inputs.ts";
import { withField, withUnknownField, withWrongType } from "./support/mutate.ts";
import { jsonCases } from "./support/requests.ts";
import { expectRefusal, startService } from "./support/service.ts";

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** The response of a service of its own to a changed body: what was taken once may not be taken again. */
async function respond(make: (typeof jsonCases)[number]["make"], change: (body: unknown) => unknown) {
  await using service = await startService();
  const { method, path, body } = await make(service);
  return await service.send(method, path, { json: change(body) });
}

describe.each(jsonCases)("$endpoint", ({ make, required, optional, values }) => {
  it("4 types: each optional field may be left out, alone and with all others", async () => {
    for (const fields of [[], ...optional.map((field) => [field]), optional]) {
      const taken = await respond(make, (body) =>
        fields.reduce((rest: unknown, field) => withField(rest, field), body),
      );
      expect([fields, taken.status, taken.body?.message]).toEqual([fields, expect.toSatisfy(isSuccess), undefined]);
    }
  });

  it("4 types: each value of an enum and of a range is taken, and no other", async () => {
    await using service = await startService();
    const { method, path, body } = await make(service);
    for (const { path: field, taken, refused, refusal } of values) {
      for (const value of refused) {
        const response = await service.send(method, path, { json: withField(body, field, value) });
        expect([field, value, Math.floor(response.status / 100)]).toEqual([field, value, 4]);
        expectRefusal(response, refusal?.[0] ?? "4xx", refusal?.[1]);
      }
      for (const value of taken) {
        const response = await respond(make, (own) => withField(own, field, value));
        expect([field, value, response.status]).toEqual([field, value, expect.toSatisfy(isSuccess)]);
      }
    }
    expect((await service.send(method, path, { json: body })).status).toBeLessThan(300);
  });

  it("4 unknown fields, 9 rule 4: an undocumented field is rejected in every object, and nothing happens", async () => {
    await using service = await startService();
    const { method, path, body } = await make(service);
    const variants = withUnknownField(body);
    expect(variants.length).toBeGreaterThan(1);
    for (const [place, json] of variants) {
      const refused = await service.send(method, path, { json });
      expect([place, refused.status]).toEqual([place, 400]);
      expectRefusal(refused, 400, "unknown_input_error");
    }
    expect((await service.send(method, path, { json: body })).status).toBeLessThan(300);
  });

  it("4 types: a value of another type is rejected in every field", async () => {
    await using service = await startService();
    const { method, path, body } = await make(service);
    for (const [place, json] of withWrongType(body)) {
      const refused = await service.send(method, path, { json });
      expect([place, refused.status]).toEqual([place, 400]);
      expectRefusal(refused, 400);
    }
  });

  it("4 types: each required field is required, and null is not a value", async () => {
    await using service = await startService();
    const { method, path, body } = await make(service);
    for (const field of required) {
      for (const json of [withField(body, field), withField(body, field, null)]) {
        const refused = await service.send(method, path, { json });
        expect([field, Math.floor(refused.status / 100)]).toEqual([field, 4]);
        expectRefusal(refused, "4xx");
      }
    }
  });

  it("4 content type: a body of another type is rejected, and a charset is accepted", async () => {
    await using service = await startService();
    const { method, path, body } = await make(service);
    const bytes = JSON.stringify(body);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/octet-stream", "text/json"]) {
      expectRefusal(await service.send(method, path, { bytes, headers: { "Content-Type": type } }), "4xx");
    }
    const headers = { "Content-Type": "application/json; charset=utf-8" };
    expect((await service.send(method, path, { bytes, headers })).status).toBeLessThan(300);
  });

  it("4 content type: a body that is not a JSON object is rejected", async () => {
    await using service = await startService();
    const { method, path } = await make(service);
    const latin = new Uint8Array(Buffer.from('{"order":"é"}', "latin1"));
    for (const bytes of ["", "{", "null", "[]", '"text"', "7", "{'a':1}", "{}", latin]) {
      const refused = await service.send(method, path, { bytes, headers: { "Content-Type": "application/json" } });
      expectRefusal(refused, 400);
    }
  });
});

it("4 unknown fields, 9 rule 4: endpoints without a body reject one with content, and accept an object without fields", async () => {
  await using service = await startService();
  const { claim } = await claimed(service);
  for (const path of ["/auth/validate", `/claims/${claim}/retract`]) {
    for (const json of [{ undocumented: 1 }, [1], "text", null]) expectRefusal(await service.post(path, json), 400);
    expectRefusal(await service.send("POST", path, { bytes: "undocumented=1" }), 400);
  }
  expect((await readClaim(service, claim)).status).toBe("pending");
  expect((await service.post("/auth/validate", {})).status).toBe(200);
  expect((await service.post(`/claims/${claim}/retract`, {})).status).toBe(204);
});
