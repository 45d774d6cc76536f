"""A RockBot tool service over RabbitMQ, written from its contract alone: asyncapi.yaml. In brackets: the contract's clauses."""
import hashlib, json, os, queue, random, re, secrets, signal, sys, threading, time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import jsonschema, pika
from pika.exceptions import AMQPError, UnroutableError

NAME, URL = os.environ.get("SERVICE", "python"), os.environ.get("BUS_URL", "amqp://guest:guest@127.0.0.1:5672/%2F")
MAIN, PARKED, BUS, DEAD_LETTERS = f"rockbot.{NAME}.v1", f"rockbot.{NAME}.v2.parked", "rockbot", "rockbot.dlx.v1"
REPLY_TOPIC = re.compile(r"(?:tool\.result|script\.result|mcp\.manage\.response)(?:\.[A-Za-z0-9_-]{1,64}){0,2}")
RETRYABLE, DELEGATES = {"timeout", "unavailable", "rate_limited", "overloaded"}, {"gateway", "operator", "agent", "scheduler"}
MIB, KEPT_SECONDS, MAX_SECONDS, DRAIN_SECONDS, AT_ONCE, REMEMBERED = 1024 * 1024, 900, 1200, 20, 16, 10_000
IDS = {"toolCallId": {"type": "string", "minLength": 1, "maxLength": 128}, "toolName": {"type": "string", "minLength": 1, "maxLength": 256}}
REQUEST = {"type": "object", "required": list(IDS), "properties": IDS | {"arguments": {"type": ["string", "null"]}}}
CANCEL = {"type": "object", "required": ["toolCallId"], "properties": IDS}

# `run` gets the arguments and the call, which has progress(text) and the event `stopped`.
Tool = namedtuple("Tool", "name description schema run read_only idempotent", defaults=(False, False))


class Failure(Exception):
    """What a call ends in instead of a result [errors]."""
    def __init__(self, code, message, **details):
        super().__init__(message)
        self.code, self.details = code, details


def queues():
    """Name, arguments, and keys at the exchange of dead letters; in the order of declaring them [queues]."""
    def quorum(limit, dies_to):
        return {"x-queue-type": "quorum", "x-delivery-limit": limit, "x-dead-letter-exchange": DEAD_LETTERS,
                "x-dead-letter-routing-key": dies_to, "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish"}
    yield PARKED, {"x-queue-type": "quorum", "x-delivery-limit": 2147483647, "x-message-ttl": 604800000, "x-max-length": 10000,
                   "x-max-length-bytes": 67108864, "x-overflow": "drop-head"}, [PARKED, f"{MAIN}.parked"]
    yield f"{MAIN}.dlq", quorum(10, f"{MAIN}.parked"), [f"{MAIN}.dlq"]
    for retry in (f"rockbot.{NAME}.v2.retry", f"{MAIN}.retry"):
        yield retry, quorum(1, f"{MAIN}.dlq"), [retry]
    yield MAIN, quorum(10, f"{MAIN}.retry"), []


