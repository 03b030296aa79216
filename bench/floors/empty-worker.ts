import { Hono } from "hono";

/** A Worker that does nothing. */
const app = new Hono();
app.get("/", ({ text }) => text("nothing"));

export default app;
