import { expect, test } from 'vitest';
import { changeText } from '../../../../src/console/parts/run/revision-text.ts';

const changes = [
  [{ of: 'completeness', name: null, before: 'partial', after: 'complete' }, 'completeness: partial → complete'],
  [{ of: 'tool_calls', name: 'find', before: 1, after: 2 }, 'calls of find: 1 → 2'],
  [{ of: 'verdict', name: 'tool_error', before: null, after: 'fail' }, 'tool_error: no verdict → fail'],
  [{ of: 'input_tokens', name: null, before: null, after: 7 }, 'input tokens: unknown → 7'],
] as const;
for (const [change, text] of changes) test(text, () => expect(changeText(change)).toBe(text));
