/** Runs in the machine-readable form: snake_case, times in RFC 3339 with microseconds, the run object of the HTTP API. */
import type { SubAgent, ToolCall } from '../../model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import type { Evaluability } from './evaluability.ts';
import type { InspectedRun } from './inspected.ts';

/** All runs in one list, each before its sub-agents, which name it as their parent. */
export function runObjects(inspected: readonly InspectedRun[]): readonly JsonObject[] {
  return inspected.flatMap((one) => [runObject(one), ...runObjects(one.subRuns)]);
}

function runObject({ run, evaluability, via }: InspectedRun): JsonObject {
  const { trace } = run;
  return {
    trace_id: run.traceId,
    span_id: run.spanId,
    tenant: run.tenant,
    agent: trace.agent ?? null,
    service: run.service ?? null,
    version: run.serviceVersion ?? null,
    session_id: trace.sessionId ?? null,
    started_at: timeText(run.startUnixNano),
    ended_at: timeText(run.endUnixNano),
    completeness: run.completeness,
    revision: run.revision,
    status: trace.status,
    error_message: trace.errorMessage ?? null,
    dialects: [...run.dialects],
    parent: run.parent === undefined ? null : { trace_id: run.parent.traceId, span_id: run.parent.spanId, ...viaMembers(via) },
    input: trace.input ?? null,
    final_response: trace.finalResponse ?? null,
    model: trace.model ?? null,
    model_calls: trace.modelCalls.length,
    tokens: { input: trace.tokens?.input ?? null, output: trace.tokens?.output ?? null },
    tool_calls_carried: trace.toolCallsCarried,
    tool_calls: trace.toolCalls.map(callObject),
    tool_definitions: trace.toolDefinitions.map((tool) => ({ name: tool.name, description: tool.description ?? null, input_schema: tool.inputSchema ?? null })),
    verdicts: evaluability.filter(({ on }) => on).flatMap(verdictObjects),
    evaluability: evaluability.map((one) => ({ name: one.name, evaluator: one.evaluator.id, on: one.on, ...outcomeMembers(one), missing: [...one.missing], hints: [...one.hints] })),
    decisions: decisions(evaluability),
  };
}

function viaMembers(via: SubAgent | undefined): JsonObject {
  return { via: via?.via ?? null, via_tool: via?.viaTool ?? null };
}

function callObject(call: ToolCall): JsonObject {
  return {
    name: call.name,
    id: call.id ?? null,
    arguments: call.arguments ?? call.argumentsText ?? null,
    // Null alone would not tell a tool that returned nothing from a result that the spans do not carry.
    result_carried: call.result !== undefined,
    result: call.result ?? null,
    error: call.error === undefined ? null : { message: call.error.message, type: call.error.type ?? null, sign: call.error.sign },
    executed: call.executed,
    span_id: call.spanId ?? null,
    started_at: call.startUnixNano === undefined ? null : timeText(call.startUnixNano),
    ended_at: call.endUnixNano === undefined ? null : timeText(call.endUnixNano),
    provenance: { ...call.provenance },
  };
}

function verdictObjects(one: Evaluability): readonly JsonObject[] {
  const { outcome, name, evaluator } = one;
  if (outcome.kind === 'would_ask' || outcome.kind === 'filtered' || outcome.kind === 'needs_configuration') return [];
  return [{ name, evaluator: evaluator.id, version: evaluator.version, ...outcomeMembers(one) }];
}

function outcomeMembers({ outcome }: Evaluability): JsonObject {
  switch (outcome.kind) {
    case 'scored':
      return { status: 'scored', score: outcome.score, label: outcome.label, passed: outcome.passed, explanation: outcome.explanation, reason: null, evidence: [...outcome.evidence] };
    case 'skipped':
      return { status: 'skipped', score: null, label: null, passed: null, explanation: outcome.explanation, reason: outcome.reason, evidence: [] };
    case 'failed':
      return { status: 'failed', score: null, label: null, passed: null, explanation: outcome.explanation, reason: outcome.error, evidence: [] };
    case 'needs_configuration':
      return { status: 'needs_configuration', explanation: outcome.explanation };
    default:
      return { status: outcome.kind };
  }
}

function decisions(evaluability: readonly Evaluability[]): readonly JsonValue[] {
  return evaluability.flatMap(({ on, name, outcome }) => (on && outcome.kind !== 'would_ask' ? [{ name, decision: outcome.kind }] : []));
}

function timeText(unixNano: bigint): string {
  const micros = unixNano / 1_000n;
  const seconds = new Date(Number(micros / 1_000_000n) * 1_000).toISOString().slice(0, -'.000Z'.length);
  return `${seconds}.${(micros % 1_000_000n).toString().padStart(6, '0')}Z`;
}
