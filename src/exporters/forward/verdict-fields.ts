/** Encodes the verdicts of a run as fields at the end of its own spans. */
import { wire } from '../../model/attributes.ts';
import type { SpanId } from '../../model/ids.ts';
import { protobufWriter, type ProtobufWriter } from '../../otlp/write/protobuf-writer.ts';
import type { Addition } from '../../otlp/cut/span-append.ts';
import { resultsOf, type EvaluationAttributes } from '../otlp/evaluation-span.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { writeAddition } from '../../otlp/write/outgoing-items.ts';

/** By span id. `isHere`: whether the span takes fields. Verdicts on any other span go to the agent's span and name theirs. */
export type VerdictFields = (item: ExportItem, isHere: (spanId: SpanId) => boolean) => ReadonlyMap<SpanId, Addition>;

/** All calls share one buffer. */
export function verdictFields(): VerdictFields {
  const out = protobufWriter();
  return (item, isHere) => additionsOf(item, isHere, out);
}

function additionsOf(item: ExportItem, isHere: (spanId: SpanId) => boolean, out: ProtobufWriter): ReadonlyMap<SpanId, Addition> {
  const { attributes, verdicts, parts } = resultsOf(item);
  const { spanId: agent } = item.run;
  const events = new Map<SpanId, EvaluationAttributes[]>([[agent, [...verdicts]]]);
  for (const { spanId = agent, attributes: part } of parts) {
    const on = isHere(spanId) ? spanId : agent;
    const known = events.get(on);
    if (known === undefined) events.set(on, [part]);
    else known.push(part);
  }
  return new Map([...events].map(([spanId, own]) => [spanId, additionOf(spanId === agent ? attributes : {}, own, out)]));
}

/** Events carry the end time of the span, as a backend may hide events outside it. */
function additionOf(attributes: EvaluationAttributes, events: readonly EvaluationAttributes[], out: ProtobufWriter): Addition {
  return (endUnixNano) => {
    out.restart();
    writeAddition(out, {
      attributes,
      events: events.map((own) => ({ name: wire.evaluationEvent, timeUnixNano: endUnixNano, attributes: own })),
    });
    return out.result();
  };
}
