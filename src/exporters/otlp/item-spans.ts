/**
 * The spans of a scored run: its evaluation span, and the judge trace. The judge trace has a span for the verdict and below it a client
 * span per request, as the GenAI conventions define it, with retries as events. Decision 14 explains why it is a separate trace. Pure: the
 * same item gives the same spans, ids included. Spans hold no text of a question.
 */
import { wire } from '../../model/attributes.ts';
import { type ExportItem, itemRevision, type RunDecision } from '../../model/scored-run.ts';
import { type OutgoingLink, type OutgoingSpan, scopeName } from '../../otlp/write/outgoing-items.ts';
import type { ExporterSettings } from '../settings.ts';
import { type EvaluationSpan, evaluationSpanOf } from './evaluation-span.ts';
import { unixNano } from '../../model/clock.ts';
import { judgeCallSpanId, judgeTrace, type JudgeCall, type JudgeTrace } from '../../model/judge-call.ts';
import type { JsonObject } from '../../model/json.ts';
import { type EvaluationKey, errorType, targetKey } from '../../model/verdict.ts';

/** The evaluation span, and, unless `judgeCalls` is false, the judge trace. Each links to the other. */
export function spansOf(
  item: ExportItem,
  { detail = 'lean', judgeCalls = true }: Pick<ExporterSettings, 'detail' | 'judgeCalls'> = {},
): readonly OutgoingSpan[] {
  const carrier = evaluationSpanOf(item, detail);
  const trace = judgeCalls ? judgeTraceOf(item) : undefined;
  const carriers = carrier === undefined ? [] : [carrierSpan(carrier, item, trace)];
  return [
    ...carriers,
    ...(trace === undefined
      ? []
      : judgeSpans(
          item,
          carriers.map(({ traceId, spanId, traceState }) => ({ traceId, spanId, traceState })),
        )),
  ];
}

/** A child of the agent's span, linked to it, at its end time: any other time would change the shape of the trace. */
function carrierSpan(
  carrier: EvaluationSpan,
  { run }: ExportItem,
  judgeSpan: Pick<OutgoingLink, 'traceId' | 'spanId'> | undefined,
): OutgoingSpan {
  const { traceId, spanTraceId = traceId, spanId, traceState, endUnixNano } = run;
  return {
    resource: run.resourceAttributes,
    // A parent and its child belong to one trace, even when the run is known under another one.
    traceId: spanTraceId,
    spanId: carrier.spanId,
    parentSpanId: spanId,
    traceState,
    name: carrier.name,
    startUnixNano: endUnixNano,
    endUnixNano,
    attributes:
      judgeSpan === undefined
        ? carrier.attributes
        : { ...carrier.attributes, [wire.judgeTraceId]: judgeSpan.traceId, [wire.judgeSpanId]: judgeSpan.spanId },
    events: carrier.events.map((attributes) => ({ name: wire.evaluationEvent, timeUnixNano: endUnixNano, attributes })),
    // Readers of OpenInference annotations take the only link as the annotated span (decision 14).
    links: [{ traceId: spanTraceId, spanId, traceState }],
  };
}

/** Puts judge calls into a separate project, so the agent's project holds only the agent's costs. */
const resource: JsonObject = { [wire.serviceName]: scopeName, [wire.openInferenceProject]: scopeName };

/** Empty when no judge was called. `reporting`: spans with the verdict. */
export function judgeSpans(item: ExportItem, reporting: readonly OutgoingLink[]): readonly OutgoingSpan[] {
  const [calls, decision] = [item.calls ?? [], item.decisions[0]];
  if (calls.length === 0 || decision === undefined) return [];
  const trace = judgeTrace(judgeKey(item, decision), itemRevision(item));
  return [verdictSpan(item, decision, trace, reporting), ...calls.map((call, nth) => callSpan(item, decision, { call, trace, nth }))];
}

/** `undefined` when no judge was called. */
export function judgeTraceOf(item: ExportItem): JudgeTrace | undefined {
  const decision = item.decisions[0];
  return decision === undefined || (item.calls ?? []).length === 0 ? undefined : judgeTrace(judgeKey(item, decision), itemRevision(item));
}

function judgeKey({ run }: ExportItem, { name }: RunDecision): EvaluationKey {
  return targetKey(run, name);
}

