import { spawnSync } from "node:child_process";
import { noOwnCluster } from "./scripts-cluster.ts";

/** Asks the kernel for its version of Landlock. */
const ASK =
  "import ctypes, sys; sys.exit(0 if ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) >= 2 else 1)";

/**
 * True if pods of the tests' own cluster run on a kernel with a usable Landlock: the nodes of a real one are unknown.
 */
export const hasLandlock =
  !noOwnCluster.isSo && spawnSync("python3", ["-I", "-c", ASK], { timeout: 10_000 }).status === 0;
