import { silentLogger } from "@rockbot/bus";
import { expect, test } from "vitest";
import { connectRedisSharedSessions } from "./redis/index.ts";
import { SessionSharing } from "./session-sharing.ts";
import { Sessions } from "./sessions.ts";

test("while the store is away an endpoint answers the sessions that it knows, and says of others that it cannot look them up", async () => {
  await using shared = await connectRedisSharedSessions("redis://127.0.0.1:1", { connectTimeoutMs: 1 });
  using sessions = new Sessions();
  await using sharing = new SessionSharing(sessions, { shared, log: silentLogger });
  const session = sessions.open("alice");
  await sharing.note(session);

  expect(await sharing.find(session.id, "alice")).toBe(session);
  await expect(sharing.find("another", "alice")).rejects.toMatchObject({ code: "unavailable" });
  await expect(sharing.cancel(session, 1)).rejects.toMatchObject({ code: "unavailable" });
  await sharing.end(session);
  expect(sessions.size).toBe(0);
});
