/**
 * Reduces a waiting item to what the store writes. The content of a run is thousands of objects, and objects that live for a tenth of a second
 * cost the garbage collector most.
 */
import type { AgentTrace } from '../model/agent-trace.ts';
import { callEnd } from '../model/error-signs.ts';
import { contentOf } from './content-codec.ts';
import type { StoreItem } from '../model/store/store.ts';

/** Encodes the content at once. An item with judge jobs stays whole, as judges need the run. */
export function slimItem(item: StoreItem): StoreItem {
  const { run, jobs = [], turn, withoutContent } = item;
  if (jobs.length > 0 || turn !== undefined) return item;
  return { ...item, content: contentOf(run, withoutContent), run: { ...run, trace: slimTrace(run.trace) } };
}

/** The fields that lists, filters and counts use. */
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
