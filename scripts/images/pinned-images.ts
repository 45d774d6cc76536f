/**
 * The images that docker/images.env names, by variable.
 * @throws {Error} that names each line that is neither a comment nor an image
 */
export function readImages(text: string): Readonly<Record<string, string>> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const faults = lines.filter((line) => !/^[A-Z_]+=[a-z0-9./_-]+:[\w.-]+(@sha256:[0-9a-f]{64})?$/.test(line));
  if (faults.length > 0)
    throw new Error(
      `docker/images.env: expected NAME=IMAGE:TAG or NAME=IMAGE:TAG@sha256:DIGEST, got ${faults.join(", ")}`,
    );
  return Object.fromEntries(lines.map((line) => line.split("=", 2) as [string, string]));
}
