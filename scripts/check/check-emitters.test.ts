import { expect, test } from "vitest";
import { unheardEmitters } from "./check-emitters.ts";

const unheard = (...lines: readonly string[]) => unheardEmitters(lines.join("\n"));

test("an emitter that is opened without a listener for its errors is found, by whatever name it is imported", () => {
  expect(unheard('import { Pool } from "pg";', "const pool = new Pool({});")).toEqual([2]);
  expect(unheard('import { createServer, request as ask } from "node:http";', "ask({});")).toEqual([2]);
  expect(unheard("const channel = await connection.createChannel();")).toEqual([1]);
  expect(
    unheard(
      'import { spawn } from "node:child_process";',
      "const child = spawn(command);",
      'child.once("error", reject);',
    ),
  ).toEqual([2]);
});

test("an emitter that is heard is none, nor one that is read by what hears it, nor what only has such a name", () => {
  expect(unheard('import { Pool } from "pg";', "const pool = new Pool({});", 'pool.on("error", () => {});')).toEqual(
    [],
  );
  expect(unheard("const channel = await connection.createChannel().then(listened);")).toEqual([]);
  expect(
    unheard(
      'import { createReadStream } from "node:fs";',
      "for await (const chunk of createReadStream(file)) take(chunk);",
    ),
  ).toEqual([]);
  expect(
    unheard('import { Pool } from "undici";', 'import { connect } from "./connect.ts";', "new Pool(url); connect();"),
  ).toEqual([]);
  expect(unheard('import type { Pool } from "pg";', "// a new Pool() of connections")).toEqual([]);
});
