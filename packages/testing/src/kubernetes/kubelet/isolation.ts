import { spawnSync } from "node:child_process";
import { machinePython } from "./machine-python.ts";

const NAMESPACES = ["--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"];

/** How this machine lets processes be put apart. */
export interface Isolation {
  /**
   * The program, with its arguments, that goes before what runs in new namespaces. It ends with its parent, and all
   * below it with it.
   */
  enter(options: { readonly hasNetwork: boolean }): readonly string[];
  /**
   * The one that goes before what runs with a user's few rights. To become another user is to forget whose end ends
   * oneself, so it is said anew.
   */
  leave(user: number, group: number): readonly string[];
}

const DIE_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"];

const asRoot: Isolation = {
  enter: ({ hasNetwork }) => [...DIE_WITH_PARENT, "unshare", ...NAMESPACES, ...(hasNetwork ? [] : ["--net"])],
  leave: (user, group) => [
    "/usr/bin/setpriv",
    ...[
      "--pdeathsig",
      "KILL",
      "--reuid",
      String(user),
      "--regid",
      String(group),
      "--clear-groups",
      "--no-new-privs",
      "--bounding-set",
      "-all",
      "--inh-caps",
      "-all",
    ],
  ],
};

const asUser: Isolation = {
  enter: ({ hasNetwork }) => [
    ...DIE_WITH_PARENT,
    "unshare",
    "--user",
    "--map-root-user",
    ...NAMESPACES,
    ...(hasNetwork ? [] : ["--net"]),
  ],
  leave: (user, group) => [
    "/usr/bin/unshare",
    "--user",
    "--map-user",
    String(user),
    "--map-group",
    String(group),
    "/usr/bin/setpriv",
    "--pdeathsig",
    "KILL",
    "--no-new-privs",
  ],
};

let decided: Isolation | string | undefined;

/** @returns why there is none, as a string, where the machine allows no process to be put apart */
export function machineIsolation(): Isolation | string {
  decided ??= decide();
  return decided;
}

/** Why pods cannot run on this machine; undefined if they can. */
export function whyNoPods(): string | undefined {
  const isolation = machineIsolation();
  if (typeof isolation === "string") return isolation;
  return machinePython() === undefined ? "no Python 3 is installed" : undefined;
}

function decide(): Isolation | string {
  if (process.platform !== "linux") return `pods run in namespaces of Linux: this is ${process.platform}`;
  const faults = [asRoot, asUser].map((isolation) => {
    const [program = "", ...args] = [
      ...isolation.enter({ hasNetwork: false }),
      "sh",
      "-c",
      "mount -t tmpfs probe /tmp && mount -t proc proc /proc",
    ];
    const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 10_000 });
    return status === 0 ? isolation : (error?.message ?? stderr.trim());
  });
  return faults.find((one) => typeof one !== "string") ?? `unshare cannot make namespaces: ${String(faults.at(-1))}`;
}
