import { command as define, wholeNumber } from "./arguments.ts";
import { emulatorFlags, pageOf, startEmulatorOf } from "./emulator.ts";
import { required, start } from "./program.ts";
import { printError } from "./terminal.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** `pod-partner dev`: runs a program against an emulator of its own. */
export const dev = define({
  name: "dev",
  summary: "Runs your program against an emulator of its own.",
  flags: { ...emulatorFlags, port: wholeNumber("The port of the emulator. Default: any free port.", { most: 65_535 }) },
  program: true,
  notes: [
    "It sets POD_PARTNER_BASE_URL and POD_PARTNER_SECRET_KEY, passes signals on, and ends with the exit code of your program: pod-partner dev -- npm start",
  ],
  run: async (values, program) => {
    const command = required(program, "dev");
    const running = await startEmulatorOf({ port: 0, ...values });
    const { baseUrl, secretKey } = running;
    printError(`pod-partner: emulator ${baseUrl}, page ${pageOf(running)}`);
    const environment = { POD_PARTNER_BASE_URL: baseUrl, POD_PARTNER_SECRET_KEY: secretKey };
    const { ended, kill } = start(command, { environment, output: "inherit" });
    for (const signal of signals) {
      process.on(signal, () => {
        // A terminal sends Ctrl-C to the program, too. A second one would end it at once.
        if (signal !== "SIGINT" || !process.stdin.isTTY) kill(signal);
      });
    }
    try {
      const { code } = await ended;
      // Timers of the emulator, such as a slow response's, must not delay the end.
      process.exit(code);
    } finally {
      await running.close();
    }
  },
});
