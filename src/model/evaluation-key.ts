/** What a verdict that comes with a run is about: the run, or the session that it stands for. */
import type { AgentTrace, Run, RunKey } from './agent-trace.ts';
import { runTargetId, type EvaluationKey } from './verdict.ts';

export function targetKey(run: RunKey & Pick<Run, 'session'> & { readonly trace: Pick<AgentTrace, 'sessionId'> }, name: string): EvaluationKey {
  const { tenant, session, trace: { sessionId } } = run;
  if (session === undefined || sessionId === undefined) return { tenant, targetKind: 'run', targetId: runTargetId(run), name };
  return { tenant, targetKind: 'session', targetId: sessionId, name };
}
