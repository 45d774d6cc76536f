import { execFileSync } from "node:child_process";
import { docker } from "./docker.ts";

export interface ContainerOptions {
  readonly image: string;
  /** Each port inside, and the one of 127.0.0.1 that leads there. */
  readonly ports: readonly { readonly inside: number; readonly outside: number }[];
  readonly env?: Readonly<Record<string, string>> | undefined;
  /**
   * The network of Docker's that it is in, and its name there, which is its host's name, too.
   * @default Docker's own network
   */
  readonly network?: { readonly name: string; readonly host: string } | undefined;
  /** What runs inside; the image's own command by default. */
  readonly command?: readonly string[] | undefined;
  /** Waits until the server inside is ready. `explain` says what the container has written last. */
  readonly untilReady: (explain: () => Promise<string>) => Promise<void>;
}

/** A running container. Disposal removes it with its data, and so does the end of this process. */
export interface Container extends AsyncDisposable {
  /**
   * Its own address now, without Docker's relay before it: where the engine is a machine's own, that machine reaches
   * it.
   */
  address(): Promise<string>;
  /** The id of its first process on this machine. */
  pid(): Promise<string>;
  kill(): Promise<void>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Starts it again on the same port and data. */
  restart(): Promise<void>;
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Runs a program inside. @returns its output */
  exec(env: Readonly<Record<string, string>>, ...command: string[]): Promise<string>;
}

export async function startContainer({
  image,
  ports,
  network,
  env = {},
  command = [],
  untilReady,
}: ContainerOptions): Promise<Container> {
  const options = ["--detach", "--label", "rockbot.test-server"];
  for (const { inside, outside } of ports) options.push("--publish", `127.0.0.1:${outside}:${inside}`);
  if (network !== undefined)
    options.push("--network", network.name, "--network-alias", network.host, "--hostname", network.host);
  const id = (await docker(["run", ...options, ...environment(env), image, ...command])).trim();

  const removeAtExit = () => execFileSync("docker", ["rm", "--force", "--volumes", id], { stdio: "ignore" });
  process.once("exit", removeAtExit);
  const remove = async () => {
    process.off("exit", removeAtExit);
    await docker(["rm", "--force", "--volumes", id]);
  };
  const ready = () =>
    untilReady(async () => `the container says: ${(await docker(["logs", "--tail", "5", id])).trim()}`);
  try {
    await ready();
  } catch (error) {
    await remove();
    throw error;
  }

  return {
    address: async () =>
      (await docker(["inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}", id]))
        .trim()
        .split(" ")[0] ?? "",
    pid: async () => (await docker(["inspect", "--format", "{{.State.Pid}}", id])).trim(),
    kill: async () => void (await docker(["kill", "--signal", "KILL", id])),
    stop: async () => void (await docker(["stop", "--time", "50", id])),
    restart: async () => {
      await docker(["start", id]);
      await ready();
    },
    pause: async () => void (await docker(["pause", id])),
    resume: async () => void (await docker(["unpause", id])),
    exec: (variables, ...program) => docker(["exec", ...environment(variables), id, ...program]),
    [Symbol.asyncDispose]: remove,
  };
}

function environment(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
}
