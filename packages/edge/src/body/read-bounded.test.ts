import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { BodyTooLargeError, readBounded } from "./read-bounded.ts";

const bodyOf = (...sizes: number[]): Readable => Readable.from(sizes.map((size) => Buffer.alloc(size, "x")));

test.each([[[]], [[4]], [[1, 3]]])("reads a body of chunks %j up to the limit", async (sizes) => {
  await expect(readBounded(bodyOf(...sizes), 4)).resolves.toHaveLength(sizes.reduce((sum, size) => sum + size, 0));
});

test("ends a body as soon as more has come than is taken", async () => {
  const body = bodyOf(4, 1, 1_000);

  await expect(readBounded(body, 4)).rejects.toThrow(BodyTooLargeError);
  expect(body.destroyed).toBe(true);
});
