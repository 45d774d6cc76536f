/**
 * A manager that installs packages in a pod, as a process of its own: `node installer-service.ts JSON`, with options of
 * its maker. Says "ready" once there is the pod.
 */

import { type KubernetesMakerOptions, kubernetesMaker } from "@rockbot/sandbox/kubernetes";
import { installerCommand, installerLimits } from "@rockbot/scripts-manager";

const options = JSON.parse(process.argv[2] ?? "{}") as KubernetesMakerOptions;
await using maker = kubernetesMaker({ ...options, command: installerCommand("python3"), limits: installerLimits });
await using _sandbox = await maker.make({ signal: AbortSignal.timeout(60_000) });
process.stdout.write("ready\n");
await new Promise(() => {}); // its end comes from outside
