/** Counts what agents do: durations of runs and tool calls, outcomes of calls, and tokens of model calls. */
import type { ModelCall, Run, ToolCall } from '../../model/agent-trace.ts';
import { callEnd, tookNano } from '../../model/error-signs.ts';
import type { Labels, Telemetry } from '../../telemetry/telemetry.ts';
import { costing, type PriceTable } from '../../../evaluators/pricing/prices.ts';
import { numberOf } from '../../../evaluators/matching/rational.ts';
import { wire } from '../../model/attributes.ts';

export function countActivity(run: Run, telemetry: Telemetry): void {
  // A counter cannot take back what an earlier revision has added.
  if (run.revision !== 1) return;
  const agent = agentLabels(run);
  const took = tookNano(run);
  if (took !== undefined)
    telemetry.record('tracejury.run.duration', seconds(took), agent, run.trace.status === 'error' ? exemplarOf(run) : undefined);
  for (const [name, calls] of Map.groupBy(run.trace.toolCalls, (call) => call.name))
    countCalls(run, { ...agent, [wire.toolName]: name }, calls, telemetry);
  countTokens(run, agent, telemetry);
}

function agentLabels({ trace, service, serviceVersion }: Run): Labels {
  return { [wire.agentName]: trace.agent ?? '', [wire.targetService]: service ?? '', [wire.targetVersion]: serviceVersion ?? '' };
}

function countCalls(run: Run, labels: Labels, calls: readonly ToolCall[], telemetry: Telemetry): void {
  const counts = new Map<string, number>();
  for (const call of calls) {
    const end = callEnd(call);
    counts.set(end, (counts.get(end) ?? 0) + 1);
    const took = tookNano(call);
    if (took !== undefined)
      telemetry.record('tracejury.agent.tool_call.duration', seconds(took), labels, end === 'failed' ? exemplarOf(run, call) : undefined);
  }
  for (const [end, own] of counts) telemetry.add('tracejury.agent.tool_calls', own, { ...labels, 'tracejury.outcome': end });
}

/** Counts tokens of the model calls, else the sum on the agent's span. */
function countTokens({ trace }: Run, agent: Labels, telemetry: Telemetry): void {
  const telling = trace.modelCalls.filter(({ inputTokens, outputTokens }) => inputTokens !== undefined || outputTokens !== undefined);
  for (const [model, calls] of Map.groupBy(telling.length > 0 ? telling : [wholeOf(trace)], (call) => call.model ?? '')) {
    const input = sum(calls, 'inputTokens');
    const output = sum(calls, 'outputTokens');
    if (input > 0) telemetry.add('tracejury.agent.tokens', input, { ...agent, [wire.requestModel]: model, [wire.tokenType]: 'input' });
    if (output > 0) telemetry.add('tracejury.agent.tokens', output, { ...agent, [wire.requestModel]: model, [wire.tokenType]: 'output' });
  }
}

/** The sum of all requests as one call. */
function wholeOf({ model, tokens }: Run['trace']): ModelCall {
  return {
    ...(model === undefined ? {} : { model }),
    ...(tokens?.input === undefined ? {} : { inputTokens: tokens.input }),
    ...(tokens?.output === undefined ? {} : { outputTokens: tokens.output }),
  };
}

function sum(calls: readonly ModelCall[], key: 'inputTokens' | 'outputTokens'): number {
  return calls.reduce((total, call) => total + (call[key] ?? 0), 0);
}

function exemplarOf({ traceId, spanTraceId = traceId, spanId }: Run, call?: ToolCall): Labels {
  return { trace_id: spanTraceId, span_id: call?.spanId ?? spanId };
}

function seconds(nano: bigint): number {
  return Number(nano) / 1e9;
}

/** Does nothing without prices. */
export function costCounting(prices: PriceTable, telemetry: Telemetry): (run: Run) => void {
  if (Object.keys(prices).length === 0) return () => undefined;
  const { callCosts } = costing(prices);
  return (run) => {
    // A counter cannot take back what an earlier revision has added.
    if (run.revision !== 1) return;
    const agent = agentLabels(run);
    for (const [model, calls] of Map.groupBy(callCosts(run.trace), (one) => one.model)) {
      const labels = { ...agent, [wire.requestModel]: model };
      for (const [kind, own] of Map.groupBy(calls, (one) => one.kind))
        telemetry.add('tracejury.agent.model_calls', own.length, { ...labels, 'tracejury.outcome': kind });
      const amounts = calls.flatMap((one) => (one.kind === 'priced' ? [numberOf(one.amount)] : []));
      if (amounts.length > 0)
        telemetry.add(
          'tracejury.agent.cost',
          amounts.reduce((total, amount) => total + amount, 0),
          labels,
        );
    }
  };
}
