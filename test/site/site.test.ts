import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createMarkdownRenderer, disposeMdItInstance, serve } from "vitepress";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { violations } from "../emulator/page/axe.ts";
import { describeInBrowser, useChromium } from "../emulator/page/use-page.ts";
import { questions } from "./questions.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const built = join(root, "site/html");
const read = (file: string): string => readFileSync(join(built, file), "utf8");

let output = "";
beforeAll(async () => {
  const { stdout, stderr } = await promisify(execFile)("npm", ["run", "--silent", "site"], { cwd: root });
  output = stdout + stderr;
}, 900_000);

describe("the site", () => {
  it("is built without a warning", () => {
    expect(output).toContain("build complete");
    expect(output).not.toMatch(/warn|\(!\)/i);
  });

  it("has every page of docs in its navigation", async () => {
    const { sidebar } = await import("../../docs/.vitepress/pages.ts");
    const linked = JSON.stringify(sidebar);
    const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => `"/${file.replace(/(README)?\.md$/, "")}"`);
    expect(pages.length).toBeGreaterThan(50);
    expect(pages.filter((page) => !linked.includes(page))).toEqual([]);
  });

  it("names each page as the page does: its topic, and the question that it answers", async () => {
    const { listed } = await import("../../docs/.vitepress/pages.ts");
    const pages = listed.filter(({ file }) => file.startsWith("docs/"));
    expect(pages.length).toBeGreaterThan(35);
    for (const { file, label, question } of pages) {
      expect(readFileSync(join(root, file), "utf8")).toMatch(new RegExp(`^# ${label}\n\n\\*`));
      expect(readFileSync(join(root, file), "utf8")).toContain(`\n\n*${question}*\n`);
    }
  });

  it("lists its pages for models, and serves each as Markdown", () => {
    const index = read("llms.txt");
    const paths = [...index.matchAll(/^- \[.+\]\(\/(\S+\.md)\)/gm)].map(([, path = ""]) => path);
    expect(paths).toEqual(expect.arrayContaining(["orders.md", "agents.md", "reference/pod-partner/testing/index.md"]));
    const full = read("llms-full.txt");
    for (const path of paths.filter((path) => !path.startsWith("reference/"))) {
      expect(full).toContain(read(path).trim());
    }
  });

  it("documents the parameters, errors and examples of a method", () => {
    const text = readFileSync(join(root, "site/reference/pod-partner/interfaces/OrdersResource.md"), "utf8");
    const [, ensure = ""] = text.split(/^### ensure\(\)$/m);
    expect(ensure.split(/^### /m)[0]).toMatch(
      /customIdentifier.*\| `options\?` \|.*\| \[`OrderMismatchError`\]\(\S+\) \| if.*```ts\n/s,
    );
    expect(text).toMatch(/^Guide: \[.+\]\(\S+docs\/orders\.md\)$/m);
    expect(text).toMatch(/^\| `orderReference` \| \[`OrderReference`\]\(\S+\) \| The reference of the order\. \|$/m);
    expect(text).not.toMatch(/_\$\{string\}/);
  });

  it("begins with the client", () => {
    const index = readFileSync(join(root, "site/reference/pod-partner/index.md"), "utf8");
    const [, first = ""] = index.split(/^## /m);
    expect(first).toMatch(
      /^The client\n.*\(classes\/PodPartner\.md\).*`partner\.catalog\.products`.*`partner\.orders`/s,
    );
  });
});

describe("a link", () => {
  it("is dead without its page or its anchor", async () => {
    const { deadLinks } = await import("../../docs/.vitepress/finish.ts");
    const folder = mkdtempSync(join(tmpdir(), "site-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, "sub"));
    const links = ["/base/sub/", "/base/sub/#here", "#top", "https://example.com/gone", "/base/gone.html"];
    const anchors = links.map((href) => `<a class="x" href="${href}">x</a>`);
    writeFileSync(join(folder, "a.html"), `<h1 id="top">a</h1>${anchors.join("")}<a href="#gone">x</a>`);
    writeFileSync(join(folder, "sub/index.html"), '<h2 id="here">b</h2><a href="../a.html#here">x</a>');
    expect(deadLinks(folder, "/base/").toSorted()).toEqual([
      "/base/a.html: #gone",
      "/base/a.html: /base/gone.html",
      "/base/sub/index.html: ../a.html#here",
    ]);
  });

  const render = async (page: string, text: string, repository?: string): Promise<string> => {
    const { markdown } = await import("../../docs/.vitepress/markdown.ts");
    // VitePress keeps the first renderer.
    disposeMdItInstance();
    const renderer = await createMarkdownRenderer(root, markdown(repository));
    return renderer.renderInline(text, { path: join(root, page), relativePath: page, cleanUrls: false });
  };

  it("leads to a page of the site, with the anchor of GitHub", async () => {
    expect(await render("AGENTS.md", "[x](docs/orders.md#what-create-does)")).toContain(
      '"/orders.html#what-create-does"',
    );
    expect(await render("docs/contributing/walk.md", "[x](../orders.md)")).toContain('href="/orders.html"');
    expect(await render("docs/observability.md", "[x](prometheus-alerts.yml)")).toContain(
      'href="/prometheus-alerts.yml"',
    );
  });

  it("leads to the repository when its target is no page, and shows the path while the repository has no address", async () => {
    const link = "[a worker](../examples/order-worker.ts)";
    expect(await render("docs/orders.md", link, "https://example.com/r")).toContain(
      '"https://example.com/r/blob/HEAD/examples/order-worker.ts"',
    );
    const text = await render("docs/orders.md", link);
    expect(text).toMatch(/a worker \(<code.*>examples\/order-worker\.ts<\/code>\)/);
    expect(text).not.toContain("<a");
  });
});

describeInBrowser("the site in a browser", () => {
  const chromium = useChromium();
  let base = "";
  beforeAll(async () => {
    const { server } = await serve({ root: join(root, "docs"), port: 0 });
    if (server === undefined) throw new Error("The site is not served");
    base = `http://localhost:${(server.address() as AddressInfo).port}`;
    return () => server.close();
  });

  const open = async (path: string) => {
    const page = await chromium.browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
    onTestFinished(() => page.context().close());
    page.setDefaultTimeout(30_000);
    await page.goto(base + path);
    // The switch gets its title when the page's script runs.
    await page.locator('.VPSwitchAppearance:not([title=""])').first().waitFor({ state: "attached" });
    return page;
  };

  it("finds the page that answers a question: first for most, and among the first three for all", async () => {
    const page = await open("/");
    await page.keyboard.press("Control+k");
    const ranks = new Map<string, number>();
    for (const [question, answer] of questions) {
      await page.getByRole("searchbox").fill("");
      await page.locator("a.result").first().waitFor({ state: "detached" });
      await page.getByRole("searchbox").fill(question);
      await page.locator("a.result").first().waitFor();
      const links = await page
        .locator("a.result")
        .evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
      const pages = [...new Set(links.map((link) => link.split("#")[0]))];
      ranks.set(question, pages.indexOf(`/${answer}.html`) + 1);
    }
    const beyond = (most: number) => [...ranks].filter(([, rank]) => rank === 0 || rank > most);
    expect(beyond(3)).toEqual([]);
    expect(beyond(1).length).toBeLessThanOrEqual(5);
  });

  it.each([
    ["how do I cancel", "cancel"],
    ["what is a mockup", "mockup"],
  ])("marks the words of %s that say something", async (words, said) => {
    const page = await open("/");
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox").fill(words);
    await page.locator("a.result mark").first().waitFor();
    const marked = await page.locator("a.result mark").allTextContents();
    expect(marked.filter((text) => !text.toLowerCase().startsWith(said))).toEqual([]);
  });

  it("leads to a method of the reference by its name", async () => {
    const page = await open("/");
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox").fill("orders.ensure");
    const place = "/reference/pod-partner/interfaces/OrdersResource.html#ensure";
    await page.locator(`a.result[href*="${place}"]`).first().click();
    await page.waitForURL((url) => url.href.startsWith(base + place));
    await page.getByRole("main").getByText("ensure").first().waitFor();
  });

  it.each([
    ["the start page", "/"],
    ["a page with code", "/orders.html"],
    ["a page with a diagram", "/rate-limits.html"],
    ["a page of the reference", "/reference/pod-partner/interfaces/OrdersResource.html"],
    ["an entry point", "/reference/pod-partner/testing/"],
  ])("axe finds nothing on %s, in light and dark, and it does not scroll sideways on a phone", async (_, path) => {
    const page = await open(path);
    for (const diagram of await page.locator(".diagram").all()) await diagram.locator("svg").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("html.dark").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  });

  it("shows the types of a program", async () => {
    const page = await open("/orders.html");
    await page
      .locator(".twoslash-hover", { hasText: /^ensure$/ })
      .first()
      .hover();
    await page.locator(".twoslash-floating").getByText("ApiCall<PlacedOrder>").first().waitFor();
  });

  it("shows pictures in the colours of the page", async () => {
    const page = await open("/observability.html");
    const picture = page.getByRole("img", { name: /^The panels of the dashboard/ });
    // What changes is then the picture itself.
    await page.addStyleTag({ content: "* { background: white !important }" });
    const light = await picture.screenshot();
    await page.getByRole("switch").first().click();
    await page.locator("html.dark").waitFor();
    expect((await picture.screenshot()).equals(light)).toBe(false);
  });
});
