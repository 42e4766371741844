import { ConfigurationError } from "pod-partner";
import { startEmulator } from "pod-partner/testing";
import { expect, it } from "vitest";

const failureOf = async (options: Parameters<typeof startEmulator>[0]) => {
  const error: unknown = await startEmulator(options).catch((caught: unknown) => caught);
  if (!ConfigurationError.isInstance(error)) throw error;
  return error;
};

it("a port in use is an invalid option, and the message names a free one", async () => {
  await using running = await startEmulator();
  const port = Number(new URL(running.baseUrl).port);
  const { issues, cause } = await failureOf({ port });
  const next = port === 65_535 ? 4010 : port + 1;
  expect(issues).toEqual([
    {
      path: ["port"],
      message: `Port ${port} of 127.0.0.1 is in use. Stop the program that uses it, or choose another port: \`port: ${next}\` (0 is any free port)`,
    },
  ]);
  expect(cause).toMatchObject({ code: "EADDRINUSE" });
});

it("a host that is not an address of the machine is an invalid option", async () => {
  const { issues, cause } = await failureOf({ host: "10.255.255.254" });
  expect(issues).toEqual([
    {
      path: ["host"],
      message: "10.255.255.254 is not an address of this machine. Choose another `host`, for example 127.0.0.1",
    },
  ]);
  expect(cause).toMatchObject({ code: "EADDRNOTAVAIL" });
});

it.each(["no-such-host.invalid", "-x"])("the unknown host %s is an invalid option", async (host) => {
  const { issues, cause } = await failureOf({ host });
  const message = `The host name ${host} is unknown. Choose another \`host\`, for example 127.0.0.1`;
  expect(issues).toEqual([{ path: ["host"], message }]);
  expect(cause).toMatchObject({ syscall: "getaddrinfo" });
});

it("a local address without its network interface is an invalid option", async () => {
  const { issues } = await failureOf({ host: "fe80::1", allowRemote: true });
  expect(issues).toEqual([
    {
      path: ["host"],
      message: "fe80::1 is not an address of this machine. Choose another `host`, for example 127.0.0.1",
    },
  ]);
});

it.each([-1, 65_536, 1.5, Number.NaN])("the port %s is an invalid option", async (port) => {
  const { issues } = await failureOf({ port });
  expect(issues).toEqual([{ path: ["port"], message: "expected a whole number from 0 to 65535; 0 is any free port" }]);
});
