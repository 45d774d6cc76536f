/**
 * The world around the agent's story, in a pod: its model on port 8490, and its page on port 8491. Each request of the
 * model writes a line: the tools called so far.
 */
import { connect, createServer } from "node:net";
import { startModelServer, startPageServer } from "@rockbot/testing";
import { calledTools, page, storyModel } from "../agent/story.ts";

const pages = await startPageServer({ "/warehouse": page });
const play = storyModel(process.env["PAGE_URL"] ?? "");
const model = await startModelServer(
  (request) => {
    console.log(JSON.stringify(calledTools(model.requests)));
    return typeof play === "function" ? play(request) : {};
  },
  { needsKey: false },
);

/** Both listen on 127.0.0.1 only. */
function open(outer: number, inner: number): void {
  createServer((socket) => {
    const inside = connect(inner, "127.0.0.1");
    socket.pipe(inside).pipe(socket);
    for (const end of [socket, inside]) end.on("error", () => end.destroy());
  }).listen(outer);
}
open(8490, Number(new URL(model.url).port));
open(8491, pages.port);
