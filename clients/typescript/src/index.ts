/** Client of the REST interface of pymem: `fetch` only, no dependencies. */

import { IDEMPOTENT, KEYED } from "./schema.js";
import type { Answers, Arguments, OpenApi, Problem, Tools } from "./schema.js";

export * from "./schema.js";

/** Names of tools. */
export type Tool = keyof Arguments;

/** Tools that keep an idempotency key. */
export type KeyedTool = (typeof KEYED)[number];

export interface ClientOptions {
  /** Address of the server, such as `https://memory.example.org`. */
  url: string | URL;
  /** A token of `pymem token create`, or a function that returns one. */
  token: string | (() => string | Promise<string>);
  /** Milliseconds that a call may take, its retries included; default: 60000. */
  timeout?: number;
  /** How often an idempotent call is tried again; default: 2. */
  retries?: number;
  /** Used instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Ends the call early; it then rejects with the reason of the signal. */
  signal?: AbortSignal;
  /** Milliseconds, instead of those of the client. */
  timeout?: number;
}

export interface KeyedCallOptions extends CallOptions {
  /** The same key with the same arguments stores nothing twice, so the call may be retried. */
  idempotencyKey?: string;
}

type OptionsOf<T extends Tool> = T extends KeyedTool ? KeyedCallOptions : CallOptions;

// Arguments may be left out where none is required.
type Parameters<T extends Tool> = {} extends Arguments[T]
  ? [args?: Arguments[T], options?: OptionsOf<T>]
  : [args: Arguments[T], options?: OptionsOf<T>];

/** Base class of the errors of this client. */
export class PymemError extends Error {
  override name = "PymemError";
}

/** The server could not be reached, or its answer ended early or is no JSON. */
export class ConnectionError extends PymemError {
  override name = "ConnectionError";
}

/** The call took longer than its timeout. Whether it took effect is unknown. */
export class TimeoutError extends PymemError {
  override name = "TimeoutError";
}

/** The server refused the call or failed. */
export class ProblemError extends PymemError {
  override name = "ProblemError";
  /** HTTP status. */
  readonly status: number;
  /** The document of the problem; undefined if a proxy or the overloaded server answered. */
  readonly problem: Problem | undefined;
  /** Seconds after which the same call may succeed. */
  readonly retryAfter: number | undefined;

  constructor(status: number, problem: Problem | undefined, retryAfter: number | undefined) {
    const hint = problem?.hint === undefined ? "" : ` (${problem.hint})`;
    super(`${problem?.detail ?? `the server answered ${status}`}${hint}`);
    this.status = status;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  /** Kind of the problem, such as `urn:pymem:problem:not-found`. */
  get type(): Problem["type"] | undefined {
    return this.problem?.type;
  }

  /** SQLSTATE, such as `PM001`. */
  get code(): string | undefined {
    return this.problem?.code;
  }

  /** What to do next. */
  get hint(): string | undefined {
    return this.problem?.hint;
  }
}

// Longer timers fire at once.
const LONGEST = 2 ** 31 - 1;
const RETRIED: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
const idempotent: ReadonlySet<string> = new Set(IDEMPOTENT);

interface Request {
  method: "GET" | "POST";
  path: string;
  body?: string;
  headers?: Record<string, string>;
  mayRepeat: boolean;
}

export class PymemClient {
  readonly #base: URL;
  readonly #token: ClientOptions["token"];
  readonly #timeout: number;
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: ClientOptions) {
    this.#base = new URL(options.url);
    if (!this.#base.pathname.endsWith("/")) this.#base.pathname += "/";
    this.#token = options.token;
    this.#timeout = options.timeout ?? 60_000;
    this.#retries = options.retries ?? 2;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  }

  /**
   * Call a tool and return its answer. It is tried again after a failure only if it is idempotent
   * by itself or has an idempotency key.
   *
   * @throws ProblemError, ConnectionError, TimeoutError, or the reason of the signal.
   */
  async call<T extends Tool>(tool: T, ...[args, options]: Parameters<T>): Promise<Answers[T]> {
    const { idempotencyKey, ...rest }: KeyedCallOptions = options ?? {};
    const answer = await this.#send(
      {
        method: "POST",
        path: `v1/tools/${encodeURIComponent(tool)}`,
        body: JSON.stringify(args ?? {}),
        headers: {
          "Content-Type": "application/json",
          ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
        },
        mayRepeat: idempotent.has(tool) || idempotencyKey !== undefined,
      },
      rest,
    );
    return answer as Answers[T];
  }

  /** Return the tools that the token may call. */
  async tools(options: CallOptions = {}): Promise<Tools> {
    return (await this.#send({ method: "GET", path: "v1/tools", mayRepeat: true }, options)) as Tools;
  }

  /** Return the OpenAPI document of the server. */
  async openapi(options: CallOptions = {}): Promise<OpenApi> {
    const request: Request = { method: "GET", path: "v1/openapi.json", mayRepeat: true };
    return (await this.#send(request, options)) as OpenApi;
  }

  async #send(request: Request, options: CallOptions): Promise<unknown> {
    const timeout = options.timeout ?? this.#timeout;
    const deadline = Date.now() + timeout;
    const controller = new AbortController();
    const { signal } = options;
    const abort = () => controller.abort(signal?.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort, { once: true });
    const late = new TimeoutError(`the call took longer than ${timeout} ms`);
    const timer = setTimeout(() => controller.abort(late), Math.min(timeout, LONGEST));
    try {
      for (let tried = 0; ; tried++) {
        try {
          return await this.#try(request, controller.signal);
        } catch (error) {
          controller.signal.throwIfAborted();
          const wait = waitBefore(tried, error);
          const isOver = tried >= this.#retries || Date.now() + (wait ?? 0) >= deadline;
          if (!request.mayRepeat || wait === undefined || isOver) throw error;
          await pause(wait, controller.signal);
        }
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  async #try(request: Request, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const token =
      typeof this.#token === "string" ? this.#token : await before(signal, this.#token());
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(new URL(request.path, this.#base), {
        method: request.method,
        headers: { Accept: "application/json", Authorization: `Bearer ${token}`, ...request.headers },
        ...(request.body === undefined ? {} : { body: request.body }),
        // Another server must not get the token.
        redirect: "error",
        credentials: "omit",
        signal,
      });
      text = await response.text();
    } catch (cause) {
      throw new ConnectionError("the server cannot be reached", { cause });
    }
    const answer = parsed(text);
    if (response.ok && answer !== undefined) return answer;
    if (response.ok) throw new ConnectionError("the answer is no JSON");
    const isProblem = response.headers.get("Content-Type")?.startsWith("application/problem+json");
    const seconds = Number.parseInt(response.headers.get("Retry-After") ?? "", 10);
    throw new ProblemError(
      response.status,
      isProblem ? (answer as Problem) : undefined,
      Number.isNaN(seconds) ? undefined : seconds,
    );
  }
}

/** Return the milliseconds to wait before the next try; undefined if it would fail again. */
function waitBefore(tried: number, error: unknown): number | undefined {
  if (error instanceof ProblemError) {
    if (!RETRIED.has(error.status)) return undefined;
    if (error.retryAfter !== undefined) return error.retryAfter * 1000;
  } else if (!(error instanceof ConnectionError)) {
    return undefined;
  }
  return 200 * 2 ** tried * (0.5 + Math.random());
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", end, { once: true });
  });
}

/** Return what the promise does, or reject with the reason of the signal if that comes first. */
function before<T>(signal: AbortSignal, promise: T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", end));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
