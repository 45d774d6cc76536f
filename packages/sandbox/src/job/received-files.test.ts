import { expect, test } from "vitest";
import { ReceivedFiles } from "./received-files.ts";

const MI = 1024 ** 2;

test("bytes of a file that is refused at once do not pile up", async () => {
  let length = (): number => 0;
  const files = new ReceivedFiles({
    mostFiles: 1,
    mostBytes: 100 * MI,
    async onFile(_, bytes) {
      length = () => (bytes as unknown as { readonly writableLength: number }).writableLength;
      throw new Error("its name is no name");
    },
  });
  await files.begin("refused");
  for (let i = 0; i < 16; i++) await files.add(Buffer.alloc(MI));
  await files.end();
  expect(length()).toBeLessThan(2 * MI);
});

test("a sandbox that sends more files or bytes than it may has no more of them taken", async () => {
  const begun: string[] = [];
  const whole: string[] = [];
  const files = new ReceivedFiles({
    mostFiles: 3,
    mostBytes: 10,
    async onFile(name, bytes) {
      begun.push(name);
      for await (const _ of bytes);
      whole.push(name);
    },
  });
  for (const name of ["a", "b", "c", "d"]) {
    await files.begin(name);
    await files.add(Buffer.alloc(4));
  }
  await files.end();
  expect(begun).toEqual(["a", "b", "c"]);
  expect(whole).toEqual(["a", "b"]);
});
