/** Rules from a model are entries that the configuration takes, and that the runs of the model pass. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import { processRules, rulesText } from '../../src/analytics/process-rules.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/config.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { ProcessModel } from '../../src/model/process-model.ts';
import { manualClock } from '../../src/model/clock.ts';
import { evaluateRun } from '../../src/pipeline/evaluation/evaluate.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { processOf, runOf } from '../builders/process-runs.ts';
import { run } from '../builders/scored-run.ts';
import { validators } from '../builders/validators.ts';

const of = { agent: 'support', version: '1.0' };

function configOf(model: ProcessModel, about = of): Config {
  return loadConfig({ validators, file: 'rules.yaml', text: rulesText(processRules(model, about)), env: {}, evaluators }).config;
}

const learntRules: readonly string[] = ['tool_permission', 'tool_trajectory', 'tool_call_order'];

/** Names of the learnt entries that fail the run. */
function failing(config: Config, trace: AgentTrace, serviceVersion = '1.0'): readonly string[] {
  const { evaluations } = evaluateRun(run({ trace, serviceVersion }), config.evaluators, {
    context: evaluationContext(),
    clock: manualClock(),
    telemetry: noTelemetry,
  });
  return evaluations.flatMap(({ key, evaluator, verdict }) =>
    learntRules.includes(evaluator) && verdict.kind === 'scored' && verdict.passed === false ? [key.name] : [],
  );
}

const model = processOf([
  [runOf(['verify', 'lookup', 'refund', 'mail']), 60],
  [runOf(['verify', 'lookup', 'ticket', 'mail']), 40],
]);

test('the text gives the reason, and a person can read it', () => {
  expect(rulesText(processRules(model, of))).toBe(`# Learnt from passing runs; read each rule before you adopt it.
evaluators:
  - defaults
  # 100 runs called no other tool.
  - use: "tool_permission"
    name: "support_known_tools"
    when: {"agent":"support","version":"1.0"}
    options: {"allow":["lookup","mail","refund","ticket","verify"]}
  # Each of these tools was called in 100 of 100 runs or more.
  - use: "tool_trajectory"
    name: "support_needed_tools"
    when: {"agent":"support","version":"1.0"}
    expect: {"tool_calls":[{"name":"lookup"},{"name":"mail"},{"name":"verify"}]}
    options: {"mode":"superset","arguments":{"mode":"ignore"}}
    threshold: 1
  # verify came before lookup in 100 runs, and never after it.
  - use: "tool_call_order"
    name: "support_before_lookup"
    when: {"agent":"support","version":"1.0","tool":"lookup"}
    expect: {"tool_calls_order":["verify","lookup"]}
    threshold: 1
  # verify, lookup came before mail in 100 runs, and never after it.
  - use: "tool_call_order"
    name: "support_before_mail"
    when: {"agent":"support","version":"1.0","tool":"mail"}
    expect: {"tool_calls_order":["verify","lookup","mail"]}
    threshold: 1
  # verify, lookup came before refund in 60 runs, and never after it.
  - use: "tool_call_order"
    name: "support_before_refund"
    when: {"agent":"support","version":"1.0","tool":"refund"}
    expect: {"tool_calls_order":["verify","lookup","refund"]}
    threshold: 1
  # verify, lookup came before ticket in 40 runs, and never after it.
  - use: "tool_call_order"
    name: "support_before_ticket"
    when: {"agent":"support","version":"1.0","tool":"ticket"}
    expect: {"tool_calls_order":["verify","lookup","ticket"]}
    threshold: 1
`);
});

const deviations = [
  { name: 'a normal run', steps: ['verify', 'lookup', 'ticket', 'mail'], fails: [] },
  { name: 'an unknown tool', steps: ['verify', 'lookup', 'drop', 'mail'], fails: ['support_known_tools'] },
  {
    name: 'a missing check',
    steps: ['lookup', 'refund', 'mail'],
    fails: ['support_before_lookup', 'support_before_mail', 'support_before_refund', 'support_needed_tools'],
  },
  { name: 'a wrong order', steps: ['verify', 'refund', 'lookup', 'mail'], fails: ['support_before_refund'] },
];

test.each(deviations)('the rules judge $name', ({ steps, fails }) => {
  expect(failing(configOf(model), runOf(steps)).toSorted()).toEqual(fails);
  expect(failing(configOf(model), runOf(steps), '2.0')).toEqual([]);
});

const names = fc.constantFrom('a', 'b', 'c: d', "e'", '*', '', 'ünï', 'x y', '#z');
const someRun = fc.array(fc.oneof(names, fc.array(names, { minLength: 1, maxLength: 2 })), { maxLength: 5 });

test('after any learning, the configuration takes the rules, and the learnt runs pass them', () => {
  fc.assert(
    fc.property(fc.array(someRun, { minLength: 1, maxLength: 4 }), fc.constantFrom('support', '', 'ann "x"\n# y'), (learnt, agent) => {
      const traces = learnt.map((steps) => ({ ...runOf(steps), agent }));
      const config = configOf(processOf(traces.map((trace) => [trace, 1])), { agent, version: '' });
      for (const trace of traces) expect(failing(config, trace)).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('a model that has left something out suggests nothing about it', () => {
  const cut = { ...model, beyond: { tools: 1, transitions: 0, orders: 1 } };
  expect(processRules(cut, of).map(({ entry }) => entry['use'])).toEqual(['tool_trajectory']);
  expect(rulesText([])).toContain('evaluators: []');
});

test('a large model gives rules that the configuration takes', () => {
  const wide = processOf([[runOf(Array.from({ length: 40 }, (_, at) => `tool ${at} ${'x'.repeat(100)}`)), 1]]);
  expect(configOf(wide).evaluators.length).toBeGreaterThan(3);
});
