// Run by tests/test_typescript.py, which starts the server that PYMEM_URL names.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { randomUUID } from "node:crypto";
import test from "node:test";

import { ConnectionError, ProblemError, PymemClient, PymemError, TimeoutError } from "../dist/index.js";

const url = process.env.PYMEM_URL;
const token = process.env.PYMEM_TOKEN;
const memory = new PymemClient({ url, token });

/** A server that answers in turn, and what it was asked. */
async function answering(t, ...answers) {
  const asked = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      asked.push({ url: request.url, headers: request.headers, body });
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      if (answer === "drop") return request.socket.destroy();
      if (answer === "hang") return undefined;
      const [status, headers, text] = answer;
      return response.writeHead(status, headers).end(text);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${server.address().port}/below` };
}

const OK = [200, { "Content-Type": "application/json" }, "{}"];
const BUSY = [503, { "Content-Type": "text/plain", "Retry-After": "0" }, "Service Unavailable"];
const rule = { content: "Offer tea" };

test("stores and finds", async () => {
  const stored = await memory.call("memory_store_fact", {
    subject: "Ada",
    predicate: `drinks ${randomUUID()}`,
    content: "Grüner Tee ☕",
  });
  const got = await memory.call("memory_get", { memory_type: "fact", memory_id: stored.id });
  assert.equal(got.memory.content, "Grüner Tee ☕");
  const stats = await memory.call("memory_stats");
  assert.equal(typeof stats, "object");
});

test("lists the tools of the token and the document", async () => {
  const { tools, count } = await memory.tools();
  assert.equal(tools.length, count);
  assert.ok(tools.some(({ name, reads_only }) => name === "memory_search" && reads_only));
  assert.equal((await memory.openapi()).openapi, "3.1.0");
});

test("stores nothing twice with a key", async () => {
  const options = { idempotencyKey: randomUUID() };
  const first = await memory.call("memory_store_rule", rule, options);
  const again = await memory.call("memory_store_rule", rule, options);
  assert.equal(again.id, first.id);
  await assert.rejects(
    memory.call("memory_store_rule", { content: "Offer coffee" }, options),
    (error) => error.status === 409 && error.code === "PM004",
  );
});

test("tells what is wrong", async () => {
  await assert.rejects(memory.call("memory_search", { query: "tea", limit: 0 }), (error) => {
    assert.ok(error instanceof ProblemError);
    assert.ok(error instanceof PymemError);
    assert.equal(error.status, 422);
    assert.equal(error.type, "urn:pymem:problem:invalid-argument");
    assert.equal(error.code, "PM002");
    assert.match(error.hint, /^limit/);
    assert.match(error.message, /greater than or equal to 1/);
    return true;
  });
  const stranger = new PymemClient({ url, token: async () => "nonsense" });
  await assert.rejects(
    stranger.call("memory_search", { query: "tea" }),
    (error) => error.status === 401 && error.type === "urn:pymem:problem:unauthenticated",
  );
});

test("tries an idempotent call again, and says so to nobody else", async (t) => {
  const server = await answering(t, BUSY, "drop", OK);
  const client = new PymemClient({ url: server.url, token: "t" });
  await client.call("memory_search", { query: "tea" });
  assert.equal(server.asked.length, 3);
  assert.equal(server.asked[2].url, "/below/v1/tools/memory_search");
  assert.equal(server.asked[2].headers.authorization, "Bearer t");
  assert.equal(server.asked[2].body, '{"query":"tea"}');
});

test("tries a call with a key again, with the same key", async (t) => {
  const server = await answering(t, "drop", OK);
  const client = new PymemClient({ url: server.url, token: "t" });
  await client.call("memory_store_rule", rule, { idempotencyKey: "k" });
  assert.deepEqual(server.asked.map(({ headers }) => headers["idempotency-key"]), ["k", "k"]);
});

test("never tries another call again", async (t) => {
  for (const answer of [BUSY, "drop", [429, {}, ""]]) {
    const server = await answering(t, answer, OK);
    const client = new PymemClient({ url: server.url, token: "t" });
    await assert.rejects(client.call("memory_store_rule", rule), PymemError);
    assert.equal(server.asked.length, 1);
  }
});

test("does not try again what would fail again", async (t) => {
  for (const status of [400, 401, 403, 404, 409, 413, 422, 500]) {
    const server = await answering(t, [status, {}, "no problem document"], OK);
    const client = new PymemClient({ url: server.url, token: "t" });
    await assert.rejects(client.call("memory_search", { query: "tea" }), (error) => {
      assert.equal(error.status, status);
      assert.equal(error.problem, undefined);
      return true;
    });
    assert.equal(server.asked.length, 1);
  }
});

test("gives up after the retries, with the last error", async (t) => {
  const server = await answering(t, BUSY);
  const client = new PymemClient({ url: server.url, token: "t", retries: 1 });
  await assert.rejects(client.call("memory_search", { query: "tea" }), (error) => error.status === 503);
  assert.equal(server.asked.length, 2);
});

test("does not wait for longer than its time", async (t) => {
  const server = await answering(t, [503, { "Retry-After": "3600" }, ""], OK);
  const client = new PymemClient({ url: server.url, token: "t" });
  await assert.rejects(client.call("memory_search", { query: "tea" }), (error) => error.retryAfter === 3600);
  assert.equal(server.asked.length, 1);
});

test("ends after its timeout", async (t) => {
  const server = await answering(t, "hang");
  const client = new PymemClient({ url: server.url, token: "t", timeout: 50 });
  await assert.rejects(client.call("memory_search", { query: "tea" }), TimeoutError);
  await assert.rejects(client.call("memory_store_rule", rule, { timeout: 20 }), TimeoutError);
  const waiting = new PymemClient({ url: server.url, token: () => new Promise(() => {}), timeout: 50 });
  await assert.rejects(waiting.call("memory_search", { query: "tea" }), TimeoutError);
});

test("may take forever", async () => {
  const patient = new PymemClient({ url, token, timeout: Infinity });
  assert.ok((await patient.tools()).count > 0);
});

test("ends when its caller says so", async (t) => {
  const server = await answering(t, "hang");
  const client = new PymemClient({ url: server.url, token: "t" });
  const controller = new AbortController();
  const reason = new Error("enough");
  const call = client.call("memory_search", { query: "tea" }, { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 20);
  await assert.rejects(call, (error) => error === reason);
  const before = server.asked.length;
  await assert.rejects(
    client.call("memory_search", { query: "tea" }, { signal: controller.signal }),
    (error) => error === reason,
  );
  assert.equal(server.asked.length, before);
});

test("does not take its token to another server", async (t) => {
  const other = await answering(t, OK);
  const server = await answering(t, [307, { Location: `${other.url}/v1/tools` }, ""]);
  const client = new PymemClient({ url: server.url, token: "t", retries: 0 });
  await assert.rejects(client.tools(), ConnectionError);
  assert.equal(other.asked.length, 0);
});

test("tells an answer that is no JSON", async (t) => {
  const server = await answering(t, [200, {}, "<html>"]);
  const client = new PymemClient({ url: server.url, token: "t", retries: 0 });
  await assert.rejects(client.tools(), ConnectionError);
});
