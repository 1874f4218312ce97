import { expect, test } from 'vitest';
import { issueTitle } from '../../src/analytics/issue-figures.ts';

const titles: readonly { readonly tool?: string; readonly signature: string; readonly title: string }[] = [
  { tool: 'refund', signature: '/amount must be number', title: 'refund: /amount must be number' },
  { tool: 'refund', signature: 'denied', title: 'refund: denied' },
  { tool: 'refund', signature: 'fail', title: 'refund: courtesy fails' },
  { signature: 'rude', title: 'courtesy: rude' },
  { signature: 'fail', title: 'courtesy fails' },
  { signature: '', title: 'courtesy fails' },
  { signature: 'the run ended in an error: ENOENT', title: 'the run ended in an error: ENOENT' },
];

test.each(titles)('issues: the title of $signature is $title', ({ tool = '', signature, title }) => {
  expect(issueTitle({ tool, signature, name: 'courtesy' })).toBe(title);
});
