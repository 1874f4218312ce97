/** Spans that a user writes around a loop, in the conventions of OpenInference. */
import { SpanStatusCode, trace } from '@opentelemetry/api';

export function agentSpan(agent, { input, session }, run) {
  return trace.getTracer('shop').startActiveSpan(agent, async (span) => {
    span.setAttributes({
      'openinference.span.kind': 'AGENT',
      'agent.name': agent,
      'input.value': input,
      ...(session === undefined ? {} : { 'session.id': session }),
    });
    try {
      const output = await run();
      span.setAttribute('output.value', output);
      span.setStatus({ code: SpanStatusCode.OK });
      return output;
    } finally {
      span.end();
    }
  });
}
