/** Metrics of the service itself as an ExportMetricsServiceRequest. */
import { unixNano } from '../../model/clock.ts';
import type { JsonObject } from '../../model/json.ts';
import { writeAttributes } from './attributes.ts';
import { scopeName } from './outgoing-items.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';

type Labels = { readonly [label: string]: string };

/** The part of a metric of the registry that goes on the wire. */
interface MetricFamily {
  readonly name: string;
  readonly row: {
    readonly kind: 'counter' | 'gauge' | 'histogram';
    readonly meaning: string;
    readonly unit: string;
    readonly buckets?: readonly number[];
  };
  readonly points: readonly (NumberPoint | HistogramPoint)[];
}

interface NumberPoint {
  readonly kind: 'number';
  readonly labels: Labels;
  readonly value: number;
}

interface HistogramPoint {
  readonly kind: 'histogram';
  readonly labels: Labels;
  readonly counts: readonly number[];
  readonly sum: number;
  readonly exemplars: readonly (Exemplar | undefined)[];
}

interface Exemplar {
  readonly labels: Labels;
  readonly value: number;
  readonly atMs?: number | undefined;
}

interface MetricsRequest {
  readonly resource: JsonObject;
  readonly families: readonly MetricFamily[];
  readonly temporality: 'cumulative' | 'delta';
  /** Epoch milliseconds since which counters and histograms count. */
  readonly sinceMs: number;
  readonly nowMs: number;
  /** Exemplars seen before this have been sent. */
  readonly exemplarsSinceMs: number;
}

const temporalities = { delta: 1, cumulative: 2 } as const;
/** Labels of an exemplar that OTLP has fields for. */
const traceIdLabel = 'trace_id';
const spanIdLabel = 'span_id';

export function metricsRequest(request: MetricsRequest): Buffer {
  const to = protobufWriter();
  to.message(1, () => {
    to.message(1, () => writeAttributes(to, 1, request.resource));
    to.message(2, () => {
      to.message(1, () => to.text(1, scopeName));
      for (const family of request.families) if (family.points.length > 0) to.message(2, () => writeMetric(to, family, request));
    });
  });
  return to.result();
}

function writeMetric(to: ProtobufWriter, { name, row, points }: MetricFamily, request: MetricsRequest): void {
  to.text(1, name);
  to.text(2, row.meaning);
  to.text(3, row.unit);
  const writePoints = (): void => {
    for (const point of points)
      to.message(1, () =>
        point.kind === 'number'
          ? writeNumber(to, point, request, row.kind === 'counter')
          : writeHistogram(to, point, row.buckets ?? [], request),
      );
  };
  if (row.kind === 'gauge') return to.message(5, writePoints);
  return to.message(row.kind === 'counter' ? 7 : 9, () => {
    writePoints();
    to.varint(2, temporalities[request.temporality]);
    if (row.kind === 'counter') to.varint(3, 1);
  });
}

/** A gauge has no beginning. Every number is a double: a type that changes with the value is another metric for some backends. */
function writeNumber(to: ProtobufWriter, { labels, value }: NumberPoint, { sinceMs, nowMs }: MetricsRequest, counts: boolean): void {
  if (counts) to.fixed64(2, unixNano(sinceMs));
  to.fixed64(3, unixNano(nowMs));
  to.double(4, value);
  writeAttributes(to, 7, withoutEmpty(labels));
}

function writeHistogram(
  to: ProtobufWriter,
  { labels, counts, sum, exemplars }: HistogramPoint,
  edges: readonly number[],
  { sinceMs, nowMs, exemplarsSinceMs }: MetricsRequest,
): void {
  to.fixed64(2, unixNano(sinceMs));
  to.fixed64(3, unixNano(nowMs));
  to.fixed64(4, BigInt(counts.reduce((all, count) => all + count, 0)));
  to.double(5, sum);
  to.bytes(
    6,
    packed(counts, (bytes, count, at) => bytes.writeBigUInt64LE(BigInt(count), at)),
  );
  to.bytes(
    7,
    packed(edges, (bytes, edge, at) => bytes.writeDoubleLE(edge, at)),
  );
  for (const exemplar of exemplars)
    if (exemplar?.atMs !== undefined && exemplar.atMs >= exemplarsSinceMs)
      to.message(8, () => writeExemplar(to, exemplar, exemplar.atMs ?? nowMs));
  writeAttributes(to, 9, withoutEmpty(labels));
}

function writeExemplar(to: ProtobufWriter, { labels, value }: Exemplar, atMs: number): void {
  const { [traceIdLabel]: traceId, [spanIdLabel]: spanId, ...rest } = labels;
  to.fixed64(2, unixNano(atMs));
  to.double(3, value);
  if (spanId !== undefined) to.hex(4, spanId);
  if (traceId !== undefined) to.hex(5, traceId);
  writeAttributes(to, 7, rest);
}

/** Packs values of eight bytes each. */
function packed(values: readonly number[], write: (bytes: Buffer, value: number, at: number) => void): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => write(bytes, value, index * 8));
  return bytes;
}

/** An empty label is the same as none. */
function withoutEmpty(labels: Labels): JsonObject {
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
}
