import { expect, test } from 'vitest';
import { tenant } from '../../../src/model/ids.ts';
import type { RunDecision } from '../../../src/model/scored-run.ts';
import type { Run } from '../../../src/model/agent-trace.ts';
import { agentsWatchedMax, contentNotices } from '../../../src/pipeline/reporting/content-notices.ts';
import { agentTrace, call } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';

const skippedFor = (reason: string, name = 'tool_error'): RunDecision => ({
  name,
  evaluator: name,
  evaluatorKind: 'rule',
  decision: 'skipped',
  reason,
});
const bare = (members: Partial<Run> = {}): Run =>
  run({ dialects: ['gen_ai'], trace: agentTrace({ agent: 'a', toolCalls: [call({ result: undefined })] }), ...members });
const withResults = bare({ trace: agentTrace({ agent: 'a', toolCalls: [call({ result: 1 })] }) });

interface Step {
  readonly run: Run;
  readonly decisions?: readonly RunDecision[];
}

/** The notices of each step. */
function told(steps: readonly Step[]): readonly (readonly string[])[] {
  const notices = contentNotices();
  return steps.map(({ run: of, decisions = [skippedFor('results_not_carried')] }) =>
    notices({ run: of, evaluations: [], decisions }).map(({ agent, dialect, missing }) => `${agent} ${dialect} ${missing}`),
  );
}

const times = (count: number, step: Step): readonly Step[] => Array.from({ length: count }, () => step);
const line = 'a gen_ai tool_results';

const cases: readonly { readonly name: string; readonly steps: readonly Step[]; readonly want: readonly (readonly string[])[] }[] = [
  { name: 'at the third run, and never again', steps: times(6, { run: bare() }), want: [[], [], [line], [], [], []] },
  {
    name: 'never where an earlier run had it',
    steps: [{ run: withResults, decisions: [] }, ...times(4, { run: bare() })],
    want: [[], [], [], [], []],
  },
  {
    name: 'never where a run between had it',
    steps: [...times(2, { run: bare() }), { run: withResults, decisions: [] }, ...times(3, { run: bare() })],
    want: [[], [], [], [], [], []],
  },
  {
    name: 'for each agent and dialect by itself',
    steps: [...times(3, { run: bare() }), ...times(3, { run: bare({ dialects: ['traceloop', 'gen_ai'] }) })],
    want: [[], [], [line], [], [], ['a traceloop tool_results']],
  },
  {
    name: 'for each thing that is missing',
    steps: times(3, { run: bare(), decisions: [skippedFor('results_not_carried'), skippedFor('no_input', 'task_completion')] }),
    want: [[], [], [line, 'a gen_ai input']],
  },
  { name: 'not for runs that were closed early', steps: times(5, { run: bare({ completeness: 'evicted' }) }), want: [[], [], [], [], []] },
  { name: 'not for later revisions', steps: times(5, { run: bare({ revision: 2 }) }), want: [[], [], [], [], []] },
  {
    name: 'not where there was nothing to look at',
    steps: times(4, { run: bare(), decisions: [skippedFor('no_errors')] }),
    want: [[], [], [], []],
  },
  {
    name: 'not where no expectation was written down',
    steps: times(4, { run: bare(), decisions: [skippedFor('no_expectation')] }),
    want: [[], [], [], []],
  },
];
for (const { name, steps, want } of cases) {
  test(`content notices: told ${name}`, () => {
    expect(told(steps)).toEqual(want);
  });
}

test('content notices: a notice names the evaluators, the attributes and what to switch on', () => {
  const notices = contentNotices();
  const item = {
    run: bare(),
    evaluations: [],
    decisions: [skippedFor('results_not_carried'), skippedFor('results_not_carried', 'tool_recovery')],
  };
  const [notice] = [item, item, item].flatMap((one) => notices(one));
  expect(notice).toMatchObject({
    evaluators: ['tool_error', 'tool_recovery'],
    message: 'evaluators skip the first runs of an agent: their spans carry no results of tool calls',
  });
  expect(notice?.lookedForIn).toContain('gen_ai.tool.call.result');
  expect(notice?.todo).toContain('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT');
});

test('content notices: agents beyond the bound get none, and known ones still do', () => {
  const named = (agent: string): Step => ({ run: bare({ trace: agentTrace({ agent, toolCalls: [call({ result: undefined })] }) }) });
  const known = told([
    ...times(2, named('first')),
    ...Array.from({ length: 600 }, (_, at) => named(`agent-${at}`)),
    ...times(3, named('agent-599')),
    named('first'),
  ]);
  expect(known.flat()).toEqual(['first gen_ai tool_results']);
});

test('content notices: agents of one tenant leave room for those of another one', () => {
  const of = (name: string, agent: string): Step => ({
    run: bare({ tenant: tenant(name), trace: agentTrace({ agent, toolCalls: [call({ result: undefined })] }) }),
  });
  const known = told([
    ...Array.from({ length: agentsWatchedMax + 1 }, (_, at) => of('flood', `agent-${at}`)),
    ...times(2, of('flood', 'shop')),
    ...times(3, of('victim', 'shop')),
  ]);
  expect(known.flat()).toEqual(['shop gen_ai tool_results']);
});
