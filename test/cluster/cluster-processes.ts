import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { run } from "@rockbot/testing";

const FOLDER = "ROCKBOT_TEST_CLUSTER_RUN";
const START = "ROCKBOT_TEST_CLUSTER_START";
const START_MS = 240_000;

export type ClusterProcess = "kube-apiserver" | "etcd" | "kubelet";

/** A file that the cluster keeps while it runs. */
export const clusterFile = (name: string): string | undefined => {
  const folder = process.env[FOLDER] ?? "";
  return folder === "" ? undefined : join(folder, name);
};

/** Why no process of the cluster can be stopped; undefined if one can. */
export function whyNoProcesses(): string | undefined {
  return clusterFile("") === undefined
    ? `${FOLDER} names no folder with kube-apiserver.pid, etcd.pid and kubelet.pid`
    : undefined;
}

/** Why no process of the cluster can be killed; undefined if one can. */
export function whyNoKills(): string | undefined {
  return (
    whyNoProcesses() ??
    ((process.env[START] ?? "") === ""
      ? `${START} names no command that starts what has ended of the cluster`
      : undefined)
  );
}

const pidOf = (name: ClusterProcess): number =>
  Number(readFileSync(clusterFile(`${name}.pid`) ?? "", "utf8").split(" ")[0]);

/**
 * Holds a process of the cluster still. Disposal lets it go on, as does the end of this process. Everybody who uses the
 * cluster feels it: for seconds only.
 */
export function holdProcess(name: ClusterProcess): Disposable {
  const pid = pidOf(name);
  const goOn = (): void => {
    process.off("exit", goOn);
    process.kill(pid, "SIGCONT");
  };
  process.on("exit", goOn);
  process.kill(pid, "SIGSTOP");
  return { [Symbol.dispose]: goOn };
}

/** A part of the cluster that is not there. Disposal has it started, unless that was asked for before. */
export interface KilledProcess extends AsyncDisposable {
  /** Resolves once the whole cluster is ready. */
  startAgain(): Promise<void>;
  /** Starts it with another file of settings, for as long as it is not disposed of. */
  startWith(configFile: string): void;
}

/** Kills a process of the cluster at once. */
export function killProcess(name: ClusterProcess): KilledProcess {
  const pid = pidOf(name);
  const [program = "", ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  process.kill(pid, "SIGKILL");
  let end = (): void => {};
  let started: Promise<unknown> | undefined;
  const late = AbortSignal.timeout(START_MS);
  const startAgain = async (): Promise<void> => {
    process.off("exit", end);
    end();
    while (existsSync(`/proc/${pid}`)) await setTimeout(50, undefined, { signal: late }); // who looks sooner takes it to be there
    started ??= run("sh", ["-c", process.env[START] ?? ""], { timeoutMs: START_MS });
    await started;
  };
  return {
    startAgain,
    startWith(configFile) {
      const own = args.map((arg, index) => (args[index - 1] === "--config" ? configFile : arg));
      const beside = pidOf(name === "etcd" ? "kube-apiserver" : "etcd");
      const child = spawn("nsenter", [`--net=/proc/${beside}/ns/net`, program, ...own], { stdio: "ignore" });
      end = () => void child.kill("SIGKILL");
      process.on("exit", end);
    },
    [Symbol.asyncDispose]: startAgain,
  };
}
