import { run } from "./run.ts";

/** Runs a command of the Docker client. */
export const docker = (args: readonly string[], timeoutMs = 60_000): Promise<string> =>
  run("docker", args, { timeoutMs });

export async function dockerAnswers(): Promise<boolean> {
  return docker(["version", "--format", "{{.Server.Version}}"], 10_000).then(
    () => true,
    () => false,
  );
}

/** Tells whether an image is there, or could be fetched. */
export async function hasImage(image: string): Promise<boolean> {
  try {
    await docker(["image", "inspect", image], 10_000).catch(() => docker(["pull", "--quiet", image], 180_000));
    return true;
  } catch {
    return false;
  }
}

/** Tells whether an engine answers that has, or gets, an image: for tests of what containers do. */
export async function canRunContainers(image: string): Promise<boolean> {
  return (await dockerAnswers()) && (await hasImage(image));
}
