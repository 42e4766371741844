import { expect, it, vi } from "vitest";

it("reads and warns on a platform whose `setImmediate` and built-in modules throw, as on the edge runtime of Next.js", async () => {
  const { emitWarning, getBuiltinModule } = process;
  const unsupported = () => {
    throw new Error("A Node.js API is used which is not supported");
  };
  vi.resetModules();
  vi.stubGlobal("setImmediate", unsupported);
  Object.assign(process, { emitWarning: unsupported, getBuiltinModule: unsupported });
  try {
    const { PodPartner } = await import("pod-partner");
    const pages = [
      { images: [{ reference: "Image_00000000000000000000000001" }], nextCursor: "two" },
      { images: [{ reference: "Image_00000000000000000000000002" }], nextCursor: null },
    ];
    const partner = new PodPartner({
      baseUrl: "https://service.test/v2",
      secretKey: "a-secret-key",
      fetch: async () => Response.json(pages.shift()),
    });
    expect(await partner.images.list().toArray()).toHaveLength(2);
    // A country that does not exist is a process warning.
    pages.push({ images: [], nextCursor: null });
    const quote = partner.orders.quote({
      storeReference: "Store_00000000000000000000000001",
      shippingKind: "dropship",
      dropshipAddress: { countryCode: "XX" },
      orderlines: [{ productReference: "Product_00000000000000000000000001", quantity: 1 }],
    });
    await expect(quote).rejects.toMatchObject({ name: "ResponseValidationError" });
  } finally {
    Object.assign(process, { emitWarning, getBuiltinModule });
    vi.unstubAllGlobals();
  }
});
