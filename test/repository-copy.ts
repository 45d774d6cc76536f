import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const COPIED = [
  "docker",
  "docker-compose.yml",
  "docs",
  "helm",
  "package.json",
  "packages",
  "pnpm-workspace.yaml",
  "scripts",
  "services",
  "tsconfig.json",
];

/**
 * Writes a copy of this repository into a folder, which a test may change. It has the libraries of this one, and
 * packages of its own.
 * @returns its files by their path
 */
export function copyRepository(folder: string) {
  const isOurs = (path: string): boolean => !/\/(node_modules|dist)$/.test(path);
  for (const entry of COPIED) cpSync(join(root, entry), join(folder, entry), { recursive: true, filter: isOurs });
  mkdirSync(join(folder, "node_modules"));
  for (const entry of [".pnpm", ".bin"])
    symlinkSync(join(root, "node_modules", entry), join(folder, "node_modules", entry));
  // Links are relative, so that those to packages lead to the copies.
  for (const own of ["", ...globSync("{packages,services}/*/node_modules", { cwd: root }).map(dirname), "services"])
    link(folder, own, own);
  const at = (path: string): string => join(folder, path);
  return {
    read: (path: string): string => readFileSync(at(path), "utf8"),
    write(path: string, text: string): void {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    /** Gives a new package the dependencies of another, as an installation would. */
    linkAs: (path: string, other: string): void => link(folder, other, path),
  };
}

function link(folder: string, from: string, to: string): void {
  for (const name of globSync(["*", "@*/*"], { cwd: join(root, from, "node_modules") })) {
    if (name.startsWith("@") && !name.includes("/")) continue;
    const target = join(folder, to, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, from, "node_modules", name), target, { verbatimSymlinks: true, recursive: true });
  }
}
