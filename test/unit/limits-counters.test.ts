import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LineLimit } from "../../src/limits/line-limit.ts";
import { addUsage, MinuteMeter, secondsToReset, usedToday } from "../../src/limits/quota.ts";
import { RateLimiter, tooManyRequests } from "../../src/limits/rate-limit.ts";
import { Slots } from "../../src/limits/slots.ts";
import { Turns } from "../../src/limits/turns.ts";

const NOON = Date.UTC(2027, 0, 1, 12);

describe("requests per minute", () => {
  const limiter = (perMinute: number, burst?: number) => {
    const clock = { now: NOON };
    const options = { perMinute, now: () => clock.now, ...(burst === undefined ? {} : { burst }) };
    return { clock, limit: new RateLimiter(options) };
  };
  const takeAll = (limit: RateLimiter, owner: string, tries: number): number => {
    let taken = 0;
    for (let i = 0; i < tries; i++) if (limit.take(owner) === 0) taken++;
    return taken;
  };

  for (const perMinute of [1, 7, 60, 600, 1000]) {
    it(`lets exactly ${perMinute} through at once, then one at a time`, () => {
      const { limit, clock } = limiter(perMinute);
      assert.equal(takeAll(limit, "a", perMinute * 3), perMinute);
      clock.now += 60_000 / perMinute;
      assert.equal(takeAll(limit, "a", 3), 1);
      clock.now += 3_600_000;
      assert.equal(takeAll(limit, "a", perMinute * 3), perMinute);
    });
  }

  it("says how long to wait, and that is long enough", () => {
    const { limit, clock } = limiter(60);
    takeAll(limit, "a", 60);
    const wait = limit.take("a");
    assert.ok(wait > 0 && wait <= 1);
    clock.now += wait * 1000;
    assert.equal(limit.take("a"), 0);
  });

  it("does not punish those who keep trying", () => {
    const { limit, clock } = limiter(60);
    takeAll(limit, "a", 10_000);
    clock.now += 1000;
    assert.equal(limit.take("a"), 0);
  });

  it("of one owner is no matter to another", () => {
    const { limit } = limiter(60);
    takeAll(limit, "a", 10_000);
    assert.equal(takeAll(limit, "b", 60), 60);
  });

  it("may come in smaller bursts", () => {
    const { limit } = limiter(60, 5);
    assert.equal(takeAll(limit, "a", 60), 5);
  });

  it("remembers a bounded number of owners, those who were last there", () => {
    const limit = new RateLimiter({ perMinute: 1, now: () => NOON, maxOwners: 100 });
    for (let i = 0; i < 1000; i++) limit.take(`o${i}`);
    assert.equal(limit.size, 100);
    assert.ok(limit.take("o999") > 0);
  });

  it("survives a clock that jumps back", () => {
    const { limit, clock } = limiter(60);
    takeAll(limit, "a", 30);
    clock.now -= 3_600_000;
    assert.ok(limit.take("a") > 0);
    assert.equal(limit.take("b"), 0);
  });

  it("are told by 429 with Retry-After in whole seconds", async () => {
    const answer = tooManyRequests(0.2, 60);
    assert.equal(answer.status, 429);
    assert.equal(answer.headers.get("retry-after"), "1");
    assert.match(await answer.text(), /More than 60 requests per minute; try again in 1 s/);
  });

  it("cannot be none", () => {
    for (const perMinute of [0, -1, Number.NaN]) assert.throws(() => new RateLimiter({ perMinute }), RangeError);
  });
});

describe("a day's usage", () => {
  it("adds up until midnight in UTC", () => {
    let usage = addUsage(undefined, 2, NOON);
    usage = addUsage(usage, 3, NOON + 1);
    assert.equal(usedToday(usage, NOON), 5);
    assert.equal(usedToday(usage, NOON + 43_200_000), 0);
    assert.equal(secondsToReset(NOON), 43_200);
  });
});

