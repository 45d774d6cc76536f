import { run } from "./run.ts";

export const BROKER_IMAGE = "rabbitmq:4-management";

/** Runs a command of the Docker client. */
export const docker = (args: readonly string[], timeoutMs = 60_000): Promise<string> => run("docker", args, { timeoutMs });

export async function dockerAnswers(): Promise<boolean> {
  return docker(["version", "--format", "{{.Server.Version}}"], 10_000).then(
    () => true,
    () => false,
  );
}

/** Whether the broker's image is there, or could be fetched. */
export async function hasBrokerImage(): Promise<boolean> {
  try {
    await docker(["image", "inspect", BROKER_IMAGE], 10_000).catch(() => docker(["pull", "--quiet", BROKER_IMAGE], 180_000));
    return true;
  } catch {
    return false;
  }
}
