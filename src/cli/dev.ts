import { resolve } from "node:path";
import { command as define, text, wholeNumber } from "./arguments.ts";
import { emulatorFlags, pageOf, startEmulatorOf } from "./emulator.ts";
import { variablesIn } from "./env-file.ts";
import { endSignals, required, start, stop } from "./program.ts";
import { printError } from "./terminal.ts";

/** Milliseconds for which a program may end its work after a signal. */
const patience = 10_000;

/** `pod-partner dev`: runs a program against an emulator of its own. */
export const dev = define({
  name: "dev",
  summary: "Runs your program against an emulator of its own.",
  flags: {
    ...emulatorFlags,
    port: wholeNumber("The port of the emulator. Default: any free port.", { most: 65_535 }),
    "env-file": text("A file with environment variables of the program.", "file"),
  },
  program: true,
  notes: [
    "It sets POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY, ends your program and what it started when a signal ends it, and has the exit code of your program: pod-partner dev -- npm start",
  ],
  run: async (values, program) => {
    const command = required(program, "dev");
    const variables = variablesIn(values["env-file"]);
    const emulator = await startEmulatorOf({ port: 0, ...values });
    const { baseUrl, secretKey } = emulator;
    printError(`pod-partner: emulator ${baseUrl}, page ${pageOf(emulator)}`);
    const environment = {
      ...variables,
      POD_PARTNER_BASE_URL: baseUrl,
      POD_PARTNER_SECRET_KEY: secretKey,
      ...(values.assumptions === undefined ? {} : { POD_PARTNER_ASSUMPTIONS: resolve(values.assumptions) }),
    };
    const running = start(command, { environment, output: "inherit" });
    let stopped: Promise<void> | undefined;
    for (const signal of endSignals) {
      process.on(signal, () => {
        // A terminal sends Ctrl-C to the program, too, and a program may go on after it, as a REPL does.
        if (signal === "SIGINT" && process.stdin.isTTY) return;
        if (stopped === undefined) stopped = stop(running, signal, patience);
        else running.kill("SIGKILL");
      });
    }
    try {
      const { code } = await running.ended;
      // What the program started may need longer than itself.
      await stopped;
      // Timers of the emulator, such as a slow response's, must not delay the end.
      process.exit(code);
    } finally {
      await emulator.close();
    }
  },
});
