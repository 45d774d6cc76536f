import { createSocket } from "node:dgram";
import { lookup as systemLookup } from "node:dns/promises";
import { once } from "node:events";
import { promisify } from "node:util";
import { gunzip, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createNameLookup } from "./name-lookup.ts";

const A = 1;
const AAAA = 28;

/** What is answered: addresses as bytes, a fault of the name server by its code in RFC 1035, or nothing at all. */
type Answer = { readonly addresses: readonly (readonly number[])[] } | { readonly fault: number } | "silence";

/** A name server that answers each query as `answer` says. */
async function startNameServer(answer: (name: string, type: number) => Answer) {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (; query[at] !== 0; at += 1 + (query[at] ?? 0))
      labels.push(query.toString("latin1", at + 1, at + 1 + (query[at] ?? 0)));
    const type = query.readUInt16BE(at + 1);
    const name = labels.join(".");
    asked.push(name);
    const answered = answer(name, type);
    if (answered === "silence") return;
    const addresses = "fault" in answered ? [] : answered.addresses;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | ("fault" in answered ? answered.fault : 0), 2);
    head.writeUInt16BE(addresses.length, 6);
    head.fill(0, 8);
    const records = addresses.map((bytes) =>
      Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
    );
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    servers: [`127.0.0.1:${socket.address().port}`],
    asked,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}

const patient = { signal: new AbortController().signal, isNamed: false };

test("addresses of both kinds are found, and one kind is enough", async () => {
  await using nameServer = await startNameServer((name, type) => {
    if (type === A) return { addresses: [[93, 184, 216, 34]] };
    return {
      addresses:
        type === AAAA && name === "both.example" ? [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]] : [],
    };
  });
  const lookup = createNameLookup(nameServer);

  expect(await lookup("both.example", patient)).toEqual(["93.184.216.34", "2001:db8::1"]);
  expect(await lookup("four.example", patient)).toEqual(["93.184.216.34"]);
});

test.each([
  ["a name that does not exist", "gone.example", { fault: 3 }, "ENOTFOUND"],
  ["a name without addresses", "empty.example", { addresses: [] }, "ENOTFOUND"],
  ["a name that cannot be one", "a..b", "silence", "ENOTFOUND"],
  ["a server that fails", "broken.example", { fault: 2 }, "EAI_AGAIN"],
  ["a server that refuses", "refused.example", { fault: 5 }, "EAI_AGAIN"],
] satisfies [string, string, Answer, string][])(
  "%s fails with a code of the system's resolver",
  async (_, host, answer, code) => {
    await using nameServer = await startNameServer(() => answer);

    await expect(createNameLookup(nameServer)(host, patient)).rejects.toMatchObject({ code });
  },
);

test("no name server where one should be is not the host refusing connections", async () => {
  const { servers } = await (async () => {
    await using gone = await startNameServer(() => "silence");
    return gone;
  })();

  await expect(createNameLookup({ servers })("x.example", patient)).rejects.toMatchObject({ code: "EAI_AGAIN" });
});

test("names whose servers are silent stop neither other names nor the process's threads, and end when given up", async () => {
  await using nameServer = await startNameServer((name) =>
    name.startsWith("silent") ? "silence" : { addresses: [[1, 2, 3, 4]] },
  );
  const lookup = createNameLookup(nameServer);
  const abort = new AbortController();
  let settled = 0;
  const silent = Array.from({ length: 30 }, (_, i) =>
    lookup(`silent${i}.example`, { ...patient, signal: abort.signal }).finally(() => settled++),
  );
  const ends = Promise.allSettled(silent);
  await expect.poll(() => nameServer.asked.length, { timeout: 10_000 }).toBeGreaterThan(30);

  await promisify(gunzip)(gzipSync("x"));
  await systemLookup("localhost");
  expect(await lookup("quick.example", patient)).toContain("1.2.3.4");
  expect(settled).toBe(0);
  abort.abort(new Error("given up"));
  expect(await ends).toMatchObject(silent.map(() => ({ status: "rejected", reason: { message: "given up" } })));
});

test("more names than are asked for at once wait for their turn, and can be given up there", async () => {
  await using nameServer = await startNameServer(() => "silence");
  const lookup = createNameLookup(nameServer);
  const abort = new AbortController();
  const ends = Promise.allSettled(
    Array.from({ length: 100 }, (_, i) => lookup(`n${i}.example`, { ...patient, signal: abort.signal })),
  );
  await expect.poll(() => new Set(nameServer.asked).size, { timeout: 10_000 }).toBe(64);
  abort.abort(new Error("given up"));

  expect((await ends).every(({ status }) => status === "rejected")).toBe(true);
  expect(new Set(nameServer.asked).size).toBe(64);
});

test("a name server that never answers is given up within seconds", async () => {
  await using nameServer = await startNameServer(() => "silence");

  await expect(createNameLookup(nameServer)("x.example", patient)).rejects.toMatchObject({ code: "EAI_AGAIN" });
});

test("localhost is never asked of a name server, and a host that the operator names is looked up as the system does", async () => {
  await using nameServer = await startNameServer(() => ({ addresses: [[1, 2, 3, 4]] }));
  const lookup = createNameLookup(nameServer);

  for (const host of ["localhost", "LOCALHOST.", "a.localhost"])
    expect(await lookup(host, patient)).toEqual(["127.0.0.1", "::1"]);
  expect(await lookup("localhost", { ...patient, isNamed: true })).toContain("127.0.0.1");
  expect(nameServer.asked).toEqual([]);
});
