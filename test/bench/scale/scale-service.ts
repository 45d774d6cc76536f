/**
 * A replica of the service whose tools the measurement of scaling calls: its place and its concurrency are the
 * arguments.
 */

import type { Place } from "../contender.ts";
import { serveDeployed } from "../place/serve-deployed.ts";
import { SCALE_SERVICE, scaleTools } from "./scale-tools.ts";

const [place = "{}", concurrency = ""] = process.argv.slice(2);
await serveDeployed(JSON.parse(place) as Place, scaleTools, {
  service: SCALE_SERVICE,
  concurrency: Number(concurrency),
});
process.stdout.write("ready\n");
