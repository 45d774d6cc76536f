import type { SandboxLimits } from "@rockbot/sandbox";
import { installerSource } from "../../generated/installer.ts";

/** The command that starts the installer, as the first process of a sandbox. `python`: as it is called there. */
export const installerCommand = (python: string): string[] => [python, "-I", "-u", "-X", "utf8", "-c", installerSource];

/** The limits under which pip can fetch, unpack and compile the packages of a layer, all of which lies in memory. */
export const installerLimits: SandboxLimits = {
  memoryBytes: 2048 * 1024 * 1024,
  processes: 32,
  storageBytes: 1536 * 1024 * 1024,
  storageFiles: 150_000,
  processors: 1,
};
