import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/cli/command.ts';
import { matchesRun, parseRunFilter, parseTime } from '../../src/cli/run-filter.ts';
import { conditionsOfQuery, queryOfConditions, runConditionNames } from '../../src/model/store/run-filter.ts';
import { conditionParameters } from '../../src/web/api/route.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { run } from '../builders/scored-run.ts';

const id = '4bf92f3577b34da6a3ce929d0e0e4736';

test.each([
  { where: 'agent=support', want: { agent: 'support' } },
  {
    where: 'agent=support evaluator=tool_error verdict=fail version=1.2 session=s-1 user=u-1 environment=production',
    want: {
      agent: 'support',
      evaluator: 'tool_error',
      verdict: 'fail',
      version: '1.2',
      sessionId: 's-1',
      userId: 'u-1',
      environment: 'production',
    },
  },
  { where: `trace=${id} tenant=acme service=web annotated=yes`, want: { traceId: id, tenant: 'acme', service: 'web', annotated: true } },
  { where: 'agent="travel \\"agent\\""  service=\'a b\'', want: { agent: 'travel "agent"', service: 'a b' } },
  { where: ' agent = support ', want: { agent: 'support' } },
  { where: 'tenant="" annotated=no', want: { tenant: '', annotated: false } },
  { where: 'tool=find_order label=quality=good', want: { tool: 'find_order', label: 'quality=good' } },
  { where: 'min_duration=1.5 max_duration=2m', want: { minDuration: 1_500_000, maxDuration: 120_000_000 } },
  { where: 'text="late order"', want: { text: 'late order' } },
  { where: 'min_cost=0 max_cost=0.25', want: { minCost: 0, maxCost: 0.25 } },
  { where: 'status=paused agent=a', want: { status: 'paused', agent: 'a' } },
  { where: 'issue=25d139890769', want: { issue: '25d139890769' } },
  { where: 'model=m-1 prompt=815fa947e715', want: { model: 'm-1', prompt: '815fa947e715' } },
  { where: 'version=a=b', want: { version: 'a=b' } },
  { where: '', want: {} },
])('run filter: reads $where', ({ where, want }) => {
  expect(parseRunFilter([where])).toEqual(want);
});

test('run filter: several filters apply together', () => {
  expect(parseRunFilter(['agent=a', 'verdict=fail'])).toEqual({ agent: 'a', verdict: 'fail' });
});

test.each([
  { where: 'agnet=a', says: '--where: agnet is not a key. Did you mean agent? Keys are agent, version, model,' },
  { where: 'colour=red', says: '--where: colour is not a key. Keys are agent,' },
  { where: 'verdict=fial', says: 'verdict="fial" is wrong: verdict takes one of pass, fail, raw, skipped, error. Did you mean fail?' },
  { where: 'status=errors', says: 'status="errors" is wrong: status takes one of ok, error, paused. Did you mean error?' },
  { where: 'trace=12', says: 'trace="12" is wrong: trace takes a trace id of 32 hexadecimal digits.' },
  { where: 'annotated=maybe', says: 'annotated takes yes or no' },
  { where: 'min_duration=long', says: 'min_duration takes a number of seconds, or a duration such as 30s.' },
  { where: 'max_cost=-1', says: 'max_cost takes a number of US dollars.' },
  { where: 'issue=25D1', says: 'issue takes the id of an issue, 12 hexadecimal digits.' },
  { where: 'text=!!', says: 'text takes words of the input or the final answer.' },
  { where: 'agent=a agent=b', says: 'agent is given twice' },
  { where: 'agent!=a', says: 'compares with a sign other than =. Conditions are KEY=VALUE, as in agent=support verdict=fail.' },
  { where: 'support', says: '"support" is not a condition. Conditions are KEY=VALUE' },
  { where: 'agent="a', says: '"agent=\\"a" is not a condition' },
  { where: 'agent=""', says: 'agent="" is wrong: agent takes the name of an agent.' },
  { where: 'x'.repeat(4_001), says: 'at most 4000 characters' },
])('run filter: refuses $where', ({ where, says }) => {
  expect(() => parseRunFilter([where])).toThrow(UsageError);
  expect(() => parseRunFilter([where])).toThrow(says);
});

test('run filter: any value in quotes is read back, and any text is answered with a filter or a usage error', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40 }), (value) => {
      expect(parseRunFilter([`agent="${value.replace(/[\\"]/g, '\\$&')}"`])).toEqual({ agent: value });
    }),
  );
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      try {
        expect(Object.keys(parseRunFilter([text])).length).toBeLessThanOrEqual(runConditionNames.length);
      } catch (error) {
        expect(error).toBeInstanceOf(UsageError);
      }
    }),
  );
});

