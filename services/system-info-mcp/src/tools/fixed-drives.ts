export interface Drive {
  readonly path: string;
  /** Such as ext4. */
  readonly fileSystem: string | undefined;
}

/** More would say nothing to a reader. */
const MAX_DRIVES = 64;
/** Images of programs and discs, which are always full. */
const IMAGES: ReadonlySet<string> = new Set(["squashfs", "iso9660", "udf", "erofs"]);

/**
 * The drives in a list of mounts in the form of Linux. They are local devices, each once, at the shortest of its paths,
 * and the file system at the root, such as a container's layers. Networks and what lives in memory are none.
 * @see man 5 fstab, of which `/proc/self/mounts` has the form: blanks in paths are written in octal
 */
export function fixedDrives(mounts: string): readonly Drive[] {
  const found = new Map<string, Drive>();
  for (const line of mounts.split("\n")) {
    const [device = "", path = "", fileSystem = ""] = line.split(" ").map(decoded);
    if (path !== "/" && (!device.startsWith("/dev/") || IMAGES.has(fileSystem))) continue;
    const known = found.get(device);
    if (known === undefined || path.length < known.path.length) found.set(device, { path, fileSystem });
  }
  return [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1)).slice(0, MAX_DRIVES);
}

const decoded = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
