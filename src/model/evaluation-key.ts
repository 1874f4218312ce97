/** What a verdict that comes with a run is about: the run, or the session that it stands for. */
import { hash } from 'node:crypto';
import type { AgentTrace, Run, RunKey } from './agent-trace.ts';
import { runTargetId, type EvaluationKey, evaluationKeyText } from './verdict.ts';

/** 32 hex digits, the same for every revision. */
export function evaluationId(key: EvaluationKey): string {
  return hash('sha256', evaluationKeyText(key), 'hex').slice(0, 32);
}

export function targetKey(
  run: RunKey & Pick<Run, 'session'> & { readonly trace: Pick<AgentTrace, 'sessionId'> },
  name: string,
): EvaluationKey {
  const {
    tenant,
    session,
    trace: { sessionId },
  } = run;
  if (session === undefined || sessionId === undefined) return { tenant, targetKind: 'run', targetId: runTargetId(run), name };
  return { tenant, targetKind: 'session', targetId: sessionId, name };
}
