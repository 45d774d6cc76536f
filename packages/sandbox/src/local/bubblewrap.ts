import { dirname } from "node:path";
import { devicesOf, enterCommand } from "./enter-command.ts";
import type { Way } from "./way.ts";

/** To mount what is bounded, and, where it is root, to become another user; the step within gives all of them up. */
const CAPABILITIES = ["CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SETUID", "CAP_SETGID"];
const STREAMS = { fd: "fd", stdin: "fd/0", stdout: "fd/1", stderr: "fd/2" };

/** By bubblewrap, the program that Flatpak is built on: it needs no rights where users may make namespaces. */
export const bubblewrap: Way = {
  name: "bwrap",
  command(inside, isRoot) {
    const { binds, links, writable } = inside.tree;
    return [
      "bwrap",
      ...["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
      ...(isRoot ? [] : ["--unshare-user"]),
      ...["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv", "--hostname", "sandbox"],
      ...ancestors([...binds, ...writable].map(([, path]) => path)).flatMap((folder) => [
        "--perms",
        "0755",
        "--dir",
        folder,
      ]),
      ...binds.flatMap(([outside, path]) => ["--ro-bind", outside, path]),
      ...writable.flatMap(([outside, path]) => ["--bind", outside, path]),
      ...links.flatMap(([target, path]) => ["--symlink", target, path]),
      ...["--proc", "/proc", "--dir", "/tmp", "--chdir", "/"],
      // Not --dev: terminals need a second user namespace, which could not mount anything any more.
      ...["--perms", "0755", "--size", "65536", "--tmpfs", "/dev", "--dir", "/dev/shm"],
      ...devicesOf(inside).flatMap((name) => ["--dev-bind", `/dev/${name}`, `/dev/${name}`]),
      ...Object.entries(STREAMS).flatMap(([name, target]) => ["--symlink", `/proc/self/${target}`, `/dev/${name}`]),
      ...["--cap-drop", "ALL", ...CAPABILITIES.flatMap((capability) => ["--cap-add", capability])],
      ...["--", ...enterCommand(inside, { tree: null, isRoot })],
    ];
  },
};

/** The folders in which the paths lie, outer ones first: bubblewrap would make them for root alone. */
function ancestors(paths: readonly string[]): string[] {
  const found = new Set<string>();
  for (const path of paths)
    for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) found.add(folder);
  return [...found].sort();
}
