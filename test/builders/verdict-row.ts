/** Rows of verdicts as the store gives them to figures. */
import { noTenant } from '../../src/model/ids.ts';
import type { VerdictRow } from '../../src/model/store/verdict-rows.ts';
import { spanId } from './agent-trace.ts';
import { traceId } from './spans.ts';

/** The row of the run with this number, by an agent without versions. */
export function verdictRow(
  run: number,
  members: Pick<VerdictRow, 'word' | 'label' | 'sampleProbability'> & Partial<VerdictRow>,
): VerdictRow {
  return {
    tenant: noTenant,
    traceId: traceId(run),
    spanId: spanId(1),
    agent: 'a',
    version: undefined,
    model: undefined,
    prompt: undefined,
    sessionId: undefined,
    score: undefined,
    ...members,
  };
}
