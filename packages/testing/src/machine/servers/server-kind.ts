import { existsSync } from "node:fs";
import { dockerAnswers, hasImage } from "../docker.ts";
import { canInstallDebianPackages, installDebianPackage } from "../install-debian-package.ts";

export type ServerKind = "container" | "local";

/** One way to get a server. */
export interface ServerSource {
  /** The name for people. */
  readonly name: string;
  readonly image: string;
  /** The installed program's path. */
  readonly program: string;
  readonly debianPackage: string;
  /** The variable that forces a kind: `container` or `local`. */
  readonly kindVariable: string;
  /** The variable that holds the address of a server that tests may use. */
  readonly urlVariable: string;
}

/**
 * How this machine runs a server for tests: in a container if a Docker engine answers and has or gets the image; else
 * from an installed program; else, on Debian as root, from one that is installed now.
 * @throws {Error} that says in one line what to do, if there is no way
 */
export async function decideServerKind({
  name,
  image,
  program,
  debianPackage,
  kindVariable,
  urlVariable,
}: ServerSource): Promise<ServerKind> {
  const forced = process.env[kindVariable];
  if (forced !== undefined && forced !== "container" && forced !== "local") {
    throw new Error(`${kindVariable} is "${forced}": expected "container" or "local"`);
  }
  if (forced !== "local" && (await dockerAnswers()) && (await hasImage(image))) return "container";
  if (forced === "container")
    throw new Error(
      `No ${name} for the tests: ${kindVariable} asks for a container, and no Docker engine with the image ${image} answers`,
    );
  if (!existsSync(program)) {
    if (!canInstallDebianPackages()) {
      throw new Error(
        `No ${name} for the tests: start Docker, or install ${debianPackage}, or set ${urlVariable} to a server that tests may use`,
      );
    }
    await installDebianPackage(debianPackage);
  }
  return "local";
}
