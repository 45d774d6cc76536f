/**
 * The frames of AMQP 0-9-1 that each message needs, written into a buffer at an offset. Each function returns the
 * offset behind the bytes that it has written. The caller of one has seen to the room: `headRoom`, ACK_BYTES or
 * FRAME_OVERHEAD.
 * @see https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf sections 2.3.5 and 4.2
 */

/** A message for the broker. Texts have 255 bytes at most, but for the values of headers. */
export interface OutgoingMessage {
  readonly exchange: string;
  readonly routingKey: string;
  /** True to return it if no queue takes it. */
  readonly mandatory: boolean;
  /** How long queues keep it. */
  readonly expirationMs: number | undefined;
  readonly properties: MessageProperties;
  readonly body: Uint8Array;
}

export interface MessageProperties {
  readonly contentType?: string | undefined;
  readonly contentEncoding?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly deliveryMode: number;
  readonly correlationId?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly messageId?: string | undefined;
  /** Unix time in whole seconds. */
  readonly timestamp?: number | undefined;
  readonly type?: string | undefined;
  readonly userId?: string | undefined;
}

/** The bytes around the payload of each frame: type, channel and size before it, and a mark behind it. */
export const FRAME_OVERHEAD = 8;
export const ACK_BYTES = FRAME_OVERHEAD + 13;
const FRAME_HEADER_BYTES = 7;
const FRAME_END = 0xce;

const FrameType = { Method: 1, Header: 2, Body: 3 } as const;
const BASIC = 60;
const BasicMethod = { Publish: 40, Ack: 80, Nack: 120 } as const;

/**
 * Bytes that suffice for the first two frames of any message: no character of a string takes more than three in UTF-8.
 */
export function headRoom({ exchange, routingKey, properties }: OutgoingMessage): number {
  const { contentType, contentEncoding, headers, correlationId, replyTo, messageId, type, userId } = properties;
  let characters =
    exchange.length + routingKey.length + lengthOf(contentType) + lengthOf(contentEncoding) + lengthOf(correlationId);
  characters += lengthOf(replyTo) + lengthOf(messageId) + lengthOf(type) + lengthOf(userId);
  let entries = 0;
  for (const key in headers) {
    characters += key.length + (headers[key] as string).length;
    entries++;
  }
  return HEAD_FIXED_BYTES + 6 * entries + 3 * characters;
}

/** More than two frames without their texts and headers have. */
const HEAD_FIXED_BYTES = 128;

const lengthOf = (text: string | undefined): number => (text === undefined ? 0 : text.length);

/** Writes `basic.publish` and the message's properties. @throws {RangeError} if a property cannot be carried */
export function writeHead(target: Buffer, start: number, channel: number, message: OutgoingMessage): number {
  const at = writePublish(target, start, channel, message);
  return writeProperties(target, at, channel, message);
}

function writePublish(
  target: Buffer,
  start: number,
  channel: number,
  { exchange, routingKey, mandatory }: OutgoingMessage,
): number {
  let at = writeMethod(target, start, channel, BasicMethod.Publish);
  at = writeUint16(target, at, 0); // a field that is reserved
  at = writeShortText(target, at, "exchange", exchange);
  at = writeShortText(target, at, "routing key", routingKey);
  target[at++] = mandatory ? 1 : 0;
  return endFrame(target, start, at);
}

/** In the order of the specification; a bit in the flags says of each whether it is there. */
function writeProperties(
  target: Buffer,
  start: number,
  channel: number,
  { properties, expirationMs, body }: OutgoingMessage,
): number {
  const {
    contentType,
    contentEncoding,
    headers,
    deliveryMode,
    correlationId,
    replyTo,
    messageId,
    timestamp,
    type,
    userId,
  } = properties;
  let at = startFrame(target, start, FrameType.Header, channel);
  at = writeUint16(target, at, BASIC);
  at = writeUint16(target, at, 0); // a weight that nobody has
  at = writeUint64(target, at, body.byteLength);
  const flagsAt = at;
  let flags = 0x2000 | 0x1000; // headers, delivery mode
  at += 2;
  if (contentType !== undefined) {
    flags |= 0x8000;
    at = writeShortText(target, at, "content type", contentType);
  }
  if (contentEncoding !== undefined) {
    flags |= 0x4000;
    at = writeShortText(target, at, "content encoding", contentEncoding);
  }
  at = writeHeaders(target, at, headers);
  target[at++] = deliveryMode;
  if (correlationId !== undefined) {
    flags |= 0x0400;
    at = writeShortText(target, at, "correlation id", correlationId);
  }
  if (replyTo !== undefined) {
    flags |= 0x0200;
    at = writeShortText(target, at, "reply topic", replyTo);
  }
  if (expirationMs !== undefined) {
    flags |= 0x0100;
    at = writeShortText(target, at, "expiration", String(expirationMs));
  }
  if (messageId !== undefined) {
    flags |= 0x0080;
    at = writeShortText(target, at, "message id", messageId);
  }
  if (timestamp !== undefined) {
    if (!Number.isSafeInteger(timestamp) || timestamp < 0)
      throw new RangeError(`Cannot publish: the timestamp is ${timestamp}, not a whole number of seconds`);
    flags |= 0x0040;
    at = writeUint64(target, at, timestamp);
  }
  if (type !== undefined) {
    flags |= 0x0020;
    at = writeShortText(target, at, "type", type);
  }
  if (userId !== undefined) {
    flags |= 0x0010;
    at = writeShortText(target, at, "user id", userId);
  }
  writeUint16(target, flagsAt, flags);
  return endFrame(target, start, at);
}

