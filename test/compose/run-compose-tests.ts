/**
 * `npm run test:compose -- [FILE…]`: the tests of docker-compose.yml and of the images. Without an engine it says so
 * and ends with exit code 0.
 */
import { canRunContainers } from "@rockbot/testing";
import { runVitest } from "../run/run-vitest.ts";

const IMAGE = "node:24-bookworm-slim";

if (await canRunContainers(IMAGE)) {
  process.exitCode = await runVitest(["--config", "test/compose/vitest.config.ts", ...process.argv.slice(2)]);
} else {
  console.log(`Compose tests: not run, as no Docker engine answers that has ${IMAGE}.`);
}
