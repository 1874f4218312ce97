/** Sends verdicts as log records over OTLP. */
import { JuryError } from '../../model/errors.ts';
import type { Exporter } from '../exporter.ts';
import { otlpExporter, recordWriters } from './otlp-exporter.ts';
import type { ExporterSettings } from '../settings.ts';
import { wire } from '../../model/attributes.ts';
import { parseSpanId } from '../../model/ids.ts';
import { type Evaluation, type PartVerdict, evaluationId } from '../../model/verdict.ts';
import { evaluationEventsMax, partEvent, resultEvent, runAttributes } from './evaluation-span.ts';
import { itemRevision, type ExportedRun, type ExportItem } from '../../model/scored-run.ts';
import type { OutgoingLog } from '../../otlp/write/outgoing-items.ts';

export function logEventsExporter(settings: ExporterSettings): Exporter {
  if (settings.logsEndpoint === undefined) throw new JuryError('CONFIG_INVALID', 'The exporter log_events has no endpoint.');
  return { id: 'log_events', ...otlpExporter(settings.logsEndpoint, settings, { ...recordWriters, of: resultRecords }) };
}

/** Verdicts first, then their tool-call parts, up to the limit of an evaluation span. */
export function resultRecords({ run, evaluations }: ExportItem): readonly OutgoingLog[] {
  const verdicts = evaluations.flatMap((evaluation) => verdictRecord(evaluation, run) ?? []);
  const parts = evaluations.flatMap((evaluation) =>
    evaluation.verdict.kind === 'scored' ? evaluation.verdict.parts.map((part) => partRecord(evaluation, part, run)) : [],
  );
  return [...verdicts, ...parts].slice(0, evaluationEventsMax);
}

/** A skipped verdict is not a result. In a later revision, or for a withdrawn run, it replaces the earlier result. */
function verdictRecord(evaluation: Evaluation, run: ExportedRun): OutgoingLog | undefined {
  const { key, verdict } = evaluation;
  const isOver = verdict.kind === 'skipped' && (itemRevision({ run }) > 1 || run.partOf !== undefined);
  if (verdict.kind === 'skipped' && !isOver) return undefined;
  const spanId = key.targetKind === 'tool_call' ? parseSpanId(key.targetId.split('/').at(-1) ?? '') : undefined;
  return {
    ...placeOf(run),
    ...(spanId === undefined ? {} : { spanId }),
    severity: verdict.kind === 'failed' ? 'ERROR' : verdict.kind === 'scored' && verdict.passed === false ? 'WARN' : 'INFO',
    body: [key.name, ...(verdict.kind === 'scored' ? [verdict.label, verdict.score] : [verdict.kind === 'failed' ? 'error' : 'withdrawn'])]
      .filter((word) => word !== '')
      .join(' '),
    attributes: {
      ...resultEvent(evaluation),
      ...runAttributes(run),
      [wire.evaluationId]: evaluationId(key),
      ...(isOver ? { [wire.withdrawn]: true } : {}),
    },
  };
}

/** A part without a span goes on the agent's span. */
function partRecord(evaluation: Evaluation, part: PartVerdict, run: ExportedRun): OutgoingLog {
  return {
    ...placeOf(run),
    ...(part.spanId === undefined ? {} : { spanId: part.spanId }),
    severity: part.passed ? 'INFO' : 'WARN',
    body: `${evaluation.key.name} ${part.passed ? 'pass' : 'fail'} ${part.score} ${part.of ?? part.tool}`.toWellFormed(),
    attributes: {
      ...partEvent(evaluation, part),
      ...runAttributes(run),
      [wire.evaluationId]: `${evaluationId(evaluation.key)}/${part.index}`,
    },
  };
}

/** At the end of the run, so the record never precedes it. */
function placeOf({
  resourceAttributes,
  traceId,
  spanTraceId = traceId,
  spanId,
  endUnixNano,
}: ExportedRun): Pick<OutgoingLog, 'resource' | 'traceId' | 'spanId' | 'timeUnixNano' | 'eventName'> {
  return { resource: resourceAttributes, traceId: spanTraceId, spanId, timeUnixNano: endUnixNano, eventName: wire.evaluationEvent };
}
