import { inspect } from "node:util";

export const cannotBeShown = "CANNOT BE SHOWN";

/** Everything that a value shows to a console, a log or a serializer. */
export function shown(value: unknown): string {
  const texts: string[] = [];
  const add = (show: () => unknown) => {
    try {
      texts.push(String(show()));
    } catch (error) {
      texts.push(`${cannotBeShown}: ${error instanceof Error ? error.message : typeof error}`);
    }
  };
  add(() => inspect(value, { depth: 20, showHidden: true, maxStringLength: 100_000 }));
  add(() => JSON.stringify(value));
  for (let error = value, depth = 0; error instanceof Error && depth < 20; error = error.cause, depth++) {
    const { message, stack } = error;
    add(() => `${message}\n${stack}`);
  }
  return texts.join("\n");
}

/** The secret key, however its special characters are escaped. */
const key = /k3y.{1,6}5up3r.{1,12}53cr3t.{2,40}4d5f6/is;

export const showsKey = (value: unknown): boolean => key.test(shown(value));
