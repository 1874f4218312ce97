/** Loads the demonstration into the service itself, as if an agent had sent it. */
import type { Clock } from '../model/clock.ts';
import { JuryError } from '../model/errors.ts';
import { tenant } from '../model/ids.ts';
import { writeTraces } from '../otlp/write/write.ts';
import type { TakeRequest } from '../receivers/read-request.ts';
import type { DemoLoaded } from '../web/api/route.ts';
import { demoDay, demoDefaults } from './demo-day.ts';

const spansPerRequest = 100;

/** The loader takes one day at a time. `refused`: the service is overloaded or stopping; a part of the day may be loaded. */
export function demoLoader({
  take,
  clock,
  randomBytes,
}: {
  readonly take: TakeRequest;
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
}): () => Promise<DemoLoaded | 'busy' | 'refused'> {
  let isLoading = false;

  async function load(): Promise<DemoLoaded> {
    const { spans, runs } = await demoDay({ ...demoDefaults, endUnixMs: clock.nowMs(), randomBytes });
    for (let at = 0; at < spans.length; at += spansPerRequest) {
      const body = writeTraces(spans.slice(at, at + spansPerRequest), 'protobuf');
      const request = { contentType: 'application/x-protobuf', contentEncoding: '', body, plain: body };
      await take({ ...request, signal: 'traces', encoding: 'protobuf', tenant: tenant('') }, async () => undefined);
    }
    return { spans: spans.length, runs };
  }

  return async () => {
    if (isLoading) return 'busy';
    isLoading = true;
    try {
      return await load();
    } catch (error) {
      if (error instanceof JuryError) return 'refused';
      throw error;
    } finally {
      isLoading = false;
    }
  };
}
