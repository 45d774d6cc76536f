import { text } from "node:stream/consumers";
import type { HostGate } from "@rockbot/edge/gate";
import { startPackageIndex, temporaryFolder, wheel } from "@rockbot/testing";
import { expect, test } from "vitest";
import { openIndexGate } from "./index-gate.ts";

const BOUNDS = { idleMs: 10_000, maxBytes: 1024 * 1024 };

/** What the gate answers to a request as it stands. */
async function ask(gate: HostGate, head: string): Promise<string> {
  const connection = gate.open();
  connection.write(`${head}\r\nhost: index\r\nconnection: close\r\n\r\n`);
  return await text(connection);
}

test("a gate reaches the hosts that it is given, and nobody else in any way", async () => {
  await using index = await startPackageIndex([wheel("colors", "1.0")]);
  await using other = await startPackageIndex([]);
  const { host, port } = new URL(index.url);
  using gate = openIndexGate({ hosts: new Set([host]), ...BOUNDS });
  expect(await ask(gate, `GET ${index.url}/colors/ HTTP/1.1`)).toMatch(/^HTTP\/1\.1 200 [\s\S]*colors-1\.0/);
  expect(gate.fault).toBeUndefined();

  const elsewhere = new URL(other.url).host;
  const refused = [
    `GET http://${elsewhere}/simple/colors/ HTTP/1.1`,
    `GET http://${host}@${elsewhere}/ HTTP/1.1`,
    `GET http://169.254.169.254/latest/meta-data HTTP/1.1`,
    `GET http://localhost:${port}/simple/colors/ HTTP/1.1`,
    `CONNECT ${elsewhere} HTTP/1.1`,
    `CONNECT 127.0.0.1:22 HTTP/1.1`,
    `CONNECT ${host}.evil.test:443 HTTP/1.1`,
  ];
  for (const head of refused) expect(await ask(gate, head), head).toMatch(/^HTTP\/1\.1 403 /);
  for (const head of [`POST ${index.url}/ HTTP/1.1`, `GET /simple/ HTTP/1.1`, `GET file:///etc/passwd HTTP/1.1`]) {
    expect(await ask(gate, head), head).toMatch(/^HTTP\/1\.1 400 /);
  }
  expect(gate.fault).toEqual({ kind: "refused", host: "127.0.0.1" });
  expect(other.requests).toEqual([]);
});

test("of a folder of wheels only wheels can be had, and nothing beside it", async () => {
  using folder = temporaryFolder();
  folder.write("colors-1.0+local-py3-none-any.whl", "wheel");
  folder.write("secret.txt", "secret");
  using gate = openIndexGate({ hosts: new Set(), wheelsFolder: folder.path, ...BOUNDS });
  const page = await ask(gate, "GET http://wheels.rockbot.invalid/ HTTP/1.1");
  expect(page).toContain("colors-1.0%2Blocal-py3-none-any.whl");
  expect(page).not.toContain("secret");
  expect(await ask(gate, "GET http://wheels.rockbot.invalid/colors-1.0%2Blocal-py3-none-any.whl HTTP/1.1")).toMatch(
    /200 [\s\S]*wheel$/,
  );
  for (const path of ["secret.txt", "../etc/passwd", "%2e%2e%2fsecret.txt", "..%2f..%2fetc%2fpasswd"]) {
    expect(await ask(gate, `GET http://wheels.rockbot.invalid/${path} HTTP/1.1`), path).toMatch(/^HTTP\/1\.1 404 /);
  }
});

test("what is received through a gate is bounded, whoever sends it", async () => {
  await using index = await startPackageIndex([{ name: "large", fileName: "large.bin", bytes: Buffer.alloc(100_000) }]);
  const { host, origin } = new URL(index.url);
  using gate = openIndexGate({ hosts: new Set([host]), idleMs: 10_000, maxBytes: 50_000 });
  await ask(gate, `GET ${origin}/files/large.bin HTTP/1.1`).catch(() => {});
  expect(gate.fault).toEqual({ kind: "too_large" });

  using other = openIndexGate({ hosts: new Set([host]), idleMs: 10_000, maxBytes: 50_000 });
  const tunnel = other.open();
  tunnel.write(
    `CONNECT ${host} HTTP/1.1\r\nhost: ${host}\r\n\r\nGET /files/large.bin HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
  );
  await text(tunnel).catch(() => {});
  expect(other.fault).toEqual({ kind: "too_large" });
});
