import { execFileSync } from "node:child_process";
import { chownSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingNamespaces, startRecordingServer } from "@rockbot/testing";
import { describe, expect, test, vi } from "vitest";
import { pidNamespacesBelow } from "../../../../test/scripts/namespace-census.ts";
import { OWNER, openPolicyText, startTestWorkspace } from "../test-workspace.ts";

const missing = missingNamespaces();

/** Writes a file that belongs to the root's owner. */
function writeOwn(path: string, content: string): void {
  writeFileSync(path, content);
  if (process.getuid?.() === 0) chownSync(path, OWNER, OWNER);
}

describe.runIf(missing === undefined)(
  `commands and searches in sandboxes${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  { timeout: 120_000 },
  () => {
    test("bash runs a command on the caller's roots, and only what it writes there stays", async () => {
      await using workspace = await startTestWorkspace({ roots: { docs: {}, work: { writable: true } } });
      writeOwn(join(workspace.folder("docs"), "a.txt"), "one\ntwo\n");

      const first = await workspace.call("bash", {
        command: "pwd; ls; wc -l < docs/a.txt > work/count; export X=1; echo kept > /tmp/kept; echo err >&2",
      });
      expect(first.content).toBe("/workspace\ndocs\nwork\nerr");
      expect(first.structured).toMatchObject({ exit_code: 0, limit: null, dropped_bytes: 0 });
      expect(first.trust).toEqual({ level: "untrusted", origin: "workspace:docs,work" });
      expect(readFileSync(join(workspace.folder("work"), "count"), "utf8")).toBe("2\n");
      expect(statSync(join(workspace.folder("work"), "count")).uid).toBe(
        process.getuid?.() === 0 ? OWNER : process.getuid?.(),
      );
      const second = await workspace.call("bash", {
        command: "echo [$X]; cat work/count; cat /tmp/kept; echo x > docs/new; exit 7",
      });
      expect(second.isError).toBe(true);
      expect(second.content).toMatch(
        /^\[\]\n2\ncat: \/tmp\/kept: No such file.*\n.*docs\/new: Read-only file system\n\n\(Exit code 7\.\)$/s,
      );
    });

    test("bash changes what other tools have written, and they what it has written", async () => {
      await using workspace = await startTestWorkspace();

      await workspace.call("write_file", { path: "a/b.txt", content: "one" });
      await workspace.call("bash", {
        command: "echo two >> work/a/b.txt && mkdir work/c && echo three > work/c/d.txt",
      });
      await workspace.call("edit_file", { path: "c/d.txt", old_text: "three", new_text: "3" });

      expect((await workspace.call("bash", { command: "cat work/a/b.txt work/c/d.txt" })).content).toBe("onetwo\n3");
    });

    test("a caller's command sees that caller's folder and no other's", async () => {
      const policy = `${openPolicyText}callers:\n  one: { roots: [docs, own] }\n  two: { roots: [own] }\n`;
      await using workspace = await startTestWorkspace({
        policy,
        roots: { docs: {}, own: { writable: true, perCaller: true } },
      });
      const [one, two] = [await workspace.callerOf("one"), await workspace.callerOf("two")];

      await one.call("bash", { command: "echo mine > own/a" });
      expect((await one.call("bash", { command: "ls; cat own/a" })).content).toBe("docs\nown\nmine");
      expect((await two.call("bash", { command: "ls . own/" })).content).toBe(".:\nown\n\nown/:");
    });

    test("of long output the begin and the end are kept, also while it is cut in the middle of characters", async () => {
      await using workspace = await startTestWorkspace({ env: { KEEP_OUTPUT_BYTES: "4000" } });

      const { content, structured } = await workspace.call("bash", {
        command: "echo begin; for ((i = 0; i < 20000; i++)); do printf 'ä€'; done; echo; echo end",
      });

      expect(content).toMatch(/^begin\n(ä€)+ä?\n\n\[\d+ bytes are left out here\]\n\n€?(ä€)+\nend$/);
      expect(Buffer.byteLength((structured as { text: string }).text)).toBeLessThan(4_100);
      const short = await workspace.call("bash", { command: "printf 'ä%.0s' {1..1999}" });
      expect(short.content).toBe("ä".repeat(1_999));
    });

    test("output comes as progress while the command runs, also when there is much of it", async () => {
      await using workspace = await startTestWorkspace({ env: { KEEP_OUTPUT_BYTES: "4000" } });
      const messages: string[] = [];
      const onProgress = ({ message }: { readonly message?: string | undefined }) => void messages.push(message ?? "");
      const command =
        "echo first; until [ -e work/go ]; do sleep 0.05; done; for ((i = 0; i < 4000; i++)); do echo line; done; echo marked; until [ -e work/end ]; do sleep 0.05; done";

      const running = workspace.caller.call("bash", { command }, { onProgress });
      await expect.poll(() => messages.some((message) => message.startsWith("first")), { timeout: 60_000 }).toBe(true);
      writeOwn(join(workspace.folder("work"), "go"), "");
      await expect.poll(() => messages.some((message) => message.includes("marked")), { timeout: 60_000 }).toBe(true);
      writeOwn(join(workspace.folder("work"), "end"), "");
      await running;
    });

    test("a command ends with its time, and with its call, and nothing of it survives", async () => {
      await using workspace = await startTestWorkspace();
      const command =
        "trap '' TERM INT HUP; (setsid sleep 1000 &) ; sleep 1000 & echo started; while :; do sleep 1000; done";

      const late = await workspace.call("bash", { command, timeout_seconds: 3 });
      expect(late.structured).toMatchObject({ exit_code: null, limit: "time" });
      expect(late.content).toContain("started");
      const giveUp = new AbortController();
      const given = workspace.caller.call(
        "bash",
        { command },
        { signal: giveUp.signal, onProgress: () => giveUp.abort() },
      );
      await expect(given).rejects.toMatchObject({ code: "cancelled" });

      await expect.poll(() => [...pidNamespacesBelow(process.pid)], { timeout: 30_000 }).toEqual([]);
    });

    test("signals are as programs expect them, and a broken pipe ends who writes to it", async () => {
      await using workspace = await startTestWorkspace();

      expect(
        (await workspace.call("bash", { command: "yes | head -1; echo $PIPESTATUS; env | sort" })).content,
      ).toMatch(/^y\n141\n(?:_=|HOME=\/tmp\n)(?!.*ROCKBOT)/s);
    });

    test("a symlink in a root leads a command nowhere else", async () => {
      await using workspace = await startTestWorkspace();
      writeFileSync(join(workspace.outside, "secret.txt"), "SECRET");
      symlinkSync(join(workspace.outside, "secret.txt"), join(workspace.folder("work"), "link"));
      symlinkSync("/etc/shadow", join(workspace.folder("work"), "shadow"));

      const { content } = await workspace.call("bash", {
        command: "cat work/link; cat work/shadow; ls /home /root /var /work",
      });
      expect(content).not.toContain("SECRET");
      expect(content).not.toMatch(/root:[^\n]/);
    });

    test("nothing of the service's environment reaches a command", async () => {
      vi.stubEnv("SECRET", "SECRET-OF-THE-SERVICE");
      await using workspace = await startTestWorkspace();

      expect(
        (await workspace.call("bash", { command: "env; cat /proc/*/environ | tr '\\0' '\\n'" })).content,
      ).not.toContain("SECRET");
      vi.unstubAllEnvs();
    });

    test("a command reaches the hosts that the policy grants its caller, and no other; another caller's has no way out", async () => {
      await using granted = await startRecordingServer((_, response) => void response.end("from the host"));
      await using other = await startRecordingServer();
      const policy = `${openPolicyText}callers:\n  one: { hosts: ["127.0.0.1:${granted.port}"] }\n`;
      await using workspace = await startTestWorkspace({ policy });
      const [one, two] = [await workspace.callerOf("one"), await workspace.callerOf("two")];
      const ask = (url: string) =>
        `python3 -c 'import urllib.request as u; print(u.urlopen("${url}", data=b"sent", timeout=20).read().decode())' 2>&1 | tail -1`;

      const run = async (caller: typeof one, command: string) => (await caller.call("bash", { command })).content;
      expect(await run(one, `${ask(`${granted.url}/path`)}; test -s "$SSL_CERT_FILE" && echo trusted`)).toBe(
        "from the host\ntrusted",
      );
      expect(granted.take().map(({ method, target, body }) => [method, target, body.toString()])).toEqual([
        ["POST", "/path", "sent"],
      ]);
      expect(await run(one, ask(`${other.url}/path`))).toContain("403");
      const words = `This proxy refuses 127.0.0.1:${other.port}: it is not one of the granted hosts.`;
      const raw = `python3 -c 'import os,socket; s=socket.create_connection(os.environ["http_proxy"][7:].split(":")); s.sendall(b"CONNECT 127.0.0.1:${other.port} HTTP/1.1\\r\\n\\r\\n"); print(s.makefile().read())'`;
      const body = `python3 -c 'import urllib.request as u, urllib.error as e\ntry: u.urlopen("${other.url}/path", timeout=20)\nexcept e.HTTPError as f: print(f.read().decode())'`;
      for (const command of [raw, body]) expect(await run(one, command)).toContain(words);
      expect(await run(one, `http_proxy= ${ask(`${granted.url}/path`)}`)).toContain("refused");
      expect(await run(two, `${ask(`${granted.url}/path`)}; echo [$http_proxy]; ls /gate 2>&1`)).toMatch(
        /refused.*\n\[\]\n.*No such file/,
      );
      expect([granted.requests, other.requests]).toEqual([[], []]);
    });

    test("search_files finds lines as ripgrep does: by expression or text, without what is hidden or ignored", async () => {
      await using workspace = await startTestWorkspace({ roots: { docs: {}, work: { writable: true } } });
      const work = workspace.folder("work");
      writeOwn(join(work, ".gitignore"), "*.log\n");
      writeOwn(join(work, "a.log"), "needle\n");
      writeOwn(join(work, ".hidden"), "needle\n");
      writeOwn(join(work, "b.txt"), "no\nNeedle and pin\r\nn.edle\n");
      writeOwn(join(workspace.folder("docs"), "c.md"), "a needle\n");
      const search = async (input: Record<string, unknown>) => (await workspace.call("search_files", input)).content;

      expect(await search({ pattern: "needle" })).toBe("docs/c.md:1:a needle");
      expect(await search({ pattern: "n.?eedle", ignore_case: true })).toBe(
        "docs/c.md:1:a needle\nwork/b.txt:2:Needle and pin",
      );
      expect(await search({ pattern: "n.edle", literal: true })).toBe("work/b.txt:3:n.edle");
      expect(await search({ pattern: "pin$" })).toBe("work/b.txt:2:Needle and pin");
      expect(await search({ pattern: "needle", path: "work", hidden: true })).toBe(
        "work/.hidden:1:needle\nwork/a.log:1:needle",
      );
      expect(await search({ pattern: "needle", glob: "*.txt" })).toBe("(Nothing was found.)");
      expect(await search({ pattern: "e", ignore_case: true, limit: 1 })).toMatch(
        /^docs\/c\.md:1:a needle\n\(There is more than this\./,
      );
      await expect(search({ pattern: "(" })).rejects.toMatchObject({
        code: "invalid_arguments",
        message: expect.stringContaining("regex parse error"),
      });
      await expect(search({ pattern: "x", glob: "{a" })).rejects.toMatchObject({ code: "invalid_arguments" });
      await expect(search({ pattern: "(?=x)" })).rejects.toThrow(/look-ahead and look-behind, is not supported$/);
      await expect(search({ pattern: "x", path: "work/none" })).rejects.toThrow(
        'Cannot open "work/none": there is nothing of that name',
      );
      execFileSync("mkfifo", [join(work, "fifo")]);
      await expect(search({ pattern: "x", path: "work/fifo" })).rejects.toMatchObject({ code: "denied" });
      expect(await search({ pattern: "Needle", path: "work/b.txt" })).toBe("work/b.txt:2:Needle and pin");
      await expect(search({ pattern: "x", path: "../work" })).rejects.toMatchObject({ code: "denied" });
      await expect(search({ pattern: "--pre=sh" })).resolves.toBe("(Nothing was found.)");
    });

    test("a search that a symlink leads out finds nothing there", async () => {
      await using workspace = await startTestWorkspace();
      writeFileSync(join(workspace.outside, "secret.txt"), "SECRET");
      symlinkSync(workspace.outside, join(workspace.folder("work"), "link"));

      for (const path of ["work/link", "work/link/secret.txt", "work"]) {
        const found = await workspace
          .call("search_files", { pattern: "SECRET", path })
          .catch((error: Error) => ({ content: error.message }));
        expect(found.content).not.toContain("SECRET");
      }
      expect(readdirSync(workspace.folder("work"))).toEqual(["link"]);
    });
  },
);
