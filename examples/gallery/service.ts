/** The emulated service and the designs of the gallery. Both are kept in the folder, so that a second run finds what the first one made. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, sampleImage } from "pod-partner/testing";

const designCount = 20;

/** The ten products that the demo catalog can render. */
const productNames = {
  slimCase13: "Slim case iPhone 13",
  slimCase15: "Slim case iPhone 15",
  slimCase: "Slim case iPhone 16",
  slimCasePro: "Slim case iPhone 16 Pro",
  toughCase15: "Tough case iPhone 15",
  toughCase: "Tough case iPhone 16",
  toughCasePro: "Tough case iPhone 16 Pro",
  toughCaseGalaxy: "Tough case Galaxy S25",
  wallet: "Wallet case iPhone 16",
  customCase: "Custom case iPhone 16",
} as const;

/** Opens the emulator as the run before has left it, and changes one design. The first time, one design is a broken file. */
export async function openService(folder: string) {
  const emulator = createEmulator({ renderDuration: 1_500 });
  const saved = join(folder, "emulator.json");
  const before = await readFile(saved, "utf8").catch(() => undefined);
  if (before !== undefined) emulator.load(JSON.parse(before));

  const paths = Array.from({ length: designCount }, (_, index) => join(folder, "designs", `${index + 1}.png`));
  const [broken = "", changed = ""] = [paths[6], paths[11]];
  await mkdir(join(folder, "designs"), { recursive: true });
  if (before === undefined) {
    for (const [index, path] of paths.entries()) await writeFile(path, sampleImage(`design ${index + 1}`));
    await writeFile(broken, "This was meant to be a PNG.");
  } else {
    await writeFile(changed, sampleImage(`design 12 of ${new Date().toISOString()}`));
  }

  const { products, scenes, perspectives } = emulator.demo;
  const rows = paths.flatMap((path, index) =>
    Object.entries(productNames).map(([key, product]) => ({
      place: { design: `Design ${index + 1}`, product, image: `designs/${index + 1}.png` },
      input: {
        sceneReference: scenes.studio,
        productReference: products[key as keyof typeof productNames],
        perspectiveReference: perspectives.front,
        image: path,
      },
    })),
  );
  let failing = before === undefined;
  /** Lets the service fail two renders of the first run. */
  const failSome = (created: number): void => {
    if (!failing || created < 40) return;
    failing = false;
    const renders = emulator.world().organizations.flatMap((organization) => organization.renders);
    const pending = renders.filter(({ completed }) => completed > Date.now());
    for (const { reference } of [pending[0], pending.at(-1)].filter((one) => one !== undefined))
      emulator.failRender(reference);
  };
  const close = () => writeFile(saved, JSON.stringify(emulator.world()));
  return { emulator, rows, failSome, close };
}
