/** The spans of a scored run: its evaluation span, and a span for each question to a judge. */
import { wire } from '../../model/attributes.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import type { OutgoingLink, OutgoingSpan } from '../../otlp/write/outgoing-items.ts';
import { type EvaluationSpan, evaluationSpanOf } from './evaluation-span.ts';
import { judgeSpans, judgeTraceOf } from './judge-spans.ts';

/** The evaluation span, and the trace of what judges were asked, where that goes along: it links to the evaluation span, which names it. */
export function spansOf(item: ExportItem, tellsCalls: boolean): readonly OutgoingSpan[] {
  const carrier = evaluationSpanOf(item);
  const asked = tellsCalls ? judgeTraceOf(item) : undefined;
  const carriers = carrier === undefined ? [] : [carrierSpan(carrier, item, asked)];
  return [
    ...carriers,
    ...(asked === undefined
      ? []
      : judgeSpans(
          item,
          carriers.map(({ traceId, spanId, traceState }) => ({ traceId, spanId, traceState })),
        )),
  ];
}

/** Child of the agent's span, linked to it, at its end time: an earlier or later time would change the shape of the trace. */
function carrierSpan(
  carrier: EvaluationSpan,
  { run }: ExportItem,
  asked: Pick<OutgoingLink, 'traceId' | 'spanId'> | undefined,
): OutgoingSpan {
  const { traceId, spanTraceId = traceId, spanId, traceState, endUnixNano } = run;
  return {
    resource: run.resourceAttributes,
    // Parent and child are of one trace, also where the run is known under another one.
    traceId: spanTraceId,
    spanId: carrier.spanId,
    parentSpanId: spanId,
    traceState,
    name: carrier.name,
    startUnixNano: endUnixNano,
    endUnixNano,
    attributes:
      asked === undefined
        ? carrier.attributes
        : { ...carrier.attributes, [wire.judgeTraceId]: asked.traceId, [wire.judgeSpanId]: asked.spanId },
    events: carrier.events.map((attributes) => ({ name: wire.evaluationEvent, timeUnixNano: endUnixNano, attributes })),
    // Who reads annotations of OpenInference goes by the one link: it is what they are about. Decision 40.
    links: [{ traceId: spanTraceId, spanId, traceState }],
  };
}
