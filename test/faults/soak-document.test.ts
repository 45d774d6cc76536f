import { expect, test } from "vitest";
import { figuresText, readSoakDocument, soakDocument } from "./soak-document.ts";

test("the page of faults keeps its rows, each with the run that it is of", () => {
  const run = { broker: "RabbitMQ 4.0.5", command: "npm run measure -- soak --part 1", seed: 7, date: "2026-11-22" };
  const other = { ...run, broker: "RabbitMQ 3.10.8", seed: 8 };
  const figures = figuresText({ lost: 0, "call p50 ms": 190 });
  const rows = [
    { fault: "F01", done: "100 calls, 2 kills", figures, ...run },
    { fault: "F01", done: "100 calls", figures, ...other },
    { fault: "F08", done: "10 calls", figures: "lost 1", ...run },
  ];
  expect(readSoakDocument(soakDocument(rows))).toEqual(rows);
});
