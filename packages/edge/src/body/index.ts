export { BodyTooLargeError, readBounded, readIncoming } from "./read-bounded.ts";
export { MessageReader, readMessage, type TooLargeMessage } from "./read-message.ts";
