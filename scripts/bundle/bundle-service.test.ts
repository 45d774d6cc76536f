import { once } from "node:events";
import { globSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { measureService } from "../measure/measure-service.ts";
import { bundleService } from "./bundle-service.ts";

const root = dirname(dirname(import.meta.dirname));
const services = globSync("services/*/src/main.ts", { cwd: root }).map((file) => file.split("/")[1] ?? "");

test.each(services)("the bundle of %s starts, gets ready and stops in a folder that holds nothing else", async (service) => {
  const folder = await mkdtemp(join(tmpdir(), "bundle-"));
  try {
    const { file } = await bundleService(root, service);
    await copyFile(join(root, file), join(folder, "main.mjs"));
    const { idleMiB } = await measureService(join(folder, "main.mjs"));
    expect(idleMiB).toBeGreaterThan(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("the bundle of web-tools is also the worker that converts pages, and then no service", async () => {
  const { file } = await bundleService(root, "web-tools");
  const worker = new Worker(join(root, file), { workerData: "rockbot.page-worker", env: { BUS_URL: "nonsense" } });
  try {
    worker.postMessage({ html: "<title>T</title><p>some <b>text</b>", url: "https://example.test/" });
    expect(await once(worker, "message")).toEqual([{ page: { title: "T", markdown: "some **text**" } }]);
  } finally {
    await worker.terminate();
  }
});
