import { expect, test } from "vitest";
import { readPolicy } from "./document/read-policy.ts";
import { mayUseSome } from "./may-use-some.ts";
import { createPolicy } from "./policy.ts";

test.each([
  ["{ allow: ['*'] }", true],
  ["{ allow: ['git__*'] }", true],
  ["{ allow: ['git__push'] }", true],
  ["{ allow: ['*__push'] }", true],
  ["{ allow: ['gitea__*'] }", false],
  ["{ allow: ['*'], deny: ['git__*'] }", false],
  ["{ allow: ['*'], deny: ['g*'] }", false],
  ["{ allow: ['*'], deny: ['git__push'] }", true],
])("with %s somebody may use some tool of git__*: %s", async (everyone, isSo) => {
  expect(mayUseSome(createPolicy(await readPolicy(`everyone: ${everyone}`, "of the test")), "bob", "git__*")).toBe(
    isSo,
  );
});