function writeHeaders(target: Buffer, start: number, headers: Readonly<Record<string, string>>): number {
  let at = start + 4;
  for (const key in headers) {
    at = writeShortText(target, at, "name of a header", key);
    target[at] = 0x53; // "S": long text
    const end = writeText(target, at + 5, headers[key] as string);
    writeUint32(target, at + 1, end - at - 5);
    at = end;
  }
  writeUint32(target, start, at - start - 4);
  return at;
}

/** Writes what comes before `size` bytes of a body; `endBodyFrame` comes behind them. */
export function startBodyFrame(target: Buffer, start: number, channel: number, size: number): number {
  const at = startFrame(target, start, FrameType.Body, channel);
  writeUint32(target, at - 4, size);
  return at;
}

export function endBodyFrame(target: Buffer, at: number): number {
  target[at] = FRAME_END;
  return at + 1;
}

export function writeAck(target: Buffer, start: number, channel: number, tag: number, isMultiple: boolean): number {
  const at = writeMethod(target, start, channel, BasicMethod.Ack);
  return writeVerdict(target, start, at, tag, isMultiple ? 1 : 0);
}

export function writeNack(target: Buffer, start: number, channel: number, tag: number, isRequeued: boolean): number {
  const at = writeMethod(target, start, channel, BasicMethod.Nack);
  return writeVerdict(target, start, at, tag, isRequeued ? 2 : 0);
}

function writeVerdict(target: Buffer, start: number, at: number, tag: number, bits: number): number {
  const end = writeUint64(target, at, tag);
  target[end] = bits;
  return endFrame(target, start, end + 1);
}

function writeMethod(target: Buffer, start: number, channel: number, method: number): number {
  const at = startFrame(target, start, FrameType.Method, channel);
  return writeUint16(target, writeUint16(target, at, BASIC), method);
}

function startFrame(target: Buffer, start: number, type: number, channel: number): number {
  target[start] = type;
  writeUint16(target, start + 1, channel);
  return start + FRAME_HEADER_BYTES;
}

/** Writes the size of the frame that began at `start`, and its end. */
function endFrame(target: Buffer, start: number, at: number): number {
  writeUint32(target, start + 3, at - start - FRAME_HEADER_BYTES);
  target[at] = FRAME_END;
  return at + 1;
}

function writeShortText(target: Buffer, start: number, what: string, text: string): number {
  const at = writeText(target, start + 1, text);
  const bytes = at - start - 1;
  if (bytes > 255) throw new RangeError(`Cannot publish: the ${what} has ${bytes} bytes, at most 255 are carried`);
  target[start] = bytes;
  return at;
}

/** Byte by byte while it is short and ASCII, as names and ids are: a call into Buffer costs more than that. */
function writeText(target: Buffer, start: number, text: string): number {
  const { length } = text;
  if (length > 64) return start + target.write(text, start);
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code > 0x7f) return start + target.write(text, start);
    target[start + index] = code;
  }
  return start + length;
}

function writeUint16(target: Buffer, at: number, value: number): number {
  target[at] = value >>> 8;
  target[at + 1] = value;
  return at + 2;
}

function writeUint32(target: Buffer, at: number, value: number): number {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
  return at + 4;
}

function writeUint64(target: Buffer, at: number, value: number): number {
  return writeUint32(target, writeUint32(target, at, Math.floor(value / 2 ** 32)), value >>> 0);
}
