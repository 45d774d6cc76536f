import "reflect-metadata";
import { Controller, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ClientProxyFactory, Ctx, MessagePattern, Payload, Transport } from "@nestjs/microservices";
import { firstValueFrom } from "rxjs";
import { PREFETCH } from "../contender.ts";

const optionsOf = (amqpUrl, options) => ({
  transport: Transport.RMQ,
  options: {
    urls: [amqpUrl],
    prefetchCount: PREFETCH,
    socketOptions: { connectionOptions: { noDelay: true } },
    ...options,
  },
});

/** @param acknowledge called with Nest's context of each message, if any */
export async function serveNest(amqpUrl, options, acknowledge) {
  class Echo {
    echo(payload, context) {
      acknowledge?.(context);
      return payload;
    }
  }
  class Bench {}
  // What decorators would do, which are not JavaScript yet.
  MessagePattern("echo")(Echo.prototype, "echo", Object.getOwnPropertyDescriptor(Echo.prototype, "echo"));
  Payload()(Echo.prototype, "echo", 0);
  Ctx()(Echo.prototype, "echo", 1);
  Controller()(Echo);
  Module({ controllers: [Echo] })(Bench);
  const app = await NestFactory.createMicroservice(Bench, { logger: false, ...optionsOf(amqpUrl, options) });
  await app.listen();
  return { [Symbol.asyncDispose]: () => app.close() };
}

export async function connectNest(amqpUrl, options) {
  const client = ClientProxyFactory.create(optionsOf(amqpUrl, options));
  await client.connect();
  return {
    call: (payload) => firstValueFrom(client.send("echo", payload)),
    [Symbol.asyncDispose]: async () => client.close(),
  };
}
