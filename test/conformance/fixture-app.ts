import { InMemoryServerEventBus } from "@modelcontextprotocol/server";
import { type App, type AppDependencies, createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { createFixtureFactory } from "./fixtures.ts";

/**
 * Our whole HTTP app around the fixture registry, without sessions or a Python behind it. Web standards only, so that it can
 * be served by any runtime.
 */
export function createFixtureApp(options: Partial<AppDependencies> = {}): App {
  const bus = new InMemoryServerEventBus();
  return createApp({
    config: parseConfig({}),
    service: undefined as never, // Only our own MCP server asks for it, and that is replaced.
    settings: { structured: "full", echo: true, replyChars: 1000 },
    log: () => undefined,
    bind: "127.0.0.1",
    factory: createFixtureFactory(bus),
    bus,
    ...options,
  });
}
