import { createAdaptorServer } from "@hono/node-server";
import type { Listen } from "./http.ts";

/** Node's HTTP server. */
export const listen: Listen = (app, hostname, port) => {
  const server = createAdaptorServer({ fetch: (request) => app.fetch(request) });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      const address = server.address();
      resolve({ port: typeof address === "object" && address ? address.port : port, stop: () => void server.close() });
    });
  });
};
