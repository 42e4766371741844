const key = "sk_bench_of_clients";

/** The caller's work with one item. */
export type Each = (item: unknown) => Promise<void> | undefined;

/** Iterates the whole list with everything at its defaults, and calls `each` with each item. */
export type Loop = (each: Each) => Promise<void>;

interface Page {
  readonly orders: readonly unknown[];
  readonly nextCursor: string | null;
}

async function fetchPage(origin: string, cursor?: string): Promise<Page> {
  const response = await fetch(`${origin}/v2/orders${cursor === undefined ? "" : `?cursor=${cursor}`}`);
  return (await response.json()) as Page;
}

/** Calls `each` with each item, and waits only where there is something to wait for. */
async function forEach(items: readonly unknown[], each: Each): Promise<void> {
  for (const item of items) {
    const working = each(item);
    if (working !== undefined) await working;
  }
}

/** The same for the iterator of an SDK. */
async function consume(items: AsyncIterable<unknown>, each: Each): Promise<void> {
  for await (const item of items) {
    const working = each(item);
    if (working !== undefined) await working;
  }
}

/** Each loads only its own client, so that no process has the weight of another's. */
export const clients = {
  "sequential fetch": (origin) => async (each) => {
    let page = await fetchPage(origin);
    await forEach(page.orders, each);
    while (page.nextCursor !== null) {
      page = await fetchPage(origin, page.nextCursor);
      await forEach(page.orders, each);
    }
  },

  "fetch, next page requested early": (origin) => async (each) => {
    let next: Promise<Page> | undefined = fetchPage(origin);
    while (next !== undefined) {
      const { orders, nextCursor }: Page = await next;
      next = nextCursor === null ? undefined : fetchPage(origin, nextCursor);
      await forEach(orders, each);
    }
  },

  "pod-partner": async (origin) => {
    const built: string = new URL("../../../dist/index.js", import.meta.url).href;
    const { PodPartner } = (await import(built)) as typeof import("pod-partner");
    const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: key });
    return (each) => consume(partner.orders.list(), each);
  },

  openai: async (origin) => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey: key, baseURL: `${origin}/v1` });
    return (each) => consume(client.files.list(), each);
  },

  stripe: async (origin) => {
    const { default: Stripe } = await import("stripe");
    const { hostname, port } = new URL(origin);
    const client = new Stripe(key, { host: hostname, port, protocol: "http" });
    return (each) => consume(client.products.list(), each);
  },
} satisfies Readonly<Record<string, (origin: string) => Loop | Promise<Loop>>>;

export type ClientName = keyof typeof clients;
export const clientNames = Object.keys(clients) as ClientName[];
