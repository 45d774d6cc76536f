/** One line of docker/images.env: a variable, an image by its tag, and its digest if it is pinned. */
const LINE = /^([A-Z_]+)=([a-z0-9./_-]+:[\w.-]+)(@sha256:[0-9a-f]{64})?$/;

/**
 * The images that docker/images.env names, by variable.
 * @throws {Error} that names each line that is neither a comment nor an image
 */
export function readImages(text: string): Readonly<Record<string, string>> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const faults = lines.filter((line) => !LINE.test(line));
  if (faults.length > 0) throw new Error(`docker/images.env: expected NAME=IMAGE:TAG or NAME=IMAGE:TAG@sha256:DIGEST, got ${faults.join(", ")}`);
  return Object.fromEntries(lines.map((line) => line.split("=", 2) as [string, string]));
}

/** The text with the digest that each image has now. @param digestOf asks a registry; rejects if that cannot be reached */
export async function pinImages(text: string, digestOf: (image: string) => Promise<string>): Promise<string> {
  const lines = text.split("\n").map(async (line) => {
    const [, name, image] = LINE.exec(line) ?? [];
    if (name === undefined || image === undefined) return line;
    const digest = await digestOf(image);
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`Cannot pin ${image}: the registry gave no digest, but ${JSON.stringify(digest.slice(0, 100))}`);
    return `${name}=${image}@${digest}`;
  });
  return (await Promise.all(lines)).join("\n");
}
