/**
 * Looks for a secret in everything that the system shows it of itself and of others, such as the process that started
 * it, and writes its finds to a file, as SpyReport. Arguments: the file, and the secret in two parts, so that its own
 * command line does not hold it.
 */
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import type { SpyReport } from "./spy.ts";

const [file = "", ...parts] = process.argv.slice(2);
const secret = parts.join("");
const parent = `/proc/${process.ppid}`;
const MAX_REGION = 64 * 1024 * 1024;

const can = (act: () => unknown): boolean => {
  try {
    act();
    return true;
  } catch {
    return false;
  }
};

function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** The address range of the parent's stack, where its first variables lie. */
function stackOfParent(): string {
  const [, from = "0", to = "0"] = /^([\da-f]+)-([\da-f]+) .*\[stack\]$/m.exec(textOf(`${parent}/maps`)) ?? [];
  const region = Buffer.alloc(Math.min(Number.parseInt(to, 16) - Number.parseInt(from, 16), MAX_REGION));
  let memory: number | undefined;
  try {
    memory = openSync(`${parent}/mem`, "r");
    readSync(memory, region, 0, region.length, Number.parseInt(from, 16));
  } catch {
    return "";
  } finally {
    if (memory !== undefined) closeSync(memory);
  }
  return region.toString("latin1");
}

const others = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
const inherited = readdirSync("/proc/self/fd").filter((fd) => {
  let link = "";
  can(() => (link = readlinkSync(`/proc/self/fd/${fd}`)));
  return Number(fd) > 2 && link.startsWith("socket:"); // what a program of Node opens by itself at its start is none
});
const report: SpyReport = {
  uid: process.getuid?.(),
  opened: ["environ", "maps", "mem"].filter((name) => can(() => closeSync(openSync(`${parent}/${name}`, "r")))),
  seesOpenFiles: can(() => readdirSync(`${parent}/fd`)),
  signals: can(() => process.kill(process.ppid, 0)),
  inheritedSockets: inherited.length,
  found: [
    ...(Object.values(process.env).some((value) => value?.includes(secret)) ? ["its own environment"] : []),
    ...(stackOfParent().includes(secret) ? ["the parent's memory"] : []),
    ...others.flatMap((pid) =>
      ["environ", "cmdline"]
        .filter((name) => textOf(`/proc/${pid}/${name}`).includes(secret))
        .map((name) => `${pid}/${name}`),
    ),
  ],
};
writeFileSync(`${file}.part`, JSON.stringify(report));
renameSync(`${file}.part`, file);