def read(text, schema):
    """JSON that fits the schema; all faults at once [json, arguments]."""
    def unique(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("the same key twice in one object")
        return dict(pairs)
    try:
        value = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise Failure("invalid_arguments", f"Expected JSON: {error}") from None
    faults = [{"path": "".join(f"/{part}" for part in fault.absolute_path), "message": fault.message}
              for fault in jsonschema.Draft7Validator(schema).iter_errors(value)]
    if faults:
        raise Failure("invalid_arguments", "; ".join(f"{fault['path'][1:]} {fault['message']}".strip() for fault in faults), faults=faults)
    return value


def caller_of(properties):
    """The effective caller [sender]."""
    headers = properties.headers or {}
    sender, behalf = properties.user_id or str(headers.get("rb-source", "unknown")), headers.get("rb-rb-on-behalf-of")
    if behalf is not None and sender not in DELEGATES:
        raise Failure("denied", f'Cannot take the request: "{sender}" may not call on behalf of others')
    return behalf or sender


def ids_of(properties, body):
    """The call that a request names, also one that cannot be read [request-form]."""
    ids = {"toolCallId": (properties.correlation_id or properties.message_id or "unknown")[:128], "toolName": "unknown"}
    with suppress(Failure):
        ids |= {key: value for key, value in read(body[:MIB], {"type": "object"}).items() if key in ids and isinstance(value, str) and value}
    return ids


def reply_of(ids, outcome, told=0):
    """Type, body and headers of an answer [answer-message]."""
    kind, body = "ToolInvokeResponse", {"content": outcome, "isError": False}
    if not isinstance(outcome, Failure) and len(json.dumps(outcome)) > 8 * MIB - 1024:
        outcome = Failure("too_large", "The result is too large. Ask for less.", mayHaveRun=True)
    if isinstance(outcome, Failure):
        kind, body = "ToolError", {"code": outcome.code, "message": str(outcome), "isRetryable": outcome.code in RETRYABLE, "details": outcome.details}
    return f"RockBot.Tools.{kind}", ids | body, {"rb-rb-progress": str(told)} if told else {}


class Service:
    def __init__(self, *tools):
        self.tools, self.calls, self.cancelled = {tool.name: tool for tool in tools}, {}, {}  # both by caller and toolCallId
        self.finished, self.pool, self.stopping, self.beat_at = queue.Queue(), ThreadPoolExecutor(AT_ONCE), False, 0.0
        self.list = [{"name": tool.name, "description": tool.description, "parametersSchema": json.dumps(tool.schema), "subscription": NAME,
                      "topic": f"tool.invoke.{NAME}", "readOnly": tool.read_only, "idempotent": tool.idempotent} for tool in tools]
        list_hash = hashlib.sha256(json.dumps(self.list).encode()).hexdigest()[:16]
        self.identity = {"service": NAME, "instance": secrets.token_hex(6), "epoch": int(time.time() * 1000), "hash": list_hash}

    def run(self):
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: setattr(self, "stopping", True))
        while not self.stopping:  # [reconnect]
            try:
                with pika.BlockingConnection(pika.URLParameters(URL)) as self.connection:
                    self.open()
                    while not self.stopping and not self.lost:
                        self.step()
                    if self.stopping:
                        self.drain()
            except (AMQPError, OSError) as error:
                print(f"no connection: {error!r}", file=sys.stderr)
                time.sleep(random.uniform(0.2, 3))

    def open(self):
        self.lost, self.inbox, self.outbox = False, self.connection.channel(), self.connection.channel()
        self.outbox.confirm_delivery()
        for exchange in (BUS, DEAD_LETTERS):
            self.inbox.exchange_declare(exchange, "topic", durable=True)
        for name, arguments, keys in queues():
            self.inbox.queue_declare(name, durable=True, arguments=arguments)
            for key in keys:
                self.inbox.queue_bind(name, DEAD_LETTERS, key)
        copies = self.inbox.queue_declare("", exclusive=True, auto_delete=True, arguments={"x-queue-type": "classic"}).method.queue
        bindings = {f"tool.invoke.{NAME}": MAIN} | dict.fromkeys((f"tool.cancel.{NAME}", "tool.announce.probe", f"tool.announce.list.{NAME}"), copies)
        for topic, name in bindings.items():
            self.inbox.queue_bind(name, BUS, topic)
        self.inbox.add_on_cancel_callback(lambda _: setattr(self, "lost", True))
        self.inbox.basic_qos(prefetch_count=2 * AT_ONCE)
        self.inbox.basic_consume(copies, self.on_copy, auto_ack=True)
        for name, take in ((f"{MAIN}.dlq", self.on_dead_letter), (f"{MAIN}.retry", self.on_dead_letter), (MAIN, self.on_request)):
            self.inbox.basic_consume(name, take)

    def step(self):
        """A turn of the one thread that uses the connection."""
        self.connection.process_data_events(0.02)
        now = time.monotonic()
        while not self.finished.empty():
            self.end(*self.finished.get())
        for key, call in list(self.calls.items()):
            if call.reply is None and now >= call.deadline:  # [budget-runs-out]
                self.end(call, Failure("timeout", f'"{call.ids["toolName"]}" gave no result by its deadline.', mayHaveRun=call.started))
            elif call.reply is None and call.updates and now - call.told_at >= 0.2:
                self.tell(call)
            elif call.reply is not None and (now - call.ended_at > KEPT_SECONDS or len(self.calls) > REMEMBERED):
                del self.calls[key]
        if now - self.beat_at >= 1 and not self.stopping:
            self.beat_at = now
            self.heartbeat(f"tool.announce.{NAME}")

    def drain(self):
        """Takes no more, says so, and finishes what runs [stop]."""
        for tag in list(self.inbox.consumer_tags):
            self.inbox.basic_cancel(tag)
        self.heartbeat(f"tool.announce.{NAME}", leaving=True)
        until = time.monotonic() + DRAIN_SECONDS
        while any(call.reply is None for call in self.calls.values()) and time.monotonic() < until:
            self.step()
        for call in self.calls.values():
            call.stopped.set()

    def publish(self, topic, kind, body, exchange=BUS, headers=None, **properties):
        """Returns once the broker has confirmed. What no queue takes is dropped: its reader is gone [answer-publish]."""
        sent = {"content_type": "application/json", "delivery_mode": 2, "message_id": secrets.token_hex(16), "timestamp": int(time.time())} | properties
        described = pika.BasicProperties(type=kind, headers={"rb-source": NAME} | (headers or {}), **sent)
        with suppress(UnroutableError):
            self.outbox.basic_publish(exchange, topic, body if isinstance(body, bytes) else json.dumps(body).encode(), described, mandatory=True)

    def heartbeat(self, topic, leaving=False):
        self.publish(topic, "RockBot.Tools.ToolHeartbeat", self.identity | {"pages": 1, "isLeaving": leaving}, expiration="10000")

    def on_copy(self, channel, method, properties, body):
        """Cancels and probes [cancel-running, probe, list]."""
        topic, reply_to = method.routing_key, properties.reply_to or ""
        with suppress(Failure):  # of what cannot be read nobody waits for an answer
            if topic == f"tool.cancel.{NAME}":
                return self.cancel((caller_of(properties), read(body, CANCEL)["toolCallId"]))
            asked = read(body, {"type": "object"})
            if not REPLY_TOPIC.fullmatch(reply_to) or any(asked.get(key) not in (None, self.identity[key]) for key in ("service", "instance")):
                return
            if topic == "tool.announce.probe":
                return self.heartbeat(reply_to)
            page = self.identity | {"page": 0, "pages": 1, "tools": self.list, "guides": []}
            self.publish(reply_to, "RockBot.Tools.ToolAnnouncement", page, headers={"rb-rb-list-hash": self.identity["hash"]}, expiration="10000")

    def cancel(self, key):
        if key in self.calls:
            return self.end(self.calls[key], Failure("cancelled", "The call was cancelled by its caller.", mayHaveRun=self.calls[key].started))
        self.cancelled[key] = True  # it may overtake its call [cancel-before]
        if len(self.cancelled) > REMEMBERED:
            del self.cancelled[next(iter(self.cancelled))]

    def on_request(self, channel, method, properties, body):
        delivery = (channel, method.delivery_tag, properties)
        if not REPLY_TOPIC.fullmatch(properties.reply_to or "tool.result"):
            return self.park(delivery, method.routing_key, body, "rejected", "its reply-to is no topic for answers", properties.expiration)
        try:
            self.take(delivery, body, method.redelivered, time.monotonic())
        except Failure as failure:
            self.answer(delivery, reply_of(ids_of(properties, body), failure))

    def take(self, delivery, body, redelivered, received):
        properties, headers = delivery[2], delivery[2].headers or {}
        if len(body) > MIB or sum(len(key) + len(str(value)) for key, value in headers.items()) > 17 * 1024:
            raise Failure("too_large", f"The request has {len(body)} bytes; at most {MIB} are taken, and 16 KiB of headers")
        if (properties.type or "").lower() != "rockbot.tools.toolinvokerequest":
            raise Failure("invalid_arguments", "Expected a message of type RockBot.Tools.ToolInvokeRequest")
        request = read(body, REQUEST)
        name, text, key = request["toolName"], request.get("arguments") or "", (caller_of(properties), request["toolCallId"])
        tool, known = self.tools.get(name), self.calls.get(key)
        if tool is None:
            raise Failure("tool_not_found", f'"{NAME}" has no tool "{name[:80]}"; it has {", ".join(self.tools)}')
        arguments = read(text if text.strip() else "{}", tool.schema)
        if known is not None and known.request != (name, text):
            raise Failure("invalid_arguments", "The toolCallId is that of another call", reason="conflict")
        if known is not None:  # [join, kept-reply]
            return known.deliveries.append(delivery) if known.reply is None else self.answer(delivery, known.reply)
        if (redelivered or "x-rockbot-sent-before-ms" in headers) and not (tool.read_only or tool.idempotent):  # [outcome-unknown]
            raise Failure("outcome_unknown", f'"{name}" may have been started by a process that is gone: find out first.', mayHaveRun=True)
        if key in self.cancelled:
            raise Failure("cancelled", "The call was cancelled before it started.", mayHaveRun=False)
        asked = str(headers.get("rb-rb-timeout-ms"))  # [budget]
        deadline = received + min(int(asked if re.fullmatch(r"[1-9]\d{0,9}", asked) else properties.expiration or 60_000) / 1000, MAX_SECONDS)
        if deadline <= time.monotonic():
            raise Failure("timeout", f'"{name}" was not started: its time is over.', mayHaveRun=False)
        call = self.calls[key] = SimpleNamespace(
            ids={"toolCallId": key[1], "toolName": name}, request=(name, text), deliveries=[delivery], deadline=deadline, started=False,
            stopped=threading.Event(), reply=None, ended_at=0.0, updates=[], told=0, told_at=0.0, progress=lambda update: call.updates.append(update))
        self.pool.submit(self.work, tool, arguments, call)

    def work(self, tool, arguments, call):
        """In a thread of its own, which never touches the connection."""
        try:
            call.started = not call.stopped.is_set()
            self.finished.put((call, tool.run(arguments, call) if call.started else None))
        except Exception as error:  # whatever a tool throws
            self.finished.put((call, error if isinstance(error, Failure) else Failure("execution_failed", f'"{tool.name}" failed: {type(error).__name__}')))

    def tell(self, call):
        """The newest update, to who has asked for progress [progress-form]."""
        properties = call.deliveries[0][2]
        topic = re.fullmatch(r"(?:tool|script)\.result\.(.+)", properties.reply_to or "")
        update, call.updates, call.told_at = call.updates[-1], [], time.monotonic()
        if topic and "rb-rb-progress" in (properties.headers or {}):
            body = call.ids | {"sequence": call.told, "message": update[:1024]}
            call.told += 1
            self.publish(f"tool.progress.{topic[1]}", "RockBot.Tools.ToolProgress", body, correlation_id=call.ids["toolCallId"], expiration="5000")

    def end(self, call, outcome):
        if call.reply is not None:
            return  # cancelled, or out of time: it is answered already
        if call.updates:
            self.tell(call)
        call.stopped.set()
        call.reply, call.ended_at = reply_of(call.ids, outcome, call.told), time.monotonic()
        for delivery in call.deliveries:
            self.answer(delivery, call.reply)

    def answer(self, delivery, reply, acknowledge=True):
        """Publishes, waits for the confirm, then acknowledges [order]. A request of a lost connection comes again, and is answered then."""
        (channel, tag, properties), (kind, body, headers) = delivery, reply
        if channel is self.inbox:
            self.publish(properties.reply_to or "tool.result", kind, body, headers=headers, correlation_id=properties.correlation_id)
            if acknowledge:
                channel.basic_ack(tag)

    def on_dead_letter(self, channel, method, properties, body):
        """What the broker has given up: nobody took it in time, or processes died over it [dead-letters]."""
        death, delivery = ((properties.headers or {}).get("x-death") or [{}])[0], (channel, method.delivery_tag, properties)
        reason, why = ("expired", "nobody took it in time") if death.get("reason") == "expired" else ("crashed", "processes died over it")
        if reason == "crashed" and REPLY_TOPIC.fullmatch(properties.reply_to or "tool.result"):
            failure = Failure("execution_failed", f'"{NAME}" broke down over the request. Do not repeat it.', reason="crashed", mayHaveRun=True)
            self.answer(delivery, reply_of(ids_of(properties, body), failure), acknowledge=False)
        self.park(delivery, (death.get("routing-keys") or [method.routing_key])[0], body, reason, why, death.get("original-expiration"))

    def park(self, delivery, topic, body, reason, why, ttl):
        channel, tag, properties = delivery
        if len(body) <= MIB:
            notes = {"death-reason": reason, "death-message": why, "topic": topic, "queue": MAIN, "ttl-ms": ttl, "user": properties.user_id,
                     "died-at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
            headers = {name: value for name, value in (properties.headers or {}).items() if name.startswith("rb-") and isinstance(value, str)}
            self.publish(PARKED, properties.type, body, DEAD_LETTERS, headers | {f"x-rockbot-{name}": note for name, note in notes.items() if note},
                         correlation_id=properties.correlation_id, reply_to=properties.reply_to, message_id=properties.message_id or secrets.token_hex(16))
        channel.basic_ack(tag)
