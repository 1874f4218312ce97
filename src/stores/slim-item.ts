/**
 * What waits to be written, without what is not. What an agent was given and gave lives in thousands of objects, a run waits for a tenth of a second or more, and what
 * lives for so long is what the garbage collector is slowest with.
 */
import type { AgentTrace } from '../model/agent-trace.ts';
import { callEnd } from '../model/error-signs.ts';
import { contentOf } from './content-codec.ts';
import type { StoreItem } from '../model/store/store.ts';

/** Its content is made at once. Whoever waits for a judge is written whole, as it is. */
export function slimItem(item: StoreItem): StoreItem {
  const { run, jobs = [], turn, withoutContent } = item;
  if (jobs.length > 0 || turn !== undefined) return item;
  return { ...item, content: contentOf(run, withoutContent), run: { ...run, trace: slimTrace(run.trace) } };
}

/** What lists, filters and counts are made of. */
function slimTrace({ agent, sessionId, model, status, toolCalls, toolCallsCarried }: AgentTrace): AgentTrace {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(model === undefined ? {} : { model }),
    status,
    toolCalls: toolCalls.map((call) => ({
      name: call.name,
      executed: call.executed,
      ...(callEnd(call) === 'failed' ? { error: { message: '', sign: call.error?.sign ?? 'result_status' } } : {}),
      ...(call.startUnixNano === undefined ? {} : { startUnixNano: call.startUnixNano }),
      ...(call.endUnixNano === undefined ? {} : { endUnixNano: call.endUnixNano }),
    })),
    toolDefinitions: [],
    modelCalls: [],
    documents: [],
    reasoningSteps: [],
    subAgents: [],
    toolCallsCarried,
  };
}
