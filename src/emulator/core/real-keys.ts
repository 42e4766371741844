import { remoteFault } from "./remote.ts";

/** The words that keys of production have in the schemes of many services, such as `sk_live_…`. */
const productionWord = /(?:^|[^a-z])(?:live|prod|production)(?:[^a-z]|$)/i;

/** The key of the emulator when the options give none. */
export const defaultKey = "emulator-secret-key";

/** Whether a key is the one that this process uses for a public service. */
function isOfEnvironment(secretKey: string): boolean {
  const { POD_PARTNER_SECRET_KEY: key, POD_PARTNER_BASE_URL: url = "" } = globalThis.process?.env ?? {};
  return key === secretKey && URL.canParse(url) && remoteFault(url) !== undefined;
}

/**
 * What is wrong with a key that looks like one of the real service. Returns undefined for another one. The specification does not show
 * how keys look (5), so a key that only looks random passes. No message contains the key.
 */
export function keyFault(secretKey: string): string | undefined {
  if (secretKey === defaultKey) return undefined;
  const why = isOfEnvironment(secretKey)
    ? "it is POD_PARTNER_SECRET_KEY, and POD_PARTNER_BASE_URL names a public host"
    : productionWord.test(secretKey) && "it has the word live or prod";
  if (why === false) return undefined;
  return `the key looks like one of the real service: ${why}. The emulator shows and saves its keys: use another one. If you mean it, set \`allowRemote: true\``;
}
