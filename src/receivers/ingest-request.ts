/** Body → spans or records → the service, with everything counted. Gives what the answer has to tell about rejected ones. */
import type { Tenant } from '../model/ids.ts';
import type { KeyShapes } from '../otlp/read/key-shapes.ts';
import { logsInSteps, tracesInSteps, type OtlpEncoding, type Rejection } from '../otlp/read/read.ts';
import type { PartialSuccess } from '../otlp/write/responses.ts';
import type { MetricName } from '../telemetry/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { inTurns } from './cooperative-read.ts';
import type { Ingest, Received } from '../model/ingest.ts';

export interface Delivery {
  readonly ingest: Ingest;
  readonly telemetry: Telemetry;
  readonly tenant: Tenant;
  readonly body: Buffer;
  readonly encoding: OtlpEncoding;
  readonly request: Received;
  /** What earlier requests showed of attribute keys. */
  readonly shapes: KeyShapes;
  /** Nobody waits for the answer any more. */
  readonly isGone: () => boolean;
}

/** Both reject with `aborted` when the client goes away before its request was read. */
export async function takeTraces({
  ingest,
  telemetry,
  tenant,
  body,
  encoding,
  request,
  shapes,
  isGone,
}: Delivery): Promise<PartialSuccess | undefined> {
  const { spans, rejections } = await inTurns(tracesInSteps(body, encoding, undefined, shapes), isGone);
  if (spans.length === 0) telemetry.add('tracejury.receiver.empty', 1, { 'tracejury.signal': 'traces' });
  else await ingest.spans(tenant, spans, { ...request, plain: body, isWhole: rejections.length === 0 });
  return counted(telemetry, 'tracejury.receiver.spans', spans.length, rejections);
}

export async function takeLogs({
  ingest,
  telemetry,
  tenant,
  body,
  encoding,
  request,
  shapes,
  isGone,
}: Delivery): Promise<PartialSuccess | undefined> {
  const { records, ignored, rejections } = await inTurns(logsInSteps(body, encoding, undefined, shapes), isGone);
  if (records.length > 0 || (ignored > 0 && ingest.takesAllLogs?.() === true))
    await ingest.logs(tenant, records, { ...request, plain: body });
  else telemetry.add('tracejury.receiver.empty', 1, { 'tracejury.signal': 'logs' });
  if (ignored > 0)
    telemetry.add('tracejury.receiver.log_records', ignored, { 'tracejury.outcome': 'ignored', 'tracejury.reason': 'no_trace_id' });
  return counted(telemetry, 'tracejury.receiver.log_records', records.length, rejections);
}

function counted(telemetry: Telemetry, metric: MetricName, accepted: number, rejections: readonly Rejection[]): PartialSuccess | undefined {
  if (accepted > 0) telemetry.add(metric, accepted, { 'tracejury.outcome': 'accepted', 'tracejury.reason': '' });
  for (const { reason, count } of rejections) telemetry.add(metric, count, { 'tracejury.outcome': 'rejected', 'tracejury.reason': reason });
  const [first] = rejections;
  if (first === undefined) return undefined;
  const rejected = rejections.reduce((sum, { count }) => sum + count, 0);
  const reasons = rejections.map(({ reason, count }) => `${reason} (${count})`).join(', ');
  return { rejected, message: `${reasons}; first ${first.reason}: ${first.example}` };
}
