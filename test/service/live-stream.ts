/** A client of the live list. */
import { expect, onTestFinished } from 'vitest';
import { parseJson, type JsonObject } from '../../src/model/json.ts';
import { eventually, type Running } from './running.ts';

interface Live {
  /** Waits for the next event of that name. */
  next(event: string): Promise<JsonObject>;
  readonly seen: () => string;
  readonly ended: Promise<void>;
}

/** An open stream, which ends with the test. */
export async function live(service: Running, query = '', headers: { readonly [name: string]: string } = {}): Promise<Live> {
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const response = await fetch(`${service.console}/api/v1/runs/live${query}`, { headers, signal: gone.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  let text = '';
  let at = 0;
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const piece of response.body ?? []) text += decoder.decode(piece, { stream: true });
  })().catch(() => undefined);
  return {
    ended,
    seen: () => text,
    next: (event) =>
      eventually(() => {
        const blocks = text.split('\n\n').slice(0, -1);
        while (at < blocks.length) {
          const block = blocks[at++] ?? '';
          if (block.startsWith(`event: ${event}\n`)) return parseJson(block.slice(block.indexOf('data: ') + 6)) as JsonObject;
        }
        return undefined;
      }, `an event ${event}`),
  };
}