describe("sandbox minutes", () => {
  const meter = (minutesPerDay = 10) => {
    const clock = { now: NOON };
    return { clock, meter: new MinuteMeter({ minutesPerDay, now: () => clock.now }) };
  };

  it("count the living and the gone, together", () => {
    const { meter: minutes, clock } = meter();
    minutes.begin("a", "one");
    minutes.begin("a", "two");
    clock.now += 60_000;
    minutes.end("a", "one");
    clock.now += 60_000;
    assert.equal(minutes.used("a"), 3);
    assert.equal(minutes.used("b"), 0);
    minutes.begin("a", "two");
    minutes.end("a", "two");
    minutes.end("a", "two");
    assert.equal(minutes.used("a"), 3);
  });

  it("are up when the day's are used, until midnight", () => {
    const { meter: minutes, clock } = meter();
    minutes.begin("a", "one");
    clock.now += 599_999;
    assert.equal(minutes.exceeded("a"), 0);
    clock.now += 1;
    assert.equal(minutes.exceeded("a"), 43_200 - 600);
    assert.equal(minutes.exceeded("b"), 0);
    clock.now = Date.UTC(2027, 0, 2);
    assert.equal(minutes.exceeded("a"), 0);
    clock.now += 60_000;
    assert.equal(minutes.used("a"), 1, "of the sandbox that lives on, only today's part");
  });

  it("survive a restart through the store", () => {
    const { meter: before, clock } = meter();
    before.begin("a", "one");
    clock.now += 120_000;
    const stored = JSON.parse(JSON.stringify(before.usage("a")));
    const after = new MinuteMeter({ minutesPerDay: 10, now: () => clock.now });
    after.restore("a", stored);
    after.begin("a", "one");
    clock.now += 60_000;
    assert.equal(after.used("a"), 3);
    after.restore("a", { day: stored.day, used: 0 });
    assert.equal(after.used("a"), 3, "what was counted here is not overwritten");
  });

  it("of owners who left do not stay in memory", () => {
    const { meter: minutes, clock } = meter();
    minutes.begin("stays", "x");
    for (let i = 0; i < 1000; i++) {
      minutes.begin(`o${i}`, "x");
      minutes.end(`o${i}`, "x");
      if (i % 10 === 0) clock.now += 86_400_000;
    }
    assert.ok(minutes.size < 50, `${minutes.size} owners`);
    assert.ok(minutes.used("stays") > 0);
  });
});

describe("slots", () => {
  it("are bounded per owner and in all, and come back once", () => {
    const slots = new Slots({ perOwner: 2, total: 3 });
    const [one, two] = [slots.acquire("a"), slots.acquire("a")];
    assert.deepEqual(slots.acquire("a"), { ok: false, full: "owner" });
    assert.equal(slots.acquire("b").ok, true);
    assert.deepEqual(slots.acquire("b"), { ok: false, full: "total" });
    assert.ok(one.ok && two.ok);
    one.release();
    one.release();
    assert.equal(slots.held("a"), 1);
    assert.equal(slots.total, 2);
    assert.equal(slots.acquire("c").ok, true);
  });
});

describe("turns", () => {
  it("let an owner begin one task per turn of the event loop, in order, and another at once", async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const begin = async (owner: string, task: string): Promise<void> => {
      await turns.take(owner);
      begun.push(task);
    };
    const flood = Array.from({ length: 50 }, (_, n) => begin("loud", `loud ${n}`));
    await new Promise((resolve) => setTimeout(resolve, 0));
    await begin("quiet", "quiet");
    assert.ok(begun.indexOf("quiet") < 5, begun.join(", "));
    await Promise.all(flood);
    const order = begun.filter((task) => task !== "quiet").map((task) => Number(task.slice("loud ".length)));
    assert.deepEqual(
      order,
      order.map((_, n) => n),
    );
  });

  it("keep nobody waiting who makes one request after the other, and remember nobody who left", async () => {
    const turns = new Turns();
    assert.equal(turns.take("a"), undefined);
    assert.ok(turns.take("a") instanceof Promise);
    assert.equal(turns.size, 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(turns.size, 0);
    assert.equal(turns.take("a"), undefined);
  });
});

describe("lines of the log", () => {
  it("come once in an interval for each key, with the number of those left out", () => {
    const clock = { now: NOON };
    const lines = new LineLimit(1000, () => clock.now);
    assert.deepEqual(
      [lines.take("a"), lines.take("a"), lines.take("a"), lines.take("b")],
      [0, undefined, undefined, 0],
    );
    clock.now += 1000;
    assert.deepEqual([lines.take("a"), lines.take("a"), lines.take("b")], [2, undefined, 0]);
  });

  it("are thinned out with a bounded memory", () => {
    const lines = new LineLimit(1000, () => NOON);
    for (let key = 0; key < 1001; key += 1) assert.equal(lines.take(String(key)), 0);
    assert.equal(lines.take("1000"), undefined);
    assert.equal(lines.take("0"), 0, "the oldest is forgotten");
  });
});
