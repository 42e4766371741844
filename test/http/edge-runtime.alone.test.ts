import { sampleImage } from "pod-partner/testing";
import { expect, it, vi } from "vitest";

const unsupported = () => {
  throw new Error("A Node.js API is used which is not supported");
};

/** As `process` of the edge runtime of Next.js: it has the functions, and each of them throws. */
const edgeProcess = new Proxy(process, {
  get: (target, name) => {
    const value: unknown = Reflect.get(target, name, target);
    return typeof value === "function" ? unsupported : value;
  },
});

it("makes calls of each kind where `setImmediate` and all functions of `process` throw, as on the edge runtime of Next.js", async () => {
  const picture = sampleImage();
  vi.resetModules();
  vi.stubGlobal("setImmediate", unsupported);
  vi.stubGlobal("process", edgeProcess);
  try {
    const { PodPartner } = await import("pod-partner");
    const responses = [
      Response.json({ images: [{ reference: "Image_00000000000000000000000001" }], nextCursor: "two" }),
      Response.json({ images: [{ reference: "Image_00000000000000000000000002" }], nextCursor: null }),
      Response.json({}),
      Response.json({ image: { reference: "Image_00000000000000000000000003" } }),
      Response.json({ order: { reference: "Order_00000000000000000000000001" } }),
      new Response(picture, { headers: { "content-type": "image/png", "content-length": String(picture.length) } }),
      Response.json({ code: "maintenance" }, { status: 503 }),
      Response.json({ message: "authorized" }),
    ];
    const partner = new PodPartner({
      baseUrl: "https://service.test/v2",
      secretKey: "a-secret-key",
      retry: { baseDelay: 1, maxDelay: 1 },
      fetch: async () => responses.shift() ?? Response.error(),
    });
    expect(await partner.images.list().toArray()).toHaveLength(2);
    const order = {
      storeReference: "Store_00000000000000000000000001",
      shippingKind: "dropship",
      // A country that does not exist is a process warning.
      dropshipAddress: { countryCode: "XX" },
      orderlines: [{ productReference: "Product_00000000000000000000000001", quantity: 1 }],
    } as const;
    await expect(partner.orders.quote(order)).rejects.toMatchObject({ name: "ResponseValidationError" });
    expect((await partner.images.upload(picture)).reference).toMatch(/3$/);
    expect(
      (await partner.orders.create({ ...order, shippingKind: "combined", dropshipAddress: undefined })).reference,
    ).toMatch(/1$/);
    const file = await partner.renders.media("Render_00000000000000000000000001");
    expect(await file.bytes()).toEqual(picture);
    expect((await partner.auth.validate()).message).toBe("authorized");
    expect(responses).toEqual([]);
  } finally {
    vi.unstubAllGlobals();
  }
});
