// Connects to the gateway, and calls a tool of a service through it. Ends with 0 if the tool has answered.
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

const { GATEWAY } = process.env;
const deadline = AbortSignal.timeout(90_000);
const token = (await readFile("/etc/rockbot/secrets/GATEWAY_TOKEN", "utf8")).trim();
const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
const wanted = {
  list_scheduled_tasks: {},
  execute_python_script: { script: "print(6 * 7)" },
  web_browse: { url: "https://example.com/" },
};

async function get(path) {
  for (;;) {
    const answer = await fetch(GATEWAY + path, { headers, signal: deadline }).catch((error) => error);
    if (answer instanceof Response && answer.status < 500) return answer;
    if (deadline.aborted) throw new Error(`Cannot reach ${GATEWAY}${path}`, { cause: answer });
    await setTimeout(1000);
  }
}

async function findTool() {
  for (;;) {
    const answer = await get("/v1/tools");
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Cannot list tools: status is ${answer.status}: ${text}`);
    const names = JSON.parse(text).tools.map(({ name }) => name);
    const tool = Object.keys(wanted).find((name) => names.includes(name));
    if (tool !== undefined) return tool;
    if (deadline.aborted) throw new Error(`Cannot call a tool: there are ${names.join(", ") || "none"}`);
    await setTimeout(1000);
  }
}

const tool = await findTool();
const answer = await fetch(`${GATEWAY}/v1/tools/${tool}/invoke`, {
  method: "POST",
  headers,
  body: JSON.stringify(wanted[tool]),
  signal: deadline,
});
console.log(`${tool}: status ${answer.status}: ${await answer.text()}`);
process.exitCode = answer.ok ? 0 : 1;
