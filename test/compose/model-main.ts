/** A model on port 8490 of every address of its container: it calls a tool once, and then says what came of it. */
import { connect, createServer } from "node:net";
import { startModelServer } from "@rockbot/testing";

const server = await startModelServer(
  ({ messages }) => {
    const results = messages.filter(({ role }) => role === "tool");
    return results.length > 0 ? { text: `The tool has said ${results[0]?.text.length} characters.` } : { toolCalls: [{ name: "system-info__disk_info" }] };
  },
  { needsKey: false },
);
const port = Number(new URL(server.url).port);
createServer((socket) => {
  const inside = connect(port, "127.0.0.1");
  socket.pipe(inside).pipe(socket);
  for (const end of [socket, inside]) end.on("error", () => end.destroy());
}).listen(8490);
