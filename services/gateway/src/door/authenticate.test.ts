import { createPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { createAuthenticator } from "./authenticate.ts";

const REGISTERS = 'allow: ["*", mcp_register_server]';

test.each([
  ["nobody may register servers", 'delegates: [agent]\neveryone: { allow: ["*"] }', true],
  ["its agent is a delegate", `delegates: [agent, front]\neveryone: { ${REGISTERS} }`, true],
  ["everyone may", `delegates: [agent]\neveryone: { ${REGISTERS} }`, false],
  ["its agent may", `delegates: [agent]\ncallers: { front: { ${REGISTERS} } }`, false],
  ["only delegates of another name may not", `everyone: { ${REGISTERS} }`, false],
] as const)(
  "without tokens a gateway takes requests only if its agent may own no servers, where %s",
  async (_, yaml, isTaken) => {
    const policy = createPolicy(await readPolicy(yaml, "of the test"));
    for (const [token, shown] of [
      [undefined, undefined],
      [() => "a-token-of-all", "Bearer a-token-of-all"],
    ] as const) {
      const authenticate = createAuthenticator({
        self: "front",
        token,
        policy: { current: () => policy },
        isOpen: true,
      });
      if (isTaken) expect(authenticate(shown)).toBeUndefined();
      else
        expect(() => authenticate(shown)).toThrow(
          /everybody who asks here is "front"\. The operator gives each caller a token .* under delegates/,
        );
    }
  },
);
