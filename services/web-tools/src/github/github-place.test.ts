import { expect, test } from "vitest";
import { githubPlace } from "./github-place.ts";

const issue = { kind: "issue", owner: "o", repo: "r.js", number: 7 };
const pull = { ...issue, kind: "pull" };
const revision = "0123456789".repeat(4);

test.each([
  ["https://github.com/o/r.js/issues/7", issue],
  ["http://www.github.com/o/r.js/issues/7/", issue],
  ["https://GitHub.com/o/r.js/Issues/7?x=1#issuecomment-1", issue],
  ["https://github.com//o/r.js/issues/7/anything/else", issue],
  ["https://github.com/o/r.js/pull/7", pull],
  ["https://github.com/o/r.js/pull/7/files#diff", pull],
  ["https://github.com/o/r.js/pull/7/commits/abc", pull],
  ["https://github.com/o/r.js", { kind: "readme", owner: "o", repo: "r.js" }],
  ["https://github.com/o/r.js.git/", { kind: "readme", owner: "o", repo: "r.js" }],
  [
    "https://github.com/o/r.js/blob/main/a%20b/c.ts#L3",
    { kind: "file", owner: "o", repo: "r.js", path: ["main", "a b", "c.ts"] },
  ],
  ["https://github.com/o/r.js/raw/main/c.ts", { kind: "file", owner: "o", repo: "r.js", path: ["main", "c.ts"] }],
  ["https://gist.github.com/o/0123456789abcdef0123", { kind: "gist", id: "0123456789abcdef0123" }],
  [
    "https://github.com/o/r.js/blob/feature%2Fx/c.ts",
    { kind: "file", owner: "o", repo: "r.js", path: ["feature", "x", "c.ts"] },
  ],
  ["https://gist.github.com/0123456789abcdef0123", { kind: "gist", id: "0123456789abcdef0123" }],
  [`https://gist.github.com/0123456789abcdef0123/${revision}`, { kind: "gist", id: "0123456789abcdef0123", revision }],
  [
    `https://gist.github.com/deadbeef/0123456789abcdef0123/${revision}#file-a`,
    { kind: "gist", id: "0123456789abcdef0123", revision },
  ],
])("%s names a place", (url, place) => {
  expect(githubPlace(url, "github.com")).toEqual(place);
});

test.each([
  "https://github.com/",
  "https://github.com/o",
  "https://github.com/o/r/issues",
  "https://github.com/o/r/issues/new",
  "https://github.com/o/r/issues/7x",
  "https://github.com/o/r/issues/0",
  "https://github.com/o/r/issues/99999999999",
  "https://github.com/o/r/pulls",
  "https://github.com/o/..%2f..%2fuser/issues/7",
  "https://github.com/o%2fx/r/issues/7",
  "https://github.com/o/r/blob/main/..%2f..%2fuser",
  "https://github.com/o/r/blob/main/%2e%2e/x%ff",
  "https://github.com/o/r/blob/main",
  "https://github.com.evil.test/o/r/issues/7",
  "https://evil.test/github.com/o/r/issues/7",
  "https://github.com:8443/o/r/issues/7",
  "https://user@github.com/o/r/issues/7",
  "ftp://github.com/o/r/issues/7",
  "https://api.github.com/repos/o/r/issues/7",
  "https://gist.github.com/discover",
  "https://gist.github.com/o/0123456789abcdef0123/forks",
  "https://gist.github.com/o/0123456789abcdef0123/raw/a.md",
  `https://gist.github.com/o/0123456789abcdef0123/${revision}/a.md`,
  "github.com/o/r/issues/7",
])("%s is a page like any other", (url) => {
  expect(githubPlace(url, "github.com")).toBeUndefined();
});
