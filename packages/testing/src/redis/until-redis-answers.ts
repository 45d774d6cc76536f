import { untilAnswers } from "../machine/servers/until-answers.ts";

/** Waits until the Redis on a port of 127.0.0.1 has loaded its data. */
export function untilRedisAnswers(port: number, password: string, explain: () => Promise<string>): Promise<void> {
  return untilAnswers(port, {
    name: "Redis",
    hello: `AUTH ${password}\r\nPING\r\n`,
    isReady: (answer) => answer.includes("+PONG"),
    explain,
  });
}
