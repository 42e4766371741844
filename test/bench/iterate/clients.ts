const key = "sk_bench_of_clients";

/** Iterates the whole list with default options, and calls `each` with each item. */
export type Loop = (each: (item: unknown) => void) => Promise<void>;

interface Page {
  readonly orders: readonly unknown[];
  readonly nextCursor: string | null;
}

async function fetchPage(origin: string, cursor?: string): Promise<Page> {
  const response = await fetch(`${origin}/v2/orders${cursor === undefined ? "" : `?cursor=${cursor}`}`);
  return (await response.json()) as Page;
}

/** Each imports only its own client, so that the other clients do not affect the process. */
export const clients = {
  "a loop written by hand": (origin) => async (each) => {
    let page = await fetchPage(origin);
    for (const item of page.orders) each(item);
    while (page.nextCursor !== null) {
      page = await fetchPage(origin, page.nextCursor);
      for (const item of page.orders) each(item);
    }
  },

  "  the same with a prefetch of one page": (origin) => async (each) => {
    let next: Promise<Page> | undefined = fetchPage(origin);
    while (next !== undefined) {
      const { orders, nextCursor }: Page = await next;
      next = nextCursor === null ? undefined : fetchPage(origin, nextCursor);
      for (const item of orders) each(item);
    }
  },

  "pod-partner": async (origin) => {
    const built: string = new URL("../../../dist/index.js", import.meta.url).href;
    const { PodPartner } = (await import(built)) as typeof import("pod-partner");
    const partner = new PodPartner({ baseUrl: `${origin}/v2`, secretKey: key });
    return async (each) => {
      for await (const item of partner.orders.list()) each(item);
    };
  },

  openai: async (origin) => {
    const { default: OpenAI } = await import("openai");
    const client = new OpenAI({ apiKey: key, baseURL: `${origin}/v1` });
    return async (each) => {
      for await (const item of client.files.list()) each(item);
    };
  },

  stripe: async (origin) => {
    const { default: Stripe } = await import("stripe");
    const { hostname, port } = new URL(origin);
    const client = new Stripe(key, { host: hostname, port, protocol: "http" });
    return async (each) => {
      for await (const item of client.products.list()) each(item);
    };
  },
} satisfies Readonly<Record<string, (origin: string) => Loop | Promise<Loop>>>;

export type ClientName = keyof typeof clients;
