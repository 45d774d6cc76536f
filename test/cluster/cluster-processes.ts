import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "ROCKBOT_TEST_CLUSTER_RUN";

/** Why no process of the cluster can be stopped; undefined if one can. */
export function whyNoProcesses(): string | undefined {
  return (process.env[FOLDER] ?? "") === "" ? `${FOLDER} names no folder with kube-apiserver.pid, etcd.pid and kubelet.pid` : undefined;
}

/** Holds a process of the cluster still. Disposal lets it go on, as does the end of this process. Everybody who uses the cluster feels it: for seconds only. */
export function holdProcess(name: "kube-apiserver" | "etcd" | "kubelet"): Disposable {
  const pid = Number(readFileSync(join(process.env[FOLDER] ?? "", `${name}.pid`), "utf8").split(" ")[0]);
  const goOn = (): void => {
    process.off("exit", goOn);
    process.kill(pid, "SIGCONT");
  };
  process.on("exit", goOn);
  process.kill(pid, "SIGSTOP");
  return { [Symbol.dispose]: goOn };
}
