import { expect, test } from "vitest";
import { ServerIndex } from "./server-index.ts";

const server = (serverName: string, toolCount = 0) => ({ serverName, toolCount, toolNames: [] });
const namesOf = (index: ServerIndex): string[] => index.servers.map(({ serverName }) => serverName);

test("increments take away first, then put in place, whatever the case", () => {
  const index = new ServerIndex();
  index.apply({ servers: [server("a"), server("b")] });
  index.apply({ servers: [server("B", 7)], removedServers: ["A", "b"] });
  expect(namesOf(index)).toEqual(["B"]);
  expect(index.find("b")).toMatchObject({ toolCount: 7 });
});

test("a whole index replaces all; an older one changes nothing", () => {
  const index = new ServerIndex();
  index.apply({ servers: [server("gone")] });
  index.apply({ servers: [server("new")], isSnapshot: true, epoch: 2, sequence: 5 });
  index.apply({ servers: [server("older")], isSnapshot: true, epoch: 2, sequence: 4 });
  index.apply({ servers: [server("ancient")], isSnapshot: true, epoch: 1, sequence: 9 });
  expect(namesOf(index)).toEqual(["new"]);
});
