import { readFile } from "node:fs/promises";
import { PackageURL } from "packageurl-js";
import type { SystemPackage } from "./bill-of-materials.ts";

/**
 * What an image has besides the bundle: this Node, and the packages of a file with the lines `name version
 * architecture` that dpkg-query has written.
 */
export async function systemPackages(file: string): Promise<readonly SystemPackage[]> {
  const node = process.versions.node;
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  const packages = lines.map((line): SystemPackage => {
    const [name = "", version = "", arch = ""] = line.split(" ");
    return { name, version, purl: new PackageURL("deb", "debian", name, version, { arch }, undefined).toString() };
  });
  return [
    {
      name: "node",
      version: node,
      purl: new PackageURL("generic", undefined, "node", node, undefined, undefined).toString(),
    },
    ...packages,
  ];
}
