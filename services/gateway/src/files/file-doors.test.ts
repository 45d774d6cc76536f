import { Readable } from "node:stream";
import { createMemoryFileStore } from "@rockbot/records/files";
import { expect, test } from "vitest";
import { fileDoors } from "./files-app.ts";

/** A request with a file, as a handler has it. */
const request = (body: Readable, run: () => void = () => {}) =>
  ({
    env: { incoming: Object.assign(body, { headers: {} }) },
    req: { query: (name?: string) => (name === undefined ? { name: "a.txt" } : "a.txt"), header: () => undefined },
    get: (name: string) =>
      name === "caller" ? "ann" : { receive: <T>(read: () => Promise<T>): Promise<T> => read(), run },
  }) as unknown as Parameters<ReturnType<typeof fileDoors>["put"]>[0];

const options = { self: "gateway", headers: {}, stallMs: 1_000 };

test("a file whose request finds no place in the end is not kept", async () => {
  await using store = createMemoryFileStore();
  const refuse = (): void => {
    throw new Error("no place");
  };
  const put = fileDoors(store.files, options).put(request(Readable.from([Buffer.from("x")]), refuse));
  await expect(put).rejects.toThrow("no place");
  await expect.poll(() => store.files.list("ann")).toEqual([]);
});

test("a client that goes away is no failure of the gateway", async () => {
  await using store = createMemoryFileStore();
  const cut = async function* () {
    yield Buffer.from("x");
    throw new Error("aborted");
  };
  const put = fileDoors(store.files, options).put(request(Readable.from(cut())));
  await expect(put).rejects.toMatchObject({ code: "cancelled" });
});
