/** `npm run test:compose -- [FILE…]`: the tests of docker-compose.yml and of the images. Without an engine it says so and ends with exit code 0. */
import { spawn } from "node:child_process";
import { canRunContainers } from "@rockbot/testing";

const IMAGE = "node:24-bookworm-slim";

if (await canRunContainers(IMAGE)) {
  const tests = spawn("vitest", ["run", "--config", "vitest.compose.config.ts", ...process.argv.slice(2)], { stdio: "inherit" });
  tests.on("error", (error) => {
    console.error(`Compose tests: cannot run vitest: ${error.message}`);
    process.exitCode = 1;
  });
  tests.on("exit", (code) => {
    process.exitCode = code ?? 1;
  });
} else {
  console.log(`Compose tests: not run, as no Docker engine answers that has ${IMAGE}.`);
}
