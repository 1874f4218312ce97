/** UiPath's `@traced` functions: `run_type` names the kind of a span; its tools also follow OpenInference. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts } from './collector.ts';
import { observedRun } from './parsing/observation.ts';
import { unquotedText } from './parsing/parsing.ts';

export const uipath: Collector = {
  id: 'uipath',
  summary: 'UiPath traced functions (scope uipath.*, run_type).',
  recognisedBy: { scopePrefixes: ['uipath.'] },
  wants: { keys: ['run_type', 'input.value', 'output.value'], prefixes: [] },
  captureHints: {
    content: 'Leave hide_input and hide_output of @traced at False, their default.',
    tools: 'Definitions are on no span; name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['input.value'],
    final_response: ['output.value'],
  },
  read,
};

function read(span: Span): SpanFacts {
  if (textAttribute(span, 'run_type') !== 'agent') return {};
  return {
    role: 'agent',
    agentName: span.name,
    ...observedRun({ name: span.name, input: span.attribute('input.value'), output: unquotedText(textAttribute(span, 'output.value')) }),
  };
}
