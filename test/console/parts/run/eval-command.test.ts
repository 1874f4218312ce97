import { expect, test } from 'vitest';
import { evalCommand } from '../../../../src/console/parts/run/eval-command.ts';

test('the address is in quotes that a shell does not read', () => {
  expect(evalCommand("http://x/?a='$(b)&c")).toBe("curl -sf 'http://x/?a='\\''$(b)&c' | tracejury eval -");
});
