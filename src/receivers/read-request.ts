/** Reads what a request carries and hands it to the service. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Ingest, Received } from '../model/ingest.ts';
import type { Tenant } from '../model/ids.ts';
import { keyShapes } from '../otlp/read/key-shapes.ts';
import { logsInSteps, tracesInSteps, type OtlpEncoding, type Rejection } from '../otlp/read/read.ts';
import type { OtlpSignal } from '../otlp/write/responses.ts';
import { runInTurns, type Steps } from '../runtime/cooperative.ts';

export interface SentRequest extends Received {
  readonly signal: OtlpSignal;
  readonly encoding: OtlpEncoding;
  readonly tenant: Tenant;
  /** Inflated. */
  readonly plain: Buffer;
}

export interface TakenRequest {
  /** Spans or log records that the service accepted. */
  readonly items: number;
  /** Log records that belong to no trace. */
  readonly ignored: number;
  readonly rejections: readonly Rejection[];
  /** True when the request holds nothing for the service. */
  readonly isEmpty: boolean;
}

/** `proceed` rejects when the client no longer waits for the answer. */
export type TakeRequest = (request: SentRequest, proceed: () => Promise<void>) => Promise<TakenRequest>;

/** Rejects with JuryError, or as `proceed` does. */
export function requestReader(ingest: Ingest): TakeRequest {
  const shapes = keyShapes();
  return async ({ signal, encoding, tenant, ...request }, proceed) => {
    if (signal === 'traces') {
      const { spans, rejections } = await whileThere(tracesInSteps(request.plain, encoding, undefined, shapes), proceed);
      if (spans.length > 0) await ingest.spans(tenant, spans, { ...request, isWhole: rejections.length === 0 });
      return { items: spans.length, ignored: 0, rejections, isEmpty: spans.length === 0 };
    }
    // Traces hold log records until they end. There are few.
    request.plainMemory?.keep();
    const { records, ignored, rejections } = await whileThere(logsInSteps(request.plain, encoding, undefined, shapes), proceed);
    const isEmpty = records.length === 0 && (ignored === 0 || ingest.takesAllLogs?.() !== true);
    if (!isEmpty) await ingest.logs(tenant, records, request);
    return { items: records.length, ignored, rejections, isEmpty };
  };
}

/** Reads a request between other work: a large one does not keep the small ones waiting. No lease holds what a client that is gone has sent. */
async function whileThere<Result>(steps: Steps<Result>, proceed: () => Promise<void>): Promise<Result> {
  await proceed();
  return await runInTurns(steps, async () => {
    await turn();
    await proceed();
  });
}
