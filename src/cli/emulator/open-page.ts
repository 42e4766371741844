import { spawn } from "node:child_process";
import { printError } from "../terminal.ts";

/** The programs that open a URL in the default browser. */
const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens a URL in the default browser. Prints a line when that fails; the emulator keeps running. */
export function openPage(url: string): void {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const failed = () => printError(`The browser could not be opened with ${command}. Open ${url} yourself.`);
  const opener = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  opener.once("error", failed);
  opener.once("exit", (code) => {
    if (code !== 0 && code !== null) failed();
  });
  opener.unref();
}
