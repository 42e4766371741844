import { existsSync } from "node:fs";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { PodPartner } from "pod-partner";
import { type RunningEmulator, type StartEmulatorOptions, startEmulator } from "pod-partner/testing";
import { beforeAll, describe, onTestFinished } from "vitest";

const candidates = [
  process.env.CHROMIUM ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const installed = candidates.find((path) => path !== "" && existsSync(path));

if (installed === undefined && process.env.CI === undefined) {
  console.log("Chromium is not installed: the tests of pages are skipped (apt-get install chromium).");
}

/** In CI a missing Chromium fails the tests. */
export const describeInBrowser = describe.skipIf(installed === undefined && process.env.CI === undefined);

/** A page of an emulator, with a client of the emulator. */
export interface Opened {
  readonly page: Page;
  readonly emulator: RunningEmulator;
  readonly partner: PodPartner;
  /** Errors of the page, and what its Content-Security-Policy has refused. */
  readonly errors: readonly string[];
}

let starting: Promise<Browser> | undefined;

/** Starts a browser before the first test that needs it. The test files of a process share it, and it ends with the process. */
export function useChromium(): { readonly browser: Browser } {
  // A browser without a graphics card needs seconds for what takes milliseconds elsewhere.
  let browser: Browser | undefined;
  beforeAll(async () => {
    // Chromium's sandbox does not work for root, which CI containers run as.
    starting ??= chromium.launch({ executablePath: installed ?? "chromium", args: ["--no-sandbox"] });
    browser = await starting;
  });
  return {
    get browser() {
      if (browser === undefined) throw new Error("useChromium() works only inside a test");
      return browser;
    },
  };
}

/** Returns a function that starts an emulator and opens its page in the browser of {@link useChromium}. */
export function useBrowser() {
  const started = useChromium();

  const show = async (emulator: RunningEmulator, context: BrowserContextOptions = {}) => {
    const page = await started.browser.newPage({ viewport: { width: 1440, height: 900 }, ...context });
    onTestFinished(() => page.context().close());
    page.setDefaultTimeout(30_000);
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    await page.goto(new URL("/", emulator.baseUrl).href);
    await page.getByText("live", { exact: true }).waitFor();
    return { page, errors };
  };
  const open = async (options: StartEmulatorOptions = {}, context?: BrowserContextOptions): Promise<Opened> => {
    const emulator = await startEmulator(options);
    onTestFinished(() => emulator.close());
    const partner = new PodPartner({ baseUrl: emulator.baseUrl, secretKey: emulator.secretKey });
    return { emulator, partner, ...(await show(emulator, context)) };
  };
  return { open, show };
}
