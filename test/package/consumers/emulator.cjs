const { PodPartner, AuthenticationError } = require("pod-partner");
const { startEmulator } = require("pod-partner/testing");

async function main() {
  const emulator = await startEmulator();
  const { baseUrl, secretKey } = emulator;
  const { message } = await new PodPartner({ baseUrl, secretKey }).auth.validate();
  const other = new PodPartner({ baseUrl, secretKey: "a-secret-key" });
  const error = await other.auth.validate().catch((reason) => reason);
  await emulator.close();
  console.log(JSON.stringify({ message: typeof message, refused: error instanceof AuthenticationError }));
}

main();