test.each(runConditionNames)('run filter: the API reads the %s that the command line asks for', (name) => {
  const texts = ['yes', '2.5', id, '25d139890769', 'fail', 'ok', 'some words'];
  const filters = texts.flatMap((text) => {
    try {
      return [parseRunFilter([`${name}="${text}"`])];
    } catch {
      return [];
    }
  });
  expect(filters).not.toEqual([]);
  for (const filter of filters) {
    const query = queryOfConditions(filter);
    expect(Object.keys(query)).toEqual([name]);
    // Fastify makes numbers of the parameters whose schema has numbers.
    const isNumber = conditionParameters[name]['type'] === 'number';
    expect(conditionsOfQuery(isNumber ? { [name]: Number(query[name]) } : query)).toEqual(filter);
  }
});

const nowMs = Date.parse('2026-11-26T12:00:00Z');

test.each([
  { text: '24h', want: '2026-11-25T12:00:00Z' },
  { text: '30m', want: '2026-11-26T11:30:00Z' },
  { text: '2026-11-01', want: '2026-11-01T00:00:00Z' },
  { text: '2026-11-01T08:30', want: '2026-11-01T08:30:00Z' },
  { text: '2026-11-01 08:30:15.250', want: '2026-11-01T08:30:15.250Z' },
  { text: '2026-11-01T08:30:00+02:00', want: '2026-11-01T06:30:00Z' },
])('run filter: $text is $want', ({ text, want }) => {
  expect(parseTime(text, 'since', nowMs)).toBe(Date.parse(want) * 1_000);
});

test.each(['yesterday', '24', '2026-13-01', '11/26/2026', ''])('run filter: %s is not a time', (text) => {
  expect(() => parseTime(text, 'since', nowMs)).toThrow(/--since: .* is not a time\. Give how long ago/);
});

describe('run filter: matches runs that are in no store', () => {
  const trace = agentTrace({
    agent: 'a',
    sessionId: 's',
    userId: 'u',
    model: 'm-1',
    systemPrompt: 'Be short.',
    input: 'Where is it?',
    finalResponse: { text: 'On its way' },
    toolCalls: [call({ name: 'find' })],
  });
  const one = run({ serviceVersion: '2', trace, resourceAttributes: { 'deployment.environment.name': 'production' } });
  const verdicts = [
    { name: 'tool_error', verdict: 'fail' as const },
    { name: 'latency', verdict: 'raw' as const },
  ];
  test.each([
    { filter: {}, want: true },
    { filter: { agent: 'a', version: '2', sessionId: 's', service: 'travel' }, want: true },
    { filter: { agent: 'b' }, want: false },
    { filter: { userId: 'u', environment: 'production' }, want: true },
    { filter: { userId: 'other' }, want: false },
    { filter: { environment: 'staging' }, want: false },
    { filter: { model: 'm-1', prompt: '815fa947e715' }, want: true },
    { filter: { model: 'm-2' }, want: false },
    { filter: { prompt: 'ed3f1ad05ddf' }, want: false },
    { filter: { task: 'refund' }, want: false },
    { filter: { evaluator: 'tool_error', verdict: 'fail' as const }, want: true },
    { filter: { evaluator: 'tool_error', verdict: 'raw' as const }, want: false },
    { filter: { verdict: 'raw' as const }, want: true },
    { filter: { annotated: true }, want: false },
    { filter: { from: 1_700_000_000_000_000, to: 1_700_000_000_000_001 }, want: true },
    { filter: { to: 1_700_000_000_000_000 }, want: false },
    { filter: { tool: 'find', minDuration: 1_123_456, maxDuration: 1_123_456 }, want: true },
    { filter: { text: 'where way' }, want: true },
    { filter: { text: 'here' }, want: false },
    { filter: { tool: 'book' }, want: false },
    { filter: { minDuration: 1_123_457 }, want: false },
    { filter: { maxDuration: 1_123_455 }, want: false },
    { filter: { label: 'good' }, want: false },
    { filter: { issue: '25d139890769' }, want: false },
    { filter: { minCost: 0 }, want: false },
    { filter: { status: 'ok' as const }, want: true },
    { filter: { status: 'error' as const }, want: false },
  ])('$filter: $want', ({ filter, want }) => {
    expect(matchesRun(one, verdicts, filter)).toBe(want);
  });
});
