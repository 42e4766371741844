import { type Call, clients as percall } from "../percall/clients.ts";

/** Octokit with its own two plugins, told to try again as often as they do. */
async function octokit(origin: string): Promise<Call> {
  const [{ Octokit }, { throttling }, { retry }] = await Promise.all([
    import("@octokit/core"),
    import("@octokit/plugin-throttling"),
    import("@octokit/plugin-retry"),
  ]);
  const again = () => true;
  const client = new (Octokit.plugin(throttling, retry))({
    auth: "key",
    baseUrl: origin,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    throttle: { onRateLimit: again, onSecondaryRateLimit: again },
  });
  return () => client.request("GET /orders/1");
}

/** Everything at its defaults. */
export const clients = {
  "pod-partner": percall["pod-partner"],
  openai: percall.openai,
  stripe: percall.stripe,
  octokit,
};

export type ClientName = keyof typeof clients;
