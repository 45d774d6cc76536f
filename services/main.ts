import { namesHelp } from "@rockbot/contracts";
import { services } from "./index.ts";

// One service as a process of its own: node services/main.ts NAME
const [, , name = ""] = process.argv;
const service = services.find((each) => each.name === name);
if (service === undefined) {
  const names = services.map((each) => each.name);
  console.error(`Cannot run "${name}": there is no such service. ${namesHelp(name, names)}`);
  process.exitCode = 2;
} else if (service.onBus) await (await import("./run-on-bus.ts")).runOnBus(service, process.env);
else await (await import("./run-server.ts")).runServer(service, process.env);
