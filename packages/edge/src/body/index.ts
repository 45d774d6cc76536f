export { BodyTooLargeError, readBounded, readIncoming } from "./read-bounded.ts";
export { MessageReader, readIncomingMessage, readMessage, type TooLargeMessage } from "./read-message.ts";
