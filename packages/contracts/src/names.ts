/**
 * The grammar of every name that we create: agents, services, instances. Stricter than a topic word, so that no name
 * can reach another's topic.
 */
export const namePattern = /^[a-z0-9][a-z0-9-]{0,38}$/;

/** True if a text can be the name of an agent, an instance or a service. */
export const isName = (text: string): boolean => namePattern.test(text);

/** True if `text` can be the name of a caller that a peer brings: one word of a topic. */
export const isPeerName = (text: string): boolean => /^[A-Za-z0-9_-]{1,64}$/.test(text);

/** True if `text` may name a session: 1 to 256 visible ASCII characters, as a header can carry them. */
export const isSessionId = (text: string): boolean => /^[\x21-\x7e]{1,256}$/.test(text);

/** @throws {RangeError} if `text` is not a name that we may create */
export function checkName(what: string, text: string): string {
  if (isName(text)) return text;
  throw new RangeError(
    `Cannot use ${JSON.stringify(text.slice(0, 80))} as ${what}: expected 1 to 39 of a-z, 0-9 and "-", starting with a letter or digit`,
  );
}

/** An agent's processes that have names of their own are numbered from 0 to one less than this. */
export const MAX_INSTANCES = 64;

/** True if `text` is the number of one of an agent's instances: where senders are verified a broker knows no others. */
export const isInstanceNumber = (text: string): boolean =>
  /^(?:0|[1-9]\d?)$/.test(text) && Number(text) < MAX_INSTANCES;

/** Topics under which an answer may be asked for. */
export const replyRoots: readonly string[] = ["tool.result", "script.result", "mcp.manage.response"];
/** A reply root, alone or followed by one or two names as peers bring them, compared exactly. */
export const replyTopicPattern =
  /^(?:tool\.result|script\.result|mcp\.manage\.response)(?:\.[A-Za-z0-9_-]{1,64}){0,2}$/;

/** Topics under which a user may ask for what the agent says. No tool's answer goes there. */
export const userReplyRoots: readonly string[] = ["user.response", "user.history.response"];
const userReplyTopicPattern = /^(?:user\.response|user\.history\.response)(?:\.[A-Za-z0-9_-]{1,64}){0,2}$/;

/** True if an answer may be sent to `topic`. */
export const isReplyTopic = (topic: string): boolean => replyTopicPattern.test(topic);

/** True if the agent may reply to `topic`. */
export const isUserReplyTopic = (topic: string): boolean => userReplyTopicPattern.test(topic);

/**
 * True if answers to the user may be sent to `topic`: a reply root and the user's name, alone or with an instance's.
 */
export const isReplyTopicOf = (user: string, topic: string): boolean =>
  isReplyTopic(topic) && isBelow(replyRoots, user, topic);

/** The same of the agent's replies. */
export const isUserReplyTopicOf = (user: string, topic: string): boolean =>
  isUserReplyTopic(topic) && isBelow(userReplyRoots, user, topic);

const isBelow = (roots: readonly string[], user: string, topic: string): boolean =>
  roots.some((root) => topic === `${root}.${user}` || topic.startsWith(`${root}.${user}.`));
