/** What the model calls of agents cost, counted for the metrics page. Calls whose cost is unknown are counted beside, never as free. */
import { callCosts, type PriceTable } from '../../../evaluators/pricing/prices.ts';
import { numberOf } from '../../../evaluators/matching/rational.ts';
import type { Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';

/** Without any price there is nothing to tell. */
export function countCosts(run: Run, prices: PriceTable, telemetry: Telemetry): void {
  // A counter cannot take back what an earlier revision has added.
  if (run.revision !== 1 || Object.keys(prices).length === 0) return;
  const agent = { [wire.agentName]: run.trace.agent ?? '', [wire.targetService]: run.service ?? '' };
  for (const [model, calls] of Map.groupBy(callCosts(run.trace, prices), (one) => one.model)) {
    const labels = { ...agent, [wire.requestModel]: model };
    for (const [kind, own] of Map.groupBy(calls, (one) => one.kind)) telemetry.add('tracejury.agent.model_calls', own.length, { ...labels, 'tracejury.outcome': kind });
    const amounts = calls.flatMap((one) => (one.kind === 'priced' ? [numberOf(one.amount)] : []));
    if (amounts.length > 0) telemetry.add('tracejury.agent.cost', amounts.reduce((sum, amount) => sum + amount, 0), labels);
  }
}
