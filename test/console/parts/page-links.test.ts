import { expect, test } from 'vitest';
import { agentAddress, agentOf, runsAddress } from '../../../src/console/parts/page-links.ts';
import { pageOf } from '../../../src/console/parts/page-path.ts';

test('page links: the list of runs keeps the time range and nothing else of the page', () => {
  expect(runsAddress({ range: '7d', evaluator: 'x', by: 'version' }, { agent: 'a b', verdict: 'fail', tool: undefined })).toBe(
    '/runs?range=7d&agent=a+b&verdict=fail',
  );
});

test.for(['support', '-', '..', '.', 'a/b?c#d', ' ', '%2e', '<b>ü</b>'])('page links: the page of the agent %j is found again', (agent) => {
  const { pathname, searchParams } = new URL(agentAddress(agent, { version: '1' }), 'http://127.0.0.1');
  const found = pageOf([{ path: '/agents/:agent' }], pathname);
  expect(agentOf(found?.params ?? {}, Object.fromEntries(searchParams))).toBe(agent);
  expect(searchParams.get('version')).toBe('1');
});

test('page links: a lone surrogate makes no broken address', () => {
  expect(agentAddress('a\ud800')).toBe('/agents/a%EF%BF%BD');
});
