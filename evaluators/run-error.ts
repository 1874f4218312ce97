/** The run did not end in an error, by the agent's span and its last request to a model. */
import type { AgentTrace, Run } from '../src/model/agent-trace.ts';
import { messageTemplate } from '../src/model/message-template.ts';
import { rule } from './configuration/define.ts';
import { skipped } from './evidence/calls.ts';
import { briefExplanation, quoted } from './explain/explanation.ts';
import { textIn } from './explain/signature.ts';

export const runError = rule({
  id: 'run_error',
  summary: 'The run did not end in an error.',
  needs: [],
  onByDefault: true,
  defaultThreshold: 1,
  signatures({ details }) {
    const [type, message] = [textIn(details, 'error_type'), messageTemplate(textIn(details, 'error_message'))];
    const place = textIn(details, 'at') === 'model_call' ? 'the last request to a model failed' : 'the run ended in an error';
    return [{ tool: '', text: [place, type, message].filter((part) => part !== '').join(': ') }];
  },
  source: 'runs that end in silence: an outage of a provider, a stream that breaks off, an exception of the agent',
  evaluate({ trace, run }) {
    if (trace.status === 'paused') return skipped('paused', 'The run waits for a person or another program, so it has not ended yet.');
    if (trace.status === 'ok' && run !== undefined && !showsEnd(run))
      return skipped('incomplete', `The run is ${run.completeness}: the span of the agent, which states the end, has not arrived.`);
    const isFailed = trace.status === 'error';
    return {
      kind: 'scored',
      score: isFailed ? 0 : 1,
      explanation: isFailed ? failureText(trace) : 'No span states that the run ended in an error.',
      evidence: trace.errorSpanId === undefined ? [] : [trace.errorSpanId],
      details: {
        status: trace.status,
        ...(trace.errorType === undefined ? {} : { error_type: trace.errorType }),
        ...(trace.errorMessage === undefined ? {} : { error_message: briefExplanation(trace.errorMessage) }),
        ...(isFailed ? { at: placeOf(trace) } : {}),
      },
    };
  },
});

function showsEnd({ completeness }: Run): boolean {
  return completeness === 'complete' || completeness === 'partial';
}

function placeOf({ errorSpanId, modelCalls }: AgentTrace): 'agent' | 'model_call' {
  return errorSpanId !== undefined && modelCalls.some(({ spanId }) => spanId === errorSpanId) ? 'model_call' : 'agent';
}

function failureText(trace: AgentTrace): string {
  const { errorType, errorMessage } = trace;
  const place = placeOf(trace) === 'model_call' ? 'The last request to a model failed' : 'The run ended in an error';
  const what = [errorType ?? '', errorMessage === undefined ? '' : quoted(errorMessage)].filter((text) => text !== '').join(': ');
  return what === '' ? `${place}.` : `${place}: ${what}.`;
}
