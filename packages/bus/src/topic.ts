const MAX_TOPIC_BYTES = 255;

/** Why no message can be published to `topic`; undefined if one can. */
export function topicFault(topic: string): RangeError | undefined {
  if (topic !== "" && Buffer.byteLength(topic) <= MAX_TOPIC_BYTES && !/[*#\0]/.test(topic)) return undefined;
  return new RangeError(
    `Cannot publish to ${JSON.stringify(topic.slice(0, 80))}: a topic is 1 to ${MAX_TOPIC_BYTES} bytes without "*" and "#"`,
  );
}

/** True if `pattern` takes in `topic`: `*` is exactly one word, `#` any number of words. */
export function matchesTopic(pattern: string, topic: string): boolean {
  if (pattern === topic || pattern === "#") return true;
  return matchesFrom(pattern.split("."), 0, topic.split("."), 0);
}

function matchesFrom(pattern: string[], p: number, topic: string[], t: number): boolean {
  for (; p < pattern.length; p++, t++) {
    const word = pattern[p];
    if (word === "#") {
      if (p === pattern.length - 1) return true;
      for (let rest = t; rest <= topic.length; rest++) if (matchesFrom(pattern, p + 1, topic, rest)) return true;
      return false;
    }
    if (t >= topic.length || (word !== "*" && word !== topic[t])) return false;
  }
  return t === topic.length;
}
