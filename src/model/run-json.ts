/** The JSON form of a run in all interfaces: snake_case, times in RFC 3339 with microseconds, without verdicts. */
import { environmentOf, requestCount, type AgentTrace, type Run, type ToolCall } from './agent-trace.ts';
import { callEnd } from './error-signs.ts';
import { confidences, runConfidence, type RunEvidence } from './evidence.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { timeText } from './timestamp.ts';

/** Without `run`, members that only spans provide are null. */
export function runJson(trace: AgentTrace, run?: Run): JsonObject {
  return {
    trace_id: run?.traceId ?? null,
    span_id: run?.spanId ?? null,
    tenant: run?.tenant ?? null,
    agent: trace.agent ?? null,
    service: run?.service ?? null,
    version: run?.serviceVersion ?? null,
    session_id: trace.sessionId ?? null,
    user_id: trace.userId ?? null,
    environment: (run === undefined ? undefined : environmentOf(run)) ?? null,
    started_at: timeOrNull(run?.startUnixNano ?? trace.startUnixNano),
    ended_at: timeOrNull(run?.endUnixNano ?? trace.endUnixNano),
    completeness: run?.completeness ?? null,
    revision: run?.revision ?? null,
    status: trace.status,
    error_message: trace.errorMessage ?? null,
    error_type: trace.errorType ?? null,
    dialects: run === undefined ? null : [...run.dialects],
    evidence: run?.evidence === undefined ? null : evidenceJson(run.evidence),
    parent: run?.parent === undefined ? null : { trace_id: run.parent.traceId, span_id: run.parent.spanId },
    system_prompt: trace.systemPrompt ?? null,
    input: trace.input ?? null,
    final_response: trace.finalResponse ?? null,
    tasks: trace.tasks === undefined ? null : [...trace.tasks],
    constraints: trace.constraints ?? null,
    model: trace.model ?? null,
    model_calls: requestCount(trace.modelCalls),
    tokens: { input: trace.tokens?.input ?? null, output: trace.tokens?.output ?? null },
    documents: trace.documents.map(({ id, content, score, spanId }) => ({
      id: id ?? null,
      content: content ?? null,
      score: score ?? null,
      span_id: spanId ?? null,
    })),
    truncated: [...(trace.truncated ?? [])],
    tool_calls_carried: trace.toolCallsCarried,
    tool_calls: trace.toolCalls.map(callJson),
    tool_definitions: trace.toolDefinitions.map((tool) => ({
      name: tool.name,
      description: tool.description ?? null,
      input_schema: tool.inputSchema ?? null,
      truncated: tool.truncated ?? false,
    })),
  };
}

function evidenceJson(evidence: RunEvidence): JsonObject {
  return {
    provenance: evidence.provenance,
    confidence: runConfidence(evidence),
    fields: Object.fromEntries(Object.entries(evidence.fields).map(([field, by]) => [field, { class: by, confidence: confidences[by] }])),
  };
}

function callJson(call: ToolCall): JsonObject {
  return {
    name: call.name,
    id: call.id ?? null,
    arguments: call.arguments ?? call.argumentsText ?? null,
    // Distinguishes a null result from one that the spans do not carry.
    result_carried: call.result !== undefined,
    result: call.result ?? null,
    error: call.error === undefined ? null : { message: call.error.message, type: call.error.type ?? null, sign: call.error.sign },
    truncated: { arguments: call.truncated?.arguments ?? null, result: call.truncated?.result ?? null },
    executed: call.executed,
    // Null when no span states the outcome. `outcome` also weighs signs in the result.
    stated_outcome: call.error !== undefined ? 'failed' : call.statedOk === true ? 'ok' : null,
    outcome: callEnd(call),
    span_id: call.spanId ?? null,
    started_at: timeOrNull(call.startUnixNano),
    ended_at: timeOrNull(call.endUnixNano),
    provenance: { ...call.provenance },
    ...(call.metadata === undefined ? {} : { metadata: call.metadata }),
  };
}

function timeOrNull(unixNano: bigint | undefined): JsonValue {
  return unixNano === undefined ? null : timeText(unixNano);
}
