import { expect, test } from 'vitest';
import { alertMessage } from '../../../src/exporters/webhook/alert-message.ts';
import type { AlertNotice } from '../../../src/model/alert.ts';

const notice: AlertNotice = {
  alert: 'tools',
  when: 'tool_error.rate < 0.9 over 1h',
  agent: 'support',
  kind: 'firing',
  sinceMs: 1_700_000_000_000,
  atMs: 1_700_000_060_000,
  figure: 0.5,
  threshold: 0.9,
  explanation: 'tool_error has a rate of 50 %.',
  runsPath: '/runs?agent=support&evaluator=tool_error&verdict=fail&from=2023-11-14T21%3A13%3A20Z',
};
const bodyOf = (of: AlertNotice, body: 'json' | 'slack'): unknown => JSON.parse(alertMessage(of, { body }).body);

test('alert message: JSON for programs has every field, unknown ones as null', () => {
  expect(bodyOf(notice, 'json')).toEqual({
    type: 'tracejury.alert',
    timestamp: '2023-11-14T22:14:20.000000Z',
    data: {
      alert: 'tools',
      state: 'firing',
      when: 'tool_error.rate < 0.9 over 1h',
      agent: 'support',
      since: '2023-11-14T22:13:20.000000Z',
      figure: 0.5,
      threshold: 0.9,
      explanation: 'tool_error has a rate of 50 %.',
      version: null,
      against: null,
    },
  });
});

test('alert message: text for a channel has no markup of a name in it', () => {
  expect(bodyOf({ ...notice, agent: '<!channel> *a*', kind: 'over' }, 'slack')).toEqual({
    text: '*tools* is over for &lt;!channel&gt; \u200b*a\u200b*\ntool\u200b_error has a rate of 50 %.\ntool\u200b_error.rate &lt; 0.9 over 1h',
    unfurl_links: false,
    unfurl_media: false,
  });
});

test('alert message: the same change has the same id, and another change another one', () => {
  const id = (of: AlertNotice): string => alertMessage(of, { body: 'json' }).id;
  expect(id({ ...notice, atMs: notice.atMs + 5, explanation: 'Later.' })).toBe(id(notice));
  const others = [
    { ...notice, kind: 'over' as const },
    { ...notice, agent: 'b' },
    { ...notice, agent: undefined },
    { ...notice, sinceMs: 1 },
    { ...notice, alert: 'b' },
  ];
  expect(new Set([notice, ...others].map(id)).size).toBe(6);
});

test('alert message: with the address of the console it has a link to the runs, and a repeated one has a new id', () => {
  const console = 'https://jury.example.org';
  const json = JSON.parse(alertMessage(notice, { body: 'json', console }).body) as { readonly data: { readonly link: string } };
  expect(json.data.link).toBe(`${console}${notice.runsPath}`);
  const slack = JSON.parse(alertMessage({ ...notice, isRepeated: true }, { body: 'slack', console }).body) as { readonly text: string };
  expect(slack.text).toContain('*tools* still fires for support');
  expect(slack.text).toContain(`<${console}${notice.runsPath.replaceAll('&', '&amp;')}|the runs>`);
  expect(alertMessage({ ...notice, isRepeated: true }, { body: 'json' }).id).not.toBe(alertMessage(notice, { body: 'json' }).id);
});
