import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { missingNamespaces, ownVirtualHost, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const missing = missingNamespaces();
const POLICY =
  "everyone: { allow: [read_file, list_files, search_files] }\ncallers:\n  writer: { allow: [read_file, write_file, edit_file, list_files, search_files, bash] }\n";

test.skipIf(missing)(
  `each workspace tool over a broker, for callers that the policy lets${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  { timeout: 180_000 },
  async () => {
    using work = temporaryFolder();
    using policyFolder = temporaryFolder();
    if (process.getuid?.() === 0) chownSync(work.path, 65_534, 65_534); // commands never have root's rights
    const policyFile = policyFolder.write("policy.yaml", POLICY);
    await using broker = await ownVirtualHost();
    const roots = JSON.stringify({ work: { folder: work.path, writable: true } });
    await using _service = await startService("workspace-tools", {
      BUS_URL: broker.url,
      POLICY_FILE: policyFile,
      WORKSPACE_ROOTS: roots,
    });
    await using bus = await connectBus(broker.url);
    await using policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
    await using writer = await createToolCaller(bus, { agent: "writer", results: "copy", policy });
    await using reader = await createToolCaller(bus, { agent: "reader", results: "copy" });
    await Promise.all([writer.discovered(), reader.discovered()]);

    expect((await writer.call("write_file", { path: "a/b.txt", content: "one\n" })).structured).toMatchObject({
      created: true,
      added: 1,
    });
    expect(
      (await writer.call("edit_file", { path: "work/a/b.txt", old_text: "one", new_text: "two" })).structured,
    ).toMatchObject({ added: 1, removed: 1 });
    expect(
      (await writer.call("bash", { command: "cat work/a/b.txt | tr a-z A-Z > work/c.txt; cat work/c.txt" })).content,
    ).toBe("TWO");
    expect(readFileSync(join(work.path, "c.txt"), "utf8")).toBe("TWO\n");
    expect((await reader.call("read_file", { path: "c.txt" })).content).toBe("TWO");
    expect((await reader.call("list_files", { path: "work", depth: 2 })).content).toBe(
      "work/a/\nwork/a/b.txt  4 bytes\nwork/c.txt  4 bytes",
    );
    expect((await reader.call("search_files", { pattern: "tw." })).content).toBe("work/a/b.txt:1:two");
    for (const [tool, input] of Object.entries({ bash: { command: "id" }, write_file: { path: "d", content: "" } }))
      await expect(reader.call(tool, input)).rejects.toMatchObject({ code: "denied" });
  },
);
