/** Error messages and the templates that group them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { messageTemplate, templateMax } from '../../src/model/message-template.ts';

describe('message template', () => {
  test.each([
    ['a message without variables stays', 'EACCES: permission denied', 'EACCES: permission denied'],
    [
      'ids, numbers and times',
      'Order ORD-99211 of user 42 not found at 2026-01-02T10:11:12.333Z',
      'Order <id> of user <n> not found at <time>',
    ],
    ['UUIDs and hexadecimal numbers', 'run 123e4567-e89b-12d3-a456-426614174000 at 0x7ffe12 and 9f86d081884c7d65', 'run <id> at <id>, …'],
    ['the unit of a number stays', 'timeout of 30000ms exceeded after 2.5 s', 'timeout of <n>ms exceeded after <n> s'],
    ['quoted texts', `column "foo" of 'bar' and \`baz\``, 'column "…" of "…", …'],
    ['an apostrophe quotes nothing', "it's the user's fault", "it's the user's fault"],
    ['paths', 'File not found: /home/u/data/file-2.csv (src/app/main.ts:12)', 'File not found: <path> (<path>:<n>)'],
    ['words with a slash are not a path', 'read/write and either/or', 'read/write and either/or'],
    [
      'an address keeps its host and the words of its path',
      'GET https://api.example.com/v1/orders/12345?x=1 failed',
      'GET https://api.example.com/v1/orders/*?* failed',
    ],
    ['hosts and e-mail addresses', 'connect ECONNREFUSED 127.0.0.1:5432 for ann@example.com', 'connect ECONNREFUSED <host> for <email>'],
    ['status codes name the error', 'HTTP 503 Service Unavailable', 'HTTP 503 Service Unavailable'],
    ['codes of databases and processes name the error', 'ORA-00942: exit code 137', 'ORA-00942: exit code 137'],
    ['a list has one placeholder', 'users 42, 43 and 44', 'users <n>, …'],
    [
      'names of modules and encodings keep their digits',
      'psycopg2.errors.Undefined: invalid utf-8',
      'psycopg2.errors.Undefined: invalid utf-8',
    ],
    ['the message of a JSON object', '{"error":{"message":"Order ORD-99211 not found","code":404}}', 'Order <id> not found'],
    [
      'the last line of a traceback',
      'Traceback (most recent call last):\n  File "/app/x.py", line 12, in run\n    foo()\nValueError: bad value',
      'ValueError: bad value',
    ],
    ['the first line of other texts', 'It failed\n    at run (/app/x.js:1:2)', 'It failed'],
    ['a blank text', ' \n ', ''],
  ])('%s', (_, message, template) => {
    expect(messageTemplate(message)).toBe(template);
  });

  test('it is one short well-formed line, and its own template', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (message) => {
        const template = messageTemplate(message);
        expect(template.length).toBeLessThanOrEqual(templateMax);
        expect(template).not.toMatch(/[\n\r]/);
      }),
    );
  });

  test('texts that other numbers and ids fill have the same template', () => {
    const words = fc.constantFrom('order', 'user', 'failed', 'not found', 'because of', 'table');
    const variable = fc.oneof(
      fc.integer({ min: 0, max: 1_000_000 }).map(String),
      fc.uuid(),
      fc.integer({ min: 100_000, max: 999_999 }).map((id) => `ORD-${id}`),
    );
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 5 }), variable, variable, (parts, one, other) => {
        const shape = (value: string): string => messageTemplate(parts.join(` ${value} `)).replaceAll(/<(?:n|id)>/g, '<v>');
        expect(shape(one)).toBe(shape(other));
      }),
    );
  });
});
