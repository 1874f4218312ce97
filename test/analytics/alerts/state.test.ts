import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AlertFinding } from '../../../src/analytics/alerts/finding.ts';
import { alertStateText, type AlertState, nextAlertState, parsedAlertState, untoldMax } from '../../../src/analytics/alerts/state.ts';

const finding = (kind: AlertFinding['kind']): AlertFinding =>
  kind === 'no_data'
    ? { kind, threshold: 0.9, runs: 3, explanation: 'Too few.' }
    : { kind, figure: kind === 'clear' ? 0.95 : 0.5, threshold: 0.9, runs: 100, explanation: 'So it is.' };

/** One look a minute; the alert is over after five minutes. */
function after(
  kinds: readonly AlertFinding['kind'][],
  to: readonly string[] = ['hook'],
): { readonly state: AlertState; readonly told: readonly string[] } {
  let state: AlertState | undefined;
  const told: string[] = [];
  for (const [minute, kind] of kinds.entries()) {
    state = nextAlertState(state, finding(kind), { nowMs: minute * 60_000, clearMs: 300_000, to });
    for (const message of state.untold) told.push(`${message.kind} at ${minute}`);
    state = { ...state, untold: [] };
  }
  if (state === undefined) throw new Error('nothing was looked at');
  return { state, told };
}

const [holds, open, clear, none] = ['holds', 'open', 'clear', 'no_data'] as const;
const cases = [
  { name: 'there is no message while all is well', kinds: [clear, clear], state: 'ok', told: [] },
  { name: 'there is one message that it fires', kinds: [clear, holds, holds, holds], state: 'firing', told: ['firing at 1'] },
  { name: 'no data is its own state', kinds: [none, none], state: 'no_data', told: [] },
  { name: 'no data after all was well fires nothing', kinds: [clear, none], state: 'no_data', told: [] },
  {
    name: 'it is over once the condition has not held for the time given',
    kinds: [holds, clear, clear, clear, clear, clear, clear, clear],
    state: 'ok',
    told: ['firing at 0', 'over at 6'],
  },
  {
    name: 'a figure that goes to and fro is one alert',
    kinds: [holds, clear, clear, holds, clear, clear, holds],
    state: 'firing',
    told: ['firing at 0'],
  },
  { name: 'a figure that may be chance begins nothing', kinds: [open, open, clear, open], state: 'ok', told: [] },
  {
    name: 'a figure that may be chance ends nothing',
    kinds: [holds, open, open, open, open, open, open, open, clear, open],
    state: 'firing',
    told: ['firing at 0'],
  },
  {
    name: 'no data while it fires ends nothing',
    kinds: [holds, none, none, none, none, none, none, none],
    state: 'no_data',
    told: ['firing at 0'],
  },
  {
    name: 'when data come again it fires on, and sends no second message',
    kinds: [holds, none, holds],
    state: 'firing',
    told: ['firing at 0'],
  },
  {
    name: 'it fires anew after it was over',
    kinds: [holds, clear, clear, clear, clear, clear, clear, holds],
    state: 'firing',
    told: ['firing at 0', 'over at 6', 'firing at 7'],
  },
] as const;
for (const { name, kinds, state, told } of cases) {
  test(`alert state: ${name}`, () => {
    const ended = after(kinds);
    expect(ended.state.state).toBe(state);
    expect(ended.told).toEqual(told);
  });
}

test('alert state: without a receiver there is no message', () => expect(after([holds, clear], []).told).toEqual([]));

test('alert state: messages without a taker are bounded, and the latest stay', () => {
  let state: AlertState | undefined;
  for (let at = 0; at < 50; at++)
    state = nextAlertState(state, finding(at % 2 === 0 ? 'holds' : 'clear'), { nowMs: at, clearMs: 0, to: ['hook'] });
  expect(state?.untold).toHaveLength(untoldMax);
  expect(state?.untold.at(-1)).toMatchObject({ kind: 'over', atMs: 49 });
});

test('alert state: every firing is followed by one over at most, after any findings', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom<AlertFinding['kind'][]>('holds', 'clear', 'no_data'), { minLength: 1, maxLength: 60 }),
      (kinds) => {
        const words = after(kinds).told.map((one) => one.split(' ')[0]);
        expect(words).toEqual(words.map((_, at) => (at % 2 === 0 ? 'firing' : 'over')));
      },
    ),
  );
});

test('alert state: is read back as written, and a text of another form is none', () => {
  const { state } = after([holds, clear]);
  expect(parsedAlertState(alertStateText(state))).toEqual(state);
  for (const text of ['', '{}', '[]', '{"state":"ok"}']) expect(parsedAlertState(text)).toBeUndefined();
});
