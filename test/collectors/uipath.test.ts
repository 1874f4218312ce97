/** UiPath's traced functions: only agents are its own, tools speak OpenInference. */
import { describe } from 'vitest';
import { uipath } from '../../collectors/uipath.ts';
import { testCases, type Case } from './cases.ts';

const cases: readonly Case[] = [
  {
    name: 'an agent is named by its function; its only argument is the input',
    span: { name: 'plan_trip' },
    attributes: { run_type: 'agent', 'input.value': '{"question": "q"}', 'output.value': '"a"' },
    facts: { role: 'agent', agentName: 'plan_trip', input: 'q', output: 'a' },
  },
  {
    name: 'several plain arguments are kept as a dump',
    attributes: { run_type: 'agent', 'input.value': '{"city":"Paris","nights":2}' },
    facts: { role: 'agent', inputDump: '{"city":"Paris","nights":2}' },
    absent: ['input', 'output'],
  },
  {
    name: 'hidden input and output are unknown',
    attributes: { run_type: 'agent' },
    facts: { role: 'agent' },
    absent: ['input', 'output', 'inputDump', 'outputDump'],
  },
  { name: 'an answer without quotes', attributes: { run_type: 'agent', 'output.value': 'a' }, facts: { output: 'a' } },
  ...['tool', 'TOOL', 'uipath', 7, undefined].map((type): Case => ({
    name: `run_type ${String(type)} is left to others`,
    attributes: { ...(type === undefined ? {} : { run_type: type }), 'input.value': 'q' },
    facts: {},
    absent: ['role', 'input'],
  })),
];

describe('uipath', () => {
  testCases(uipath, cases, { scope: 'uipath.core.tracing.decorators' });
});
