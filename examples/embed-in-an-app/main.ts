import assert from "node:assert/strict";
import { startApp } from "./app.ts";

await using app = await startApp(new Map([["tea", 12]]));

const tea = await fetch(`${app.url}/stock/tea`);
assert.deepEqual([tea.status, await tea.json()], [200, { item: "tea", count: 12 }]);

const wrong = await fetch(`${app.url}/stock/42`);
const { code, message } = (await wrong.json()) as { readonly code: string; readonly message: string };
assert.deepEqual([wrong.status, code], [400, "invalid_arguments"]);
console.log(`12 tea; and for "42": ${message}`);
