// A process that has made a container for scripts and waits to be killed: node test-container-manager.ts OWNER
import { containerMaker } from "./container-maker.ts";
import { engineSocket } from "./engine-socket.ts";
import { IMAGE, LIMITS, TEST_COMMAND } from "./test-program.ts";

const [owner = ""] = process.argv.slice(2);
const maker = containerMaker({
  socketPath: engineSocket(process.env["DOCKER_HOST"]),
  image: IMAGE,
  command: TEST_COMMAND,
  limits: LIMITS,
  owner,
});
await maker.make({ signal: AbortSignal.timeout(60_000) });
process.stdout.write("made\n");
