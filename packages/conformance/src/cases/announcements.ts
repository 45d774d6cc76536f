import { pause } from "@rockbot/base";
import type { PeerMessage } from "@rockbot/bus-rabbitmq/peer";
import { messages, parseJson, type ToolAnnouncement, type ToolHeartbeat } from "@rockbot/contracts";
import { HEARTBEAT_MS, LEASE_MS, MAX_PAGE_BYTES } from "@rockbot/tools/limits";
import { must, NotTried } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS, type Examiner } from "../examiner.ts";

/** Time for what should not come after what should. */
const TAIL_MS = 100;
const WITH_HASH = "rb-rb-list-hash";

/** The list, as the service sends it to a caller that asks. It is kept, so that other cases know the tools. */
async function askForList(
  examiner: Examiner,
): Promise<readonly { readonly page: ToolAnnouncement; readonly message: PeerMessage }[]> {
  const { hearing, options } = examiner;
  const got: { readonly page: ToolAnnouncement; readonly message: PeerMessage }[] = [];
  hearing.listFault = undefined;
  const topic = examiner.topicFor((message) => {
    const page =
      message.properties["type"] === messages.ToolAnnouncement.type
        ? hearing.read("ToolAnnouncement", message)
        : undefined;
    if (page !== undefined) got.push({ page, message });
  });
  await examiner.probe(`tool.announce.list.${options.service}`, topic, { service: options.service });
  const isWhole = () => got[0] !== undefined && new Set(got.map(({ page }) => page.page)).size === got[0].page.pages;
  await examiner.until(() => isWhole() || hearing.listFault !== undefined, ANSWER_MS);
  if (isWhole()) hearing.tools = got.flatMap(({ page }) => page.tools);
  return got;
}

/** The tools that the service offers. This comes first, as these tools decide what can be tried. */
export const listCases: readonly Case[] = [
  {
    name: "the list is sent to who asks for it, in pages",
    clause: "list",
    async run(examiner) {
      const got = await askForList(examiner);
      const [first] = got;
      const { listFault } = examiner.hearing;
      must(listFault === undefined, `the list came, and cannot be used: ${listFault}`);
      must(
        first !== undefined,
        `the question for the list on "tool.announce.list.${examiner.options.service}" has no answer after ${ANSWER_MS} ms`,
      );
      const { pages, hash } = first.page;
      must(got.length === pages, `the list has ${pages} pages, of which ${got.length} came`);
      for (const { page, message } of got) {
        must(page.hash === hash && page.pages === pages, "the pages of the list differ in hash or number of pages");
        const header = message.properties.headers?.[WITH_HASH];
        must(
          header === page.hash,
          `a page with the hash ${page.hash} has the header ${WITH_HASH} ${JSON.stringify(header)}`,
        );
        must(message.body.byteLength <= MAX_PAGE_BYTES, `a page has ${message.body.byteLength} bytes`);
      }
      const heartbeat = examiner.hearing.heartbeats.at(-1)?.value;
      must(
        heartbeat === undefined || heartbeat.hash === hash,
        `heartbeats say the hash ${heartbeat?.hash}, the list says ${hash}`,
      );
    },
  },
  {
    name: "the announced tools are well defined, on the service's own topic",
    clause: "definition",
    async run({ hearing, options }) {
      must(hearing.listFault === undefined, `the list came, and cannot be used: ${hearing.listFault}`);
      if (hearing.tools.length === 0) throw new NotTried("no definition has come");
      for (const { name, topic, subscription, parametersSchema, outputSchema } of hearing.tools) {
        must(topic === options.topic, `"${name}" is announced on the topic "${topic}"; expected "${options.topic}"`);
        must(
          subscription === options.service,
          `"${name}" is announced with the subscription "${subscription}"; expected "${options.service}"`,
        );
        must(isObjectSchema(parametersSchema), `the parametersSchema of "${name}" is not JSON Schema of type object`);
        must(
          outputSchema == null || isObjectSchema(outputSchema),
          `the outputSchema of "${name}" is not JSON Schema of type object`,
        );
      }
    },
  },
];

/** Takes some seconds, in which others are tried. */
export const heartbeatCase: Case = {
  name: "each instance sends heartbeats",
  clause: "heartbeat",
  async run(examiner) {
    const { hearing, options } = examiner;
    const from = performance.now();
    const enough = () => hearing.heartbeats.filter(({ at }) => at >= from);
    await examiner.until(() => enough().length >= 3, 2 * LEASE_MS);
    const came = enough();
    must(
      came.length >= 3,
      `${came.length} heartbeats came on "tool.announce.${options.service}" in ${2 * LEASE_MS} ms; one is due every ${HEARTBEAT_MS} ms`,
    );
    const { instance } = (came[0] as (typeof came)[number]).value;
    const times = came.filter(({ value }) => value.instance === instance).map(({ at }) => at);
    const longest = Math.max(0, ...times.slice(1).map((at, i) => at - (times[i] as number)));
    must(
      longest <= LEASE_MS,
      `two heartbeats of the instance ${instance} were ${Math.round(longest)} ms apart; callers doubt it after ${LEASE_MS} ms`,
    );
  },
};

/** Cases on all that was heard: looked at in the end. */
export const identityCase: Case = {
  name: "what the service announces can be read",
  clause: "identity",
  async run({ hearing }) {
    must(hearing.faults.length === 0, hearing.faults.slice(0, 3).join("; "));
    const said = new Map<string, ToolHeartbeat>();
    for (const { value } of hearing.heartbeats) {
      const { epoch, hash } = said.get(value.instance) ?? value;
      must(epoch === value.epoch, `the instance ${value.instance} said the epoch ${epoch}, then ${value.epoch}`);
      must(
        hash === value.hash || hearing.pages.length > 0,
        `the instance ${value.instance} said the hash ${hash}, then ${value.hash}, and no change of its list`,
      );
      said.set(value.instance, value);
    }
  },
};

/** How the service says that it is there. */
export const announcementCases: readonly Case[] = [
  {
    name: "a probe is answered with one heartbeat, unless it is for others",
    clause: "probe",
    async run(examiner) {
      const { service } = examiner.options;
      const came: PeerMessage[] = [];
      const ofThis = (message: PeerMessage) => serviceIn(message) === service;
      const topic = examiner.topicFor((message) => ofThis(message) && came.push(message)); // all services of the broker answer
      let strays = 0;
      const others = examiner.topicFor((message) => ofThis(message) && strays++);
      await examiner.probe("tool.announce.probe", others, { service: `${service.slice(0, 30)}-other` });
      await examiner.probe("tool.announce.probe", topic, {});
      await examiner.until(() => came.length > 0, ANSWER_MS);
      const [first] = came;
      must(first !== undefined, `a probe with the reply-to "${topic}" has no answer after ${ANSWER_MS} ms`);
      const type = String(first.properties["type"]);
      must(
        type === messages.ToolHeartbeat.type,
        `a probe was answered with a message of the type ${type}; expected ${messages.ToolHeartbeat.type}`,
      );
      must(examiner.hearing.read("ToolHeartbeat", first) !== undefined, examiner.hearing.faults.at(-1) ?? "");
      await pause(TAIL_MS);
      must(strays === 0, "a probe that names another service was answered");
    },
  },
];

function isObjectSchema(text: string): boolean {
  const parsed = parseJson(text);
  return parsed.ok && (parsed.value as { readonly type?: unknown } | null)?.type === "object";
}

function serviceIn({ body }: PeerMessage): unknown {
  const parsed = parseJson(body.toString());
  return parsed.ok ? (parsed.value as { readonly service?: unknown } | null)?.service : undefined;
}
