import { PodPartner, type PodPartnerOptions } from "pod-partner";
import { secretKey } from "./partner.ts";
import { ref } from "./references.ts";

/** An entry of a list, as the service sends it. */
export interface Wire {
  readonly reference: string;
  readonly [field: string]: unknown;
}

/** A product of the list, by hand from part 2.6. */
export const product = (id: string, fields: object = {}): Wire => ({
  reference: ref("Product", id),
  name: `Case ${id}`,
  status: "launched",
  availableQuantity: 10,
  layersModified: "2026-03-01T09:00:00.000Z",
  printModified: "2026-03-01T08:00:00.000Z",
  legacyItemSKU: `CASE-${id}`,
  ...fields,
});

/** The detail of a product, by hand from part 2.6. */
export const detailOf = (listed: Wire): Wire => ({
  ...listed,
  layers: { modified: listed.layersModified },
  print: { modified: listed.printModified },
  weightGrams: 30,
  media: [],
});

/** A warehouse item, by hand from part 2.10. */
export const item = (id: string, fields: object = {}): Wire => ({
  reference: ref("Item", id),
  sku: `CASE-${id}`,
  logicalQuantity: 90,
  physicalQuantity: 100,
  products: [{ reference: ref("Product", id) }],
  ...fields,
});

/** A list that can change between two requests. A cursor is an offset, so that a removal hides an entry from the next page. */
export class ChangingList {
  entries: readonly Wire[];
  readonly pageSize: number;
  /** The requests, such as `/products?cursor=2`. */
  readonly requests: string[] = [];
  /** Is called before each response, with the number of requests before it. It may return another response, or the promise of one. */
  meanwhile: (request: number, path: string) => unknown = () => undefined;

  constructor(entries: readonly Wire[], pageSize = 2) {
    this.entries = entries;
    this.pageSize = pageSize;
  }

  /** Replaces fields of an entry. */
  update(reference: string, fields: object): void {
    this.entries = this.entries.map((one) => (one.reference === reference ? { ...one, ...fields } : one));
  }

  remove(...references: readonly string[]): void {
    this.entries = this.entries.filter(({ reference }) => !references.includes(reference));
  }

  /** Responds as parts 4.3 and 4.11 say. */
  respond(url: string): Response {
    const { pathname, searchParams } = new URL(url);
    const [, name = "", reference] = pathname.replace("/v2", "").split("/");
    if (reference !== undefined) {
      const found = this.entries.find((one) => one.reference === reference);
      if (found !== undefined) return Response.json({ product: detailOf(found) });
      return Response.json({ code: "not_found", message: "No such product." }, { status: 404 });
    }
    const from = Number(searchParams.get("cursor") ?? 0);
    const page = this.entries.slice(from, from + this.pageSize);
    const nextCursor = page.length === this.pageSize ? String(from + this.pageSize) : null;
    return Response.json({ [name]: page, nextCursor });
  }

  readonly fetch = async ({ url }: Request): Promise<Response> => {
    const path = url.slice(url.indexOf("/v2") + 3);
    this.requests.push(path);
    const other = await this.meanwhile(this.requests.length - 1, path);
    return other instanceof Response ? other : this.respond(url);
  };

  /** A client of the list, without retries. */
  connect(options: PodPartnerOptions = {}): PodPartner {
    const { fetch } = this;
    return new PodPartner({
      baseUrl: "https://partner.example/v2",
      secretKey,
      fetch,
      retry: { retries: 0 },
      ...options,
    });
  }
}
