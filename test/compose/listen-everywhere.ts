import { connect, createServer } from "node:net";

/** Hands connections to port 8490 of every address of this container on to a server that listens on loopback. */
export function listenEverywhere(url: string): void {
  const port = Number(new URL(url).port);
  createServer((socket) => {
    const inside = connect(port, "127.0.0.1");
    socket.pipe(inside).pipe(socket);
    for (const end of [socket, inside]) end.on("error", () => end.destroy());
  }).listen(8490);
}
