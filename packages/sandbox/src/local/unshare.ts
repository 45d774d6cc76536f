import { enterCommand } from "./enter-command.ts";
import type { Way } from "./way.ts";

/** By unshare of util-linux, which is everywhere; what the sandbox sees is built by the step within. */
export const unshare: Way = {
  name: "unshare",
  command: (inside, isRoot) => [
    "unshare",
    ...(isRoot ? [] : ["--user", "--map-current-user", "--keep-caps"]),
    ...["--mount", "--pid", "--net", "--ipc", "--uts", "--cgroup", "--fork", "--kill-child"],
    ...["--", ...enterCommand(inside, { tree: inside.tree, isRoot })],
  ],
};