function verdictSpan(item: ExportItem, decision: RunDecision, trace: JudgeTrace, reporting: readonly OutgoingLink[]): OutgoingSpan {
  const [calls, verdict] = [item.calls ?? [], item.evaluations[0]?.verdict];
  const { cached, judge_requests: made } = verdict?.details ?? {};
  const fault = verdict?.kind === 'failed' ? errorType(verdict.error) : undefined;
  return {
    ...ownTrace(trace),
    spanId: trace.spanId,
    parentSpanId: undefined,
    name: `judge ${decision.name}`,
    startUnixNano: unixNano(Math.min(...calls.map(({ startMs }) => startMs))),
    endUnixNano: unixNano(Math.max(...calls.map(({ endMs }) => endMs))),
    attributes: {
      ...aboutRun(item, decision),
      [wire.openInferenceKind]: 'EVALUATOR',
      [wire.revision]: itemRevision(item),
      ...(decision.reason === undefined || fault !== undefined ? {} : { [wire.decisionReason]: errorType(decision.reason) }),
      ...(typeof cached === 'number' ? { [wire.judgeCached]: cached } : {}),
      ...(typeof made === 'number' && made > calls.length ? { [wire.judgeCallsLeftOut]: made - calls.length } : {}),
      ...(fault === undefined ? {} : { [wire.errorType]: fault }),
    },
    links: [...linkToAgent(item), ...reporting],
    ...(fault === undefined ? {} : { fault }),
  };
}

function callSpan(
  item: ExportItem,
  decision: RunDecision,
  { call, trace, nth }: { readonly call: JudgeCall; readonly trace: JudgeTrace; readonly nth: number },
): OutgoingSpan {
  const fault = call.error === undefined ? undefined : errorType(call.error);
  return {
    ...ownTrace(trace),
    spanId: judgeCallSpanId(trace, nth, call),
    parentSpanId: trace.spanId,
    name: `${call.operation} ${call.model}`,
    kind: 'client',
    startUnixNano: unixNano(call.startMs),
    endUnixNano: unixNano(call.endMs),
    attributes: { ...aboutRun(item, decision), ...aboutCall(call), ...(fault === undefined ? {} : { [wire.errorType]: fault }) },
    events: call.retries.map(({ atMs, error }, at) => ({
      name: wire.judgeRetry,
      timeUnixNano: unixNano(atMs),
      attributes: { [wire.judgeAttempt]: at + 1, [wire.errorType]: errorType(error) },
    })),
    links: linkToAgent(item),
    ...(fault === undefined ? {} : { fault }),
  };
}

function ownTrace({ traceId }: JudgeTrace): Pick<OutgoingSpan, 'resource' | 'traceId' | 'traceState' | 'ownTrace' | 'events'> {
  return { resource, traceId, traceState: '', ownTrace: true, events: [] };
}

/** Links to the evaluated span. */
function linkToAgent({ run }: ExportItem): readonly OutgoingLink[] {
  const { traceId, spanTraceId = traceId, spanId, traceState } = run;
  return [{ traceId: spanTraceId, spanId, traceState }];
}

function aboutRun({ run }: ExportItem, decision: RunDecision): JsonObject {
  return {
    [wire.generated]: true,
    [wire.evaluationName]: decision.name,
    [wire.evaluatorId]: decision.evaluator,
    [wire.evaluatorKind]: decision.evaluatorKind,
    [wire.decision]: decision.decision,
    ...(run.trace.agent === undefined ? {} : { [wire.targetAgent]: run.trace.agent }),
    ...(run.service === undefined ? {} : { [wire.targetService]: run.service }),
    ...(run.tenant === '' ? {} : { [wire.tenant]: run.tenant }),
  };
}

function aboutCall({ judge, operation, provider, server, model, question, batch, retries, response = {}, tokens }: JudgeCall): JsonObject {
  return {
    [wire.openInferenceKind]: operation === 'chat' ? 'LLM' : 'EMBEDDING',
    [wire.operation]: operation,
    [wire.provider]: provider,
    [wire.requestModel]: model,
    [wire.serverAddress]: server.address,
    [wire.serverPort]: server.port,
    ...(response.model === undefined ? {} : { [wire.responseModel]: response.model }),
    ...(response.id === undefined ? {} : { [wire.responseId]: response.id }),
    ...(response.finishReason === undefined ? {} : { [wire.finishReasons]: [response.finishReason] }),
    ...(tokens === undefined
      ? {}
      : { [wire.inputTokens]: tokens.input, ...(operation === 'chat' ? { [wire.outputTokens]: tokens.output } : {}) }),
    [wire.judge]: judge,
    ...(question === undefined ? {} : { [wire.judgeQuestion]: question }),
    ...(batch === undefined ? {} : { [wire.judgeBatch]: batch }),
    [wire.judgeAttempts]: retries.length + 1,
  };
}
