import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { members } from '../members.ts';
import { validators } from '../../builders/validators.ts';

test.each([
  { text: '', is: { newAfter: { runs: 3, withinMs: 3_600_000 }, to: [] } },
  { text: 'issues: { new_after: { runs: 10 } }', is: { newAfter: { runs: 10, withinMs: 3_600_000 }, to: [] } },
  { text: 'issues: { new_after: { within: 15m } }', is: { newAfter: { runs: 3, withinMs: 900_000 }, to: [] } },
])('issues of a configuration: $text', ({ text, is }) => {
  expect(loadConfig({ file: 'a.yaml', text, env: {}, evaluators: members, validators }).config.issues).toEqual(is);
});
